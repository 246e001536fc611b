"""The values that a certificate speaks of: exact, in blocks, and with a digest that does not depend on their storage.

Dense or sparse, float32 or float64 or whole numbers, a frame or an array, in one piece or in batches: equal values
with equal sides have equal digests. Nothing is rounded here; what float64 cannot hold is refused.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray

Signs: TypeAlias = NDArray[np.int8]
Label: TypeAlias = str | int | float | bool

_VALUES = 1 << 17  # values of a block: a megabyte, so that its second and third reading come from the cache
_LARGEST_INTEGER = 1 << 53  # up to here float64 holds every integer


# Exact values -------------------------------------------------------------------------------------------------------


def exact_rows(X: Any, *, first_row: int = 0) -> inputs.Rows:
    """Check X as the estimators do, and refuse what they would round: integers and fractions beyond float64."""
    _require_exact(X, first_row)
    rows = inputs.rows(X, estimator="a certificate")
    rows.require_finite()
    return rows


def _require_exact(X: Any, first_row: int) -> None:
    if hasattr(X, "tocsr"):
        if X.dtype.kind in "iu" or X.dtype.itemsize > 8:
            stored, summed = X.tocoo(), X.tocsr().copy()
            summed.sum_duplicates()
            for numbers_of in (stored, summed.tocoo()):  # the parts first: their sum could leave the integers
                wrong = _first_rounded(numbers_of.data)
                if wrong is not None:
                    _refuse(first_row + int(numbers_of.row[wrong]), int(numbers_of.col[wrong]), numbers_of.data[wrong])
        return
    if isinstance(X, np.ndarray):
        _require_exact_array(X, first_row)
        return
    columns = getattr(X, "columns", None)
    if columns is not None and not isinstance(X, (list, tuple)):
        import narwhals.stable.v1 as nw

        frame = nw.from_native(X, pass_through=True, eager_only=True)
        if isinstance(frame, nw.DataFrame):
            # Column by column: a frame's whole numbers beside its floats would become floats unseen.
            for j, column in enumerate(frame.iter_columns()):
                values = np.asarray(column.to_numpy())
                wrong = _first_rounded(values)
                if wrong is not None:
                    _refuse(first_row + wrong, j, values[wrong])
            return
    array = np.asarray(X)
    if array.dtype.kind == "f" and array.ndim == 2:  # whole numbers beside floats in a list: look before they mix
        array = np.asarray(X, dtype=object)
    _require_exact_array(array, first_row)


def _require_exact_array(array: NDArray[Any], first_row: int) -> None:
    if array.ndim != 2:
        return  # said better by inputs.rows
    wrong = _first_rounded(array.reshape(-1))
    if wrong is not None:
        row, column = divmod(wrong, array.shape[1])
        _refuse(first_row + row, column, array[row, column])


def _first_rounded(values: NDArray[Any]) -> int | None:
    """The place of the first value that float64 does not hold exactly."""
    if values.dtype.kind in "iu" and values.dtype.itemsize >= 8:
        large = np.flatnonzero((values > _LARGEST_INTEGER) | (values < -_LARGEST_INTEGER))
        return next((int(i) for i in large if int(float(values[i])) != int(values[i])), None)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            differs = (values.astype(np.float64) != values) & np.isfinite(values)
        return int(np.argmax(differs)) if differs.any() else None
    if values.dtype.kind in "OUS":
        return next((i for i, value in enumerate(values) if _is_rounded(value)), None)
    return None


def _is_rounded(value: Any) -> bool:
    if isinstance(value, (str, bytes)):  # a decimal fraction as text means the nearest float; a whole number itself
        digits = value.strip().lstrip(b"+-" if isinstance(value, bytes) else "+-")  # type: ignore[arg-type]
        return digits.isdigit() and len(digits) > 15 and int(float(digits)) != int(digits)
    if not isinstance(value, numbers.Number) or isinstance(value, (float, complex)):
        return False
    try:
        nearest = float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        return True
    exactly: Any = value
    return bool(nearest != exactly) and nearest == nearest


def _refuse(row: int, column: int, value: Any) -> None:
    raise InputError(
        f"row {row}, feature {column} of X is {value}, which float64 cannot hold exactly (integers: up to 2**53). "
        "A proof about a rounded number is not one about this number: subtract an offset or scale the column first"
    )


# Labels -------------------------------------------------------------------------------------------------------------


def signs(y: NDArray[Any], negative: Sequence[Label], positive: Sequence[Label]) -> Signs:
    """The side of each label: -1, +1, or 0 for a label that is neither."""
    sides = np.zeros(len(y), np.int8)
    for side, names in ((-1, negative), (+1, positive)):
        for name in names:
            sides[equal(y, name)] = side
    return sides


def equal(y: NDArray[Any], name: Label) -> NDArray[np.bool_]:
    """Where y is this label; text is never equal to a number."""
    if y.dtype.kind not in "biufUO" or (y.dtype.kind != "O" and (y.dtype.kind == "U") != isinstance(name, str)):
        return np.zeros(len(y), np.bool_)
    if y.dtype.kind in "iu" and isinstance(name, int) and not -(1 << 63) <= name < 1 << 64:
        return np.zeros(len(y), np.bool_)
    same = np.asarray(y == name, dtype=np.bool_)
    return same if same.shape == y.shape else np.zeros(len(y), np.bool_)


# Blocks -------------------------------------------------------------------------------------------------------------


class Block:
    """Some rows in float64, dense or sparse, -0.0 as 0.0; sparse rows have sorted columns and no stored zeros.

    A sparse value that is stored in parts is their sum in float64, as scipy has it.
    """

    def __init__(self, stored: Any) -> None:
        """Take dense rows, or a sparse matrix that may be changed."""
        self.sparse: Any = None
        if hasattr(stored, "indptr"):
            block = stored.astype(np.float64)
            block.sum_duplicates()
            block.eliminate_zeros()
            self.sparse = block
        else:
            self.dense: FloatArray = np.add(stored, 0.0, dtype=np.float64)
        self.shape: tuple[int, int] = (int(stored.shape[0]), int(stored.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def products(self, vectors: FloatArray, rows: IntArray | None = None, *, absolute: bool = False) -> FloatArray:
        """X @ vectors.T, or |X| @ vectors.T, of all or some rows."""
        block = self.dense if self.sparse is None else self.sparse
        block = block if rows is None else block[rows]
        return np.asarray((abs(block) if absolute else block) @ vectors.T)

    def squared_norms(self) -> FloatArray:
        """‖x‖² of each row, as rounded by float64."""
        if self.sparse is None:
            return np.asarray(np.einsum("ij,ij->i", self.dense, self.dense))
        return np.asarray(self.sparse.multiply(self.sparse).sum(axis=1)).reshape(-1)

    def row(self, i: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of a row, without its zeros."""
        if self.sparse is None:
            columns = np.flatnonzero(self.dense[i])
            return columns, self.dense[i, columns]
        first, last = int(self.sparse.indptr[i]), int(self.sparse.indptr[i + 1])
        return self.sparse.indices[first:last].astype(np.int64), self.sparse.data[first:last].copy()


