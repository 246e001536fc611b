"""The state of a run on disk: written in one step, checked when read, and of no use to another run.

A safetensors file like a model's: arrays, and JSON with a checksum over both. What a run was started with (options and
data) is part of it, and must be the same when it goes on.
"""

from __future__ import annotations

import errno
import json
import os
from typing import Any

import numpy as np

from rosenblatt.errors import CheckpointError, ModelFileError
from rosenblatt.model_checks import REMEDY, Tensors
from rosenblatt.model_file import canonical, digest, read_tensors, write_atomically

_FORMAT = "checkpoint 2"
_PROBE = 1 << 16  # bytes
_LOOK = 1 << 12


class Checkpoint:
    """A file that holds the state of a run, or will."""

    def __init__(self, path: str, started_with: dict[str, Any]) -> None:
        self.path, self.started_with = path, json.loads(json.dumps(started_with))
        self._temporary = f"{os.path.realpath(path)}.tmp"

    def probe(self) -> None:
        """Find out before a long run whether the file can be written."""
        if os.path.exists(self._temporary) and not self._is_left_over():
            raise self._unusable(f"{self._temporary}, which it is written to first, is another file")
        self.save({"probe": True}, {"room": np.zeros(_PROBE, np.uint8)})
        os.unlink(self.path)

    def save(self, state: dict[str, Any], arrays: Tensors) -> None:
        """Write the state; a crash or a full disk leaves the old one."""
        from safetensors.numpy import save

        about = {"format": _FORMAT, "started_with": self.started_with, "state": state}
        tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        text = canonical(about | {"sha256": digest(about, tensors)})
        try:
            write_atomically(self.path, save(tensors, {"rosenblatt": text}), temporary=self._temporary)
        except OSError as error:
            why = f"the checkpoint cannot be written: {error.strerror}"
            raise OSError(error.errno, why, self.path) from None

    def load(self) -> tuple[dict[str, Any], Tensors] | None:
        """The state that was saved, if it is of this run; None if there is none."""
        if not self.exists():
            return None
        if os.path.isdir(self.path):
            why = "the checkpoint cannot be written: this is a directory; name a file in it"
            raise IsADirectoryError(errno.EISDIR, why, self.path)
        try:
            text, tensors = read_tensors(self.path)
            about = json.loads(text)
            checksum = about.pop("sha256", None) if isinstance(about, dict) else None
        except (ModelFileError, ValueError) as error:
            if not str(error).endswith(REMEDY):
                raise self._unusable("it is not a checkpoint") from None
            raise self._unusable(str(error).removesuffix(REMEDY)) from None
        if not isinstance(about, dict) or about.get("format") != _FORMAT:
            raise self._unusable("it is not a checkpoint of this version")
        if digest(about, tensors) != checksum:
            raise self._unusable("its contents do not have the checksum that it states")
        if about["state"] == {"probe": True}:
            return None
        self._require_same(about["started_with"])
        return about["state"], tensors

    def exists(self) -> bool:
        """Whether a state was saved."""
        return os.path.exists(self.path)

    def remove(self) -> None:
        """The run is over."""
        if self.exists():
            os.unlink(self.path)
        if self._is_left_over():
            os.unlink(self._temporary)

    def _is_left_over(self) -> bool:
        """Whether a process that was killed has left the beginning of a checkpoint."""
        try:
            with open(self._temporary, "rb") as file:
                first = file.read(_LOOK)
        except OSError:
            return False
        return not first or b'"rosenblatt"' in first

    def _unusable(self, why: str) -> CheckpointError:
        return CheckpointError(
            f"{self.path} cannot be gone on from: {why}. Name another file, or delete it to begin anew"
        )

    def _require_same(self, before: dict[str, Any]) -> None:
        if before == self.started_with:
            return
        differing = [_difference(name, before.get(name), now) for name, now in self.started_with.items()]
        names = ", ".join(filter(None, differing)) or "the version"
        raise CheckpointError(
            f"{self.path} is of a run with other {names}. Give the same data and options to go on with that run, "
            "or delete the checkpoint to begin anew"
        )


def _difference(name: str, before: Any, now: Any) -> str:
    """What differs, nothing if nothing does; of options, which of them."""
    if before == now or not (isinstance(before, dict) and isinstance(now, dict)):
        return "" if before == now else name
    return f"{name} ({', '.join(sorted(key for key in now if before.get(key) != now[key]))})"
