"""Load numpy as a command needs it that only streams rows."""

from __future__ import annotations

import importlib
import os

_THREADS = "OPENBLAS_NUM_THREADS"


def numpy_without_threads() -> None:
    """Load numpy so that its linear algebra, which no stream uses, starts no threads: they wait by spinning.

    Started with a core each, they take 0.1 s from the threads that parse the file meanwhile.
    """
    told = _THREADS in os.environ
    os.environ.setdefault(_THREADS, "1")
    try:
        importlib.import_module("numpy")
    finally:
        if not told:
            del os.environ[_THREADS]
