"""What a run keeps on disk: rows for later passes, rows held out, and its own state; and how it finds them again.

Named by the caller, a cache stays and is used again for the same files; beside a checkpoint it lives as long as that;
otherwise it is a temporary file. A single pass needs none of them, so what they need is loaded only with the first.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import rosenblatt
from rosenblatt.errors import InputError
from rosenblatt.runs.row_sources import CachedSource, FileSource, MemorySource
from rosenblatt.runs.run import Run
from rosenblatt.runs.tally import Tally

if TYPE_CHECKING:
    from rosenblatt.runs.checkpoints import Checkpoint

_EVERY = 1 << 20  # rows


class RunFiles:
    """The files of a run."""

    def __init__(
        self, run: Run, *, cache: str | None, checkpoint: str | None, every: int | None, folder: str | None
    ) -> None:
        self.run, self.folder, self.every = run, folder, every or _EVERY
        self.named = cache
        beside = None if checkpoint is None else f"{checkpoint}.cache"
        self.cache_path = cache or beside
        self.held_path = None if self.cache_path is None else f"{self.cache_path}.held-out"
        self.checkpoint = None if checkpoint is None else self._kept_at(checkpoint)
        self._rows = 0

    def _kept_at(self, path: str) -> Checkpoint:
        from rosenblatt.runs.checkpoints import Checkpoint

        source = self.run.source
        if isinstance(source, FileSource) and source.fingerprint() is None:
            raise InputError(
                "a run on standard input or a pipe cannot go on where it was killed, because its rows cannot be read "
                "again: save them to a file first, or leave checkpoint= (--checkpoint) out"
            )
        return Checkpoint(path, self._started_with())

    def _started_with(self) -> dict[str, Any]:
        """What a run is started with, by which it is known again."""
        reading = self.run.source.reading
        return {
            "library": rosenblatt.__version__,
            "data": self.run.source.fingerprint(),
            "reading options": None if reading is None else reading.to_plain(),
            "options": self.run.options.to_plain(),
            "cache": self.named,
        }

    def _made_from(self) -> dict[str, Any]:
        """What the rows of a cache depend on."""
        started, options = self._started_with(), self.run.options
        held_out = [options.hold_out, options.seed] if options.hold_out else None
        return {"data": started["data"], "reading options": started["reading options"], "held out": held_out}

    # The beginning --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Go on with a run that a checkpoint tells of, or begin one."""
        run, source = self.run, self.run.source
        if self.checkpoint is not None and isinstance(source, MemorySource):
            source.keep_digest()
        kept = None if self.checkpoint is None else self.checkpoint.load()
        if kept is None or kept[0]["counted"]:
            self._open_named()
        if kept is not None:
            from rosenblatt.runs.state import restore

            restore(run, *kept, (self.cache_path, self.held_path))
            return
        if self.checkpoint is not None:
            self.checkpoint.probe()
        wants_cache = run.cache is None and (run.options.needs_cache or self.named is not None)
        wants_held = run.held is None and bool(run.options.hold_out)
        if wants_cache or wants_held:
            from rosenblatt.runs.row_cache import RowCache

            run.cache = RowCache(self.cache_path, folder=self.folder) if wants_cache else run.cache
            run.held = RowCache(self.held_path, folder=self.folder) if wants_held else run.held

    def _open_named(self) -> None:
        """Use the rows of an earlier run on the same files, if they are there."""
        if self.named is None:
            return
        from rosenblatt.runs.row_cache import RowCache

        assert self.held_path is not None
        run, source = self.run, self.run.source
        found = RowCache.reopen(self.named)  # also if it cannot be used: it must not be another file
        held = RowCache.reopen(self.held_path) if run.options.hold_out else None
        same = isinstance(source, FileSource) and source.fingerprint() is not None
        same = same and found is not None and found[1]["made from"] == self._made_from()
        if not same or bool(run.options.hold_out) != (held is not None):
            for unused in (found, held):
                if unused is not None:
                    unused[0].close()
            return
        assert isinstance(source, FileSource) and found is not None
        run.cache, run.held, run.counted = found[0], None if held is None else held[0], True
        run.source = CachedSource(source, found[0], found[1]["known"])
        run.tally = Tally(**found[1]["tally"])

    # On the way -----------------------------------------------------------------------------------------------------

    def after_batch(self, rows: int) -> None:
        """Some rows more were learned from."""
        self._rows += rows
        if self.checkpoint is not None and self._rows >= self.every:
            self.save()

    def save(self) -> None:
        """Write a checkpoint, if there is to be one, and if the run is between two batches."""
        self._rows = 0
        if self.checkpoint is not None and self.run.whole:
            from rosenblatt.runs.state import state_of

            self.checkpoint.save(*state_of(self.run))

    # The end --------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """The run is over: a cache that has a name is completed, the checkpoint is not needed any more."""
        run = self.run
        if self.named is not None and not run.counted:
            about = {"made from": self._made_from(), "known": run.source.known(), "tally": asdict(run.tally)}
            for cache in (run.held, run.cache):
                if cache is not None:
                    cache.finish(about)
        self._finished = True

    _finished = False

    def close(self) -> None:
        """Let go of the files, and remove those that nobody needs."""
        if self._finished and self.checkpoint is not None:
            self.checkpoint.remove()
        needless = self.named is None and (self._finished or self.checkpoint is None or not self.checkpoint.exists())
        for cache in (self.run.cache, self.run.held):
            if cache is not None:  # an empty one is false
                cache.close(needless=needless)
        for path in (self.cache_path, self.held_path):
            if needless and path is not None and os.path.exists(path):
                from rosenblatt.runs.row_cache import remove_left_over

                remove_left_over(path)