def blocks(rows: inputs.Rows) -> Iterator[tuple[slice, Block]]:
    """All rows, in pieces of about a megabyte."""
    n, d = rows.shape
    width = d if rows.sparse is None else max(1, int(rows.sparse.nnz) // n)
    step = max(1, _VALUES // width)
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        yield part, Block(rows.block(part))


# Digest -------------------------------------------------------------------------------------------------------------


class RowsDigest:
    """BLAKE3 of the values of rows, fed in order and in pieces of any size.

    A row with fewer than d / 4 values that are not zero is written as their count, columns and values, any other as d
    values: a rule about values, so storage does not matter. All numbers are little-endian, float64 or int64. The two
    kinds of rows have a hash each, and a third one has a byte for each row that says its kind.
    """

    def __init__(self, threads: int = 1) -> None:
        """Begin with no rows."""
        from blake3 import blake3

        self._full, self._few, self._kinds = blake3(max_threads=threads), blake3(), blake3()

    def update(self, block: Block) -> None:
        """Take some more rows."""
        if block.sparse is None:
            rows = block.dense
            if np.count_nonzero(rows) == rows.size:
                self.update_full(rows)
                return
            counts = np.count_nonzero(rows, axis=1)
            few = self._kind(counts, block)
            self._full.update(_bytes(rows[~few], "<f8"))
            thin = rows[few]
            places, columns = np.nonzero(thin)
            self._update_few(counts[few], columns, thin[places, columns])
            return
        stored = block.sparse
        counts = np.diff(stored.indptr)
        few = self._kind(counts, block)
        if not few.all():
            for i in np.flatnonzero(~few):
                self._full.update(_bytes(stored[[i]].toarray(), "<f8"))
            stored, counts = stored[few], counts[few]
        self._update_few(counts, stored.indices, stored.data)

    def update_full(self, rows: FloatArray) -> None:
        """Take rows without any zero."""
        self._kinds.update(bytes(len(rows)))
        self._full.update(_bytes(rows, "<f8"))

    def _kind(self, counts: Any, block: Block) -> NDArray[np.bool_]:
        few: NDArray[np.bool_] = counts * 4 < block.shape[1]
        self._kinds.update(_bytes(few, "i1"))
        return few

    def _update_few(self, counts: Any, columns: Any, values: Any) -> None:
        # Row by row, so that it does not matter where a batch ended: count, then columns, then values.
        counts = np.asarray(counts, np.int64)
        starts = np.concatenate(([0], np.cumsum(2 * counts + 1)))
        words = np.empty(int(starts[-1]), "<i8")
        words[starts[:-1]] = counts
        place = np.arange(len(columns)) - np.repeat(np.cumsum(counts) - counts, counts)
        base = np.repeat(starts[:-1] + 1, counts)
        words[base + place] = columns
        words[base + np.repeat(counts, counts) + place] = np.ascontiguousarray(values, "<f8").view("<i8")
        self._few.update(_bytes(words, "<i8"))

    def digest(self) -> bytes:
        """The hash of all rows so far."""
        from blake3 import blake3

        return blake3(self._full.digest() + self._few.digest() + self._kinds.digest()).digest()


class Digest:
    """The digest of rows and their labels, fed in order and in pieces of any size: of both hashes, and the shape.

    The labels are sides, or with `classes` the numbers of classes.
    """

    def __init__(self, n_features: int, *, classes: bool = False) -> None:
        """Begin with no rows."""
        from blake3 import blake3

        self.n_features = n_features
        self.n_rows = 0
        self._classes = classes
        self._rows, self._labels = RowsDigest(), blake3()

    def update(self, block: Block, labels: Signs | inputs.Codes) -> None:
        """Take some more rows."""
        self.n_rows += len(block)
        self._rows.update(block)
        self._labels.update(_bytes(labels, _LABEL_TYPES[self._classes]))

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        return _named(self.n_rows, self.n_features, self._rows.digest(), self._labels.digest(), self._classes)


def rows_digest(rows: inputs.Rows, *, threads: int = 1) -> bytes:
    """The part of the digest that speaks of the rows; the same for any number of threads."""
    total = RowsDigest(threads)
    if rows.dense is not None and rows.dense.dtype == np.float64 and not rows.sizes.has_zero:
        total.update_full(rows.dense)
    else:
        for _, block in blocks(rows):
            total.update(block)
    return total.digest()


def digest(
    rows: inputs.Rows,
    labels: Signs | inputs.Codes,
    *,
    classes: bool = False,
    threads: int = 1,
    known: bytes | None = None,
) -> str:
    """The digest of checked rows and their sides or classes; `known` is the part of the rows, if it is known."""
    from blake3 import blake3

    part = rows_digest(rows, threads=threads) if known is None else known
    return _named(*rows.shape, part, blake3(_bytes(labels, _LABEL_TYPES[classes])).digest(), classes)


_LABEL_TYPES = {False: "i1", True: "<i2"}


def _named(n_rows: int, n_features: int, rows: bytes, labels: bytes, classes: bool) -> str:
    from blake3 import blake3

    what = "classes" if classes else "data"
    return str(blake3(f"rosenblatt {what}\n{n_rows} {n_features}\n".encode() + rows + labels).hexdigest())


def _bytes(values: NDArray[Any], dtype: str) -> memoryview:
    return np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8).data
