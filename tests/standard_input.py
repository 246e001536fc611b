"""Standard input for a test, without a process of its own."""

import contextlib
import os
import threading


@contextlib.contextmanager
def from_pipe(data):
    """Have these bytes come through a pipe."""
    reader, writer = os.pipe()

    def write():
        with open(writer, "wb") as file, contextlib.suppress(BrokenPipeError):
            file.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    with open(reader, "rb") as file, from_file(file):
        yield
    thread.join()


@contextlib.contextmanager
def from_file(file):
    """Have standard input redirected to an open file."""
    kept = os.dup(0)
    try:
        os.dup2(file.fileno(), 0)
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
