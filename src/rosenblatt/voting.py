"""The vote of all weight vectors of a run (note 002), kept as its mistakes and not as a vector for each of them.

The k-th vector is the first guess plus the first k mistaken rows times their steps. So a run is kept as (row, step,
visit) of every mistake, with each distinct row of a fit stored once, and the scores of a point under all vectors are
running sums of its products with those rows. Memory: the distinct mistaken rows, and 28 bytes a mistake
(about twice that while a run hands its log over).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows

_FIELDS = {"row": np.int32, "visit": np.int64, "step": np.float64, "up": np.int32, "down": np.int32}
_PRODUCTS = 1 << 22  # numbers in a block of products: 32 MB
_ADDITIONS = 1 << 26  # additions of a block: some hundredths of a second


class Takes(Protocol):
    """Rows of which some can be taken."""

    def take(self, ids: IntArray) -> Any:
        """Copies of some rows, dense or sparse."""
        ...


class Places:
    """Where the rows of one run are kept among the support rows: each once, however often it is mistaken."""

    def __init__(self) -> None:
        self._ids: IntArray = np.empty(0, np.int64)
        self._places: IntArray = np.empty(0, np.int64)

    def add(self, ids: IntArray, first_free: int) -> IntArray:
        """Give the ids that have no place yet the next free ones, in order, and return them."""
        new = np.setdiff1d(ids, self._ids)
        all_ids = np.concatenate([self._ids, new])
        order = np.argsort(all_ids)
        self._places = np.concatenate([self._places, first_free + np.arange(len(new))])[order]
        self._ids = all_ids[order]
        return new

    def of(self, ids: IntArray) -> NDArray[np.int32]:
        """The places of ids that were added before."""
        return self._places[np.searchsorted(self._ids, ids)].astype(np.int32)

    def sort(self) -> IntArray:
        """Give the rows places in the order of their ids; the places that they had."""
        before = self._places
        self._places = np.arange(len(before))
        return before

    def to_arrays(self) -> dict[str, IntArray]:
        """For a checkpoint."""
        return {"ids": self._ids, "places": self._places}

    def from_arrays(self, arrays: dict[str, IntArray]) -> None:
        """The reverse of `to_arrays`."""
        self._ids, self._places = arrays["ids"], arrays["places"]


class Votes:
    """The mistakes of one or more problems, in sequence, and the rows they were made on."""

    def __init__(self, n_problems: int) -> None:
        self._support: list[Any] = []  # blocks of distinct mistaken rows, dense or CSR
        self._logs: list[list[dict[str, NDArray[Any]]]] = [[] for _ in range(n_problems)]
        self._n_support = 0

    def extend(self, rows: Takes, logs: list[dict[str, NDArray[Any]]], places: Places) -> None:
        """Add the mistakes of a run over `rows`, a log for each problem as the engine keeps it.

        `places` remembers where rows of the same run are kept already.
        """
        ids = np.unique(np.concatenate([log["row"] for log in logs]))
        new = places.add(ids, self._n_support)
        if len(new):
            self._support.append(self._like_the_first(rows.take(new)))
            self._n_support += len(new)
        for kept, log in zip(self._logs, logs, strict=True):
            if len(log["row"]):
                columns = {name: np.asarray(log[name], dtype) for name, dtype in _FIELDS.items()}
                kept.append(columns | {"row": places.of(log["row"])})

    def _like_the_first(self, block: Any) -> Any:
        if not self._support or hasattr(self._support[0], "tocsr") == hasattr(block, "tocsr"):
            return block
        return block.toarray() if hasattr(block, "tocsr") else type(self._support[0])(block)

    def log(self, problem: int) -> dict[str, NDArray[Any]]:
        """The mistakes of one problem: support row, visit, step, and the classes moved up and down."""
        blocks = self._logs[problem]
        if len(blocks) != 1:
            whole = {name: np.concatenate([b[name] for b in blocks] or [np.empty(0, t)]) for name, t in _FIELDS.items()}
            self._logs[problem] = [whole]
        return self._logs[problem][0]

    def support(self) -> Any:
        """The distinct mistaken rows, dense or CSR; None if there are none."""
        if len(self._support) > 1:
            if hasattr(self._support[0], "tocsr"):
                from scipy.sparse import vstack

                self._support = [vstack(self._support, format="csr")]
            else:
                self._support = [np.concatenate(self._support)]
        return self._support[0] if self._support else None

    def truncate(self, lengths: list[int]) -> None:
        """Forget all but the first mistakes of each problem, and the rows that only the others were made on."""
        logs = [{name: column[:length] for name, column in self.log(k).items()} for k, length in enumerate(lengths)]
        used = np.unique(np.concatenate([log["row"] for log in logs]))
        self._logs = [[log | {"row": np.searchsorted(used, log["row"]).astype(np.int32)}] for log in logs]
        support = self.support()
        self._support = [support[used]] if len(used) else []
        self._n_support = len(used)

    def sort_support(self, places: Places) -> None:
        """Bring the support rows into the order of their ids, as if they had all been added at once."""
        support, before = self.support(), places.sort()
        if support is None:
            return
        now = np.empty(len(before), np.int32)
        now[before] = np.arange(len(before), dtype=np.int32)
        self._support = [support[before]]
        for problem in range(len(self._logs)):
            log = self.log(problem)
            self._logs[problem] = [log | {"row": now[log["row"]]}]

    def lengths(self) -> list[int]:
        """How many mistakes each problem has made."""
        return [sum(len(block["row"]) for block in blocks) for blocks in self._logs]

    def survival(self, problem: int, visits: int) -> IntArray:
        """For the first guess and for the vector after each mistake: after how many visits it was current."""
        return np.diff(np.concatenate([[1], self.log(problem)["visit"], [visits + 1]])).astype(np.int64)

    # As plain arrays, for a model file ------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays with names."""
        logs = [self.log(problem) for problem in range(len(self._logs))]
        arrays = {f"mistake_{name}": np.concatenate([log[name] for log in logs]) for name in _FIELDS}
        arrays["mistakes_of_problem"] = np.asarray(self.lengths(), np.int64)
        support = self.support()
        if support is None:
            return arrays
        if hasattr(support, "tocsr"):
            parts = {"values": support.data, "columns": support.indices, "starts": support.indptr}
            return arrays | {f"support_{name}": part for name, part in parts.items()}
        return arrays | {"support": support}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], n_features: int) -> Votes:
        """The reverse of `to_arrays`. Whoever reads a file checks the arrays first (model_file.py)."""
        lengths = arrays["mistakes_of_problem"]
        votes = cls(len(lengths))
        ends = np.cumsum(lengths)
        for problem, (end, length) in enumerate(zip(ends, lengths, strict=True)):
            votes._logs[problem] = [{name: arrays[f"mistake_{name}"][end - length : end] for name in _FIELDS}]
        if "support" in arrays:
            votes._support = [arrays["support"]]
        elif "support_starts" in arrays:
            from scipy.sparse import csr_array

            parts = tuple(arrays[f"support_{name}"] for name in ("values", "columns", "starts"))
            votes._support = [csr_array(parts, shape=(len(parts[2]) - 1, n_features))]
        votes._n_support = votes._support[0].shape[0] if votes._support else 0
        return votes

    # Voting ---------------------------------------------------------------------------------------------------------

    def products(self, rows: Rows, fit_intercept: bool) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of products of support rows and points, a row for each support row; with an intercept, plus one."""
        support = self.support()
        if support is not None and not hasattr(support, "tocsr"):
            support = support.astype(np.float64)
        # Blocks of bounded memory, and of bounded time: between two of them Ctrl-C is heard.
        most = min(_PRODUCTS // max(1, self._n_support), _ADDITIONS // max(1, sum(self.lengths())))
        first, step = 0, max(1, min(64, most))  # a small block first, for those who may stop there
        while first < len(rows):
            block = slice(first, min(first + step, len(rows)))
            first, step = block.stop, max(1, min(8 * step, most))
            if support is None:
                yield block, np.empty((0, block.stop - block.start))
                continue
            product = support @ rows.block(block).astype(np.float64, copy=False).T
            product = np.ascontiguousarray(product.toarray() if hasattr(product, "toarray") else product)
            yield block, product + 1.0 if fit_intercept else product

    def binary(
        self, problem: int, visits: int, products: FloatArray, first_scores: FloatArray, tie: _engine.Tie
    ) -> IntArray:
        """The votes for +1 less those for −1, for each point of a block."""
        log, votes = self.log(problem), np.zeros(products.shape[1], np.int64)
        survival = self.survival(problem, visits)
        _engine.vote(products, log["row"], log["step"], survival, tie, first_scores.copy(), votes)
        return votes

    def joint(self, visits: int, products: FloatArray, first_scores: FloatArray, tie: _engine.Tie) -> IntArray:
        """The votes for each class (rows) and point of a block (columns)."""
        log, scores = self.log(0), np.ascontiguousarray(first_scores)
        votes = np.zeros(scores.shape, np.int64)
        survival = self.survival(0, visits)
        _engine.joint_vote(products, log["row"], log["up"], log["down"], log["step"], survival, tie, scores, votes)
        return votes
