"""The only check of what comes in from outside: rows, labels, weights and parameters.

Nothing is silently repaired. An array that can be used as it is is used as it is, without a copy; the rest is converted
once, or refused with a message that says where, what, and what to do.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.limits import Limit as Limit
from rosenblatt.limits import check_parameters as check_parameters
from rosenblatt.limits import flag as flag
from rosenblatt.limits import integer as integer
from rosenblatt.limits import number as number

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int16]

MAX_CLASSES = int(np.iinfo(np.int16).max)
_BLOCK = 1 << 16  # rows converted at a time, so that checking labels needs no second copy of them


# Rows ---------------------------------------------------------------------------------------------------------------


class Sizes(NamedTuple):
    """How large numbers are."""

    finite: bool  # all of them
    largest: float  # |x|; NaN or infinite if one is
    has_zero: bool  # 0.0 or -0.0


@dataclass(frozen=True)
class Rows:
    """Checked rows, dense or sparse, and the engine's view of them."""

    dense: Any  # a C-ordered float array, or None
    sparse: Any  # a scipy CSR matrix or array, or None
    view: _engine.DenseRows | _engine.SparseRows
    feature_names: Sequence[str] | None = None

    def summed(self) -> Rows:
        """The same with each feature of a row stored once: CSR may hold parts of it, whose squares are not its own.

        A feature stands where the row first has it, as in rows that are read from files: the order decides how sums are
        rounded, and so what is learned.
        """
        if self.sparse is None or self.sparse.has_canonical_format:
            return self
        by_column = self.sparse.copy()
        by_column.sort_indices()
        return self if by_column.has_canonical_format else rows(_summed(self.sparse))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n, d = (self.dense if self.dense is not None else self.sparse).shape
        return int(n), int(d)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def values(self) -> NDArray[Any]:
        """The stored numbers, as one array."""
        values: NDArray[Any] = self.dense if self.dense is not None else self.sparse.data[: self.sparse.indptr[-1]]
        return values

    @cached_property
    def sizes(self) -> Sizes:
        """How large the stored numbers are, from one look at them."""
        return Sizes(*_engine.sizes(self.values))

    @cached_property
    def feature_sizes(self) -> FloatArray:
        """The largest absolute value of each feature."""
        stored = self.dense if self.dense is not None else self.sparse
        low, high = (f(axis=0) for f in (stored.min, stored.max))
        low, high = (np.asarray(v.toarray() if self.dense is None else v, np.float64).reshape(-1) for v in (low, high))
        return np.maximum(np.abs(low), np.abs(high))

    def require_finite(self) -> None:
        """Raise if a value is NaN or infinite, naming its row and feature."""
        if self.sizes.finite:
            return
        place = _engine.first_not_finite(self.values)
        if self.dense is not None:
            row, column = divmod(place, self.shape[1])
        else:
            starts: IntArray = self.sparse.indptr
            row = int(np.searchsorted(starts, place, side="right")) - 1
            column = int(self.sparse.indices[place])
        value = float(self.values.reshape(-1)[place])
        what = "NaN" if math.isnan(value) else "infinity"
        name = f" ({self.feature_names[column]!r})" if self.feature_names is not None else ""
        what_to_do = (
            "fill them in first (sklearn.impute has the tools)" if what == "NaN" else "replace such values first"
        )
        raise InputError(
            f"Input X contains {what}: row {row}, feature {column}{name} is {value}. Remove such rows or {what_to_do}."
        )

    def products(self, vectors: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of ``X @ vectors.T`` in float64, without converting all rows at once."""
        n, d = self.shape
        most = 1 << 22  # numbers of a block, and of its products
        if self.sparse is None:
            step = max(1, most // max(d, len(vectors), 1))
            for first in range(0, n, step):
                rows = slice(first, min(first + step, n))
                yield rows, np.asarray(self.block(rows).astype(np.float64, copy=False) @ vectors.T)
            return
        # scipy copies vectors that are turned, for each block; many long ones are cheaper one by one.
        turned = np.ascontiguousarray(vectors.T) if vectors.size <= most >> 2 else None
        starts, first = self.sparse.indptr, 0
        while first < n:
            end = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
            rows = slice(first, first := max(first + 1, min(end, first + max(1, most // max(1, len(vectors))), n)))
            block = self.block(rows).astype(np.float64, copy=False)
            if turned is None:
                yield rows, np.stack([block @ vector for vector in vectors], axis=1)
            else:
                yield rows, np.asarray(block @ turned)

    def block(self, rows: slice) -> Any:
        """Some rows in a stretch, dense or sparse as they are stored."""
        return self.dense[rows] if self.dense is not None else self.sparse[rows]

    def take(self, ids: IntArray) -> Any:
        """Copies of some rows, dense or sparse as they are stored."""
        return self.dense[ids] if self.dense is not None else self.sparse[ids]


def rows(X: Any, *, estimator: str = "This estimator") -> Rows:
    """Check X and bring it into a form that the engine reads: C-ordered float32 or float64, or CSR.

    Values are not looked at here: a pass over the rows sees a NaN or an infinity anyway (`Rows.require_finite`
    says where it is).
    """
    if hasattr(X, "tocsr"):
        return _sparse_rows(X, estimator)
    if isinstance(X, (str, bytes, os.PathLike)):
        raise InputError(
            f"X must be rows, as an array, a sparse matrix or a data frame, got {X!r:.200}. Rows of a file come with "
            "X, y = rosenblatt.load(FILE); rosenblatt.train learns from files, rosenblatt predict MODEL FILE predicts "
            "their rows"
        )
    names = None
    if not isinstance(X, np.ndarray):
        X, names = _from_frame(X)
    if np.ma.is_masked(X):
        raise InputError("X is a masked array with masked values: remove those rows or fill them in first")
    array = np.asarray(X)
    if array.dtype.kind in "mM":
        raise InputError("X holds dates or durations: turn them into numbers first, for example into days")
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: X must hold real numbers")
    if array.dtype.kind not in "fiub" and array.ndim > 0:
        array = _numbers(array, names)
    if array.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and features, got {array.ndim} (shape {array.shape}). "
            "Reshape your data: array.reshape(-1, 1) if it has a single feature, array.reshape(1, -1) if a single row."
        )
    _require_some(array.shape, estimator)
    dense = np.require(array, dtype=_float_type(array.dtype), requirements=["C", "ALIGNED"])
    return Rows(dense, None, _engine.DenseRows(dense), names)


def _sparse_rows(X: Any, estimator: str) -> Rows:
    if X.ndim != 2:
        raise InputError(f"Expected 2D input, got input with shape {X.shape}. Reshape your data.")
    if X.dtype.kind == "c":
        raise InputError("Complex data not supported: X must hold real numbers")
    if X.dtype.kind not in "fiub":
        raise InputError(f"a sparse X must hold numbers, got dtype {X.dtype}")
    _require_some(X.shape, estimator)
    csr = X.tocsr()
    wanted = _float_type(csr.dtype)
    if csr.dtype != wanted:
        csr = csr.astype(wanted)
    indices, indptr = csr.indices, csr.indptr
    if indices.dtype != indptr.dtype:
        common = np.result_type(indices.dtype, indptr.dtype)
        indices, indptr = indices.astype(common), indptr.astype(common)
    if indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    try:
        used = slice(int(indptr[-1]))  # a matrix may have room for more
        parts = (csr.data[used], indices[used], indptr)
        data, indices, indptr = (np.require(part, requirements=["C", "ALIGNED"]) for part in parts)
        view = _engine.SparseRows(data, indices, indptr, n_features=csr.shape[1])
    except ValueError as error:
        raise InputError(f"the sparse matrix is damaged: {error}") from None
    return Rows(None, csr, view)


def require_names(names: Sequence[str] | None, known: Sequence[str] | None) -> None:
    """Raise, in scikit-learn's words, if the columns of a data frame are not those that a model has learned from."""
    if names is None or known is None or list(names) == list(known):
        return
    lines = ["The feature names should match those that were passed during fit."]
    for when, these, others in (
        ("unseen at fit time", names, known),
        ("seen at fit time, yet now missing", known, names),
    ):
        if odd := sorted(set(these) - set(others)):
            lines += [f"Feature names {when}:", *(f"- {name}" for name in odd[:5]), *(["- ..."] if odd[5:] else [])]
    if len(lines) == 1:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise InputError("\n".join([*lines, "Take the columns of the model, in its order: X[model.feature_names]"]))


def _summed(csr: Any) -> Any:
    """CSR with the parts of a feature added up, in their order, where the first of them stands."""
    data, indices = (part[: csr.indptr[-1]] for part in (csr.data, csr.indices))
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    order = np.lexsort((indices, row))  # stable, so that of parts the first one leads
    leads = np.ones(len(order), bool)
    leads[1:] = (np.diff(row[order]) != 0) | (np.diff(indices[order]) != 0)
    first = np.empty_like(order)
    first[order] = order[np.maximum.accumulate(np.where(leads, np.arange(len(order)), 0))]
    sums = np.full_like(data, -0.0)  # to which any x can be added: it is x
    np.add.at(sums, first, data)
    kept = first == np.arange(len(first))
    ends = np.concatenate([[0], np.cumsum(kept)]).astype(csr.indptr.dtype)
    return type(csr)((sums[kept], indices[kept], ends[csr.indptr]), shape=csr.shape)


def _from_frame(X: Any) -> tuple[Any, Sequence[str] | None]:
    """The values of a data frame of any library, and its column names if these are text; anything else as it is."""
    if X is None or isinstance(X, (list, tuple)):
        return X, None
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return X, None
    names = list(frame.columns)
    return frame.to_numpy(), names if all(isinstance(name, str) for name in names) else None


def _numbers(array: NDArray[Any], names: Sequence[str] | None) -> NDArray[Any]:
    """Objects and strings as float64; whatever is not a number is named."""
    try:
        return array.astype(np.float64)
    except ValueError:
        for place, value in np.ndenumerate(array):
            try:
                float(value)
            except ValueError:
                where = f"row {place[0]}" + (f", feature {place[1]}" if len(place) > 1 else "")
                if names is not None and len(place) > 1:
                    where += f" ({names[place[1]]!r})"
                raise InputError(
                    f"{where} of X is {str(value)!r}, which is not a number (could not convert string to float). "
                    "Encode it first: categories for example with sklearn.preprocessing.OneHotEncoder, text with "
                    "sklearn.feature_extraction.text.TfidfVectorizer."
                ) from None
        raise


def _float_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """float32 for what it holds exactly, else float64."""
    small = dtype == np.float32 or dtype == np.float16 or (dtype.kind in "iub" and dtype.itemsize <= 2)
    return np.float32 if small else np.float64


def _require_some(shape: Sequence[int], estimator: str) -> None:
    n, d = shape
    if n == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape=({n}, {d})) while a minimum of 1 is required by {estimator}."
        )
    if d == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape=({n}, {d})) while a minimum of 1 is required by {estimator}."
        )


# Labels and weights -------------------------------------------------------------------------------------------------


def labels(y: Any, n: int) -> NDArray[Any]:
    """Check y: one label for each of n rows."""
    if not isinstance(y, np.ndarray):
        y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.reshape(-1)
    if y.ndim != 1:
        raise InputError(f"y should be a 1d array of labels, got an array of shape {y.shape} instead.")
    if len(y) != n:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}] (rows of X, labels of y)"
        )
    if y.dtype.kind == "f" and _engine.first_not_finite(np.ascontiguousarray(y, _float_type(y.dtype))) >= 0:
        raise InputError(f"Input y contains NaN or infinity: y[{int(np.argmin(np.isfinite(y)))}]. Remove such rows.")
    if y.dtype.kind == "O":
        _require_labels(y)
    return np.asarray(y)


def _require_labels(y: NDArray[Any]) -> None:
    for i, label in enumerate(y):
        missing = label is None or type(label).__name__ in ("NAType", "NaTType")
        if missing or (isinstance(label, float) and label != label):
            raise InputError(f"y[{i}] is {label!r}: every row needs a label. Remove the rows without one.")


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The classes in sorted order, and the class number of each label.

    Two classes, and integers of a small range, need no sorting of a million labels.
    """
    first = y[:1]
    same = y == first
    if same.all():
        return first.copy(), np.zeros(len(y), np.int16)
    other = y[np.argmin(same)]
    if np.logical_or(same, y == other).all():
        classes, _ = _sorted_classes(np.asarray([first[0], other], dtype=y.dtype))
        return classes, (y == classes[1]).astype(np.int16)
    if y.dtype.kind in "iub" and int(y.min()) > -(1 << 62) and int(y.max()) < min(1 << 62, int(y.min()) + (1 << 16)):
        return _encode_small_integers(y)
    classes, codes = _sorted_classes(y)
    _require_few(classes)
    return classes, codes.astype(np.int16)


def _sorted_classes(y: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        kinds = [type(label).__name__ for label in y]
        odd = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise InputError(
            f"the labels cannot be sorted: y holds {y[0]!r} and {y[odd]!r}. Use labels of one type."
        ) from None


def _encode_small_integers(y: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    low = y.min()
    seen = np.zeros(int(y.max()) - int(low) + 1, bool)
    blocks = [slice(i, i + _BLOCK) for i in range(0, len(y), _BLOCK)]
    for block in blocks:
        seen[y[block].astype(np.int64) - int(low)] = True
    classes = (np.flatnonzero(seen) + int(low)).astype(y.dtype)
    _require_few(classes)
    number = (np.cumsum(seen) - 1).astype(np.int16)
    codes = np.empty(len(y), np.int16)
    for block in blocks:
        codes[block] = number[y[block].astype(np.int64) - int(low)]
    return classes, codes


def _require_few(classes: NDArray[Any]) -> None:
    if len(classes) > MAX_CLASSES:
        raise InputError(f"y has {len(classes)} classes; at most {MAX_CLASSES} are supported")


def measurement(classes: NDArray[Any]) -> Any:
    """The first of these labels that is no class but looks like a measurement, None if none does."""
    if classes.dtype.kind != "f" or not (odd := classes != np.floor(classes)).any():
        return None
    return classes[np.argmax(odd)]


def require_classes(classes: NDArray[Any], what: str = "") -> None:
    """Raise if labels are measurements; `what` begins the message."""
    if (number := measurement(classes)) is not None:
        raise InputError(
            f"{what}y must hold classes, and {number} looks like a measurement. "
            "Cast y to int or str if these are classes."
        )


def encode_known(y: NDArray[Any], classes: NDArray[Any]) -> Codes:
    """The class number of each label, all of which must be in `classes` (sorted)."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    wrong = classes[codes] != y
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"y[{row}] is {y[row]!r}, which is not in the classes {classes.tolist()!r} "
            "that the first call to partial_fit was given; name all classes there"
        )
    return codes.astype(np.int16)


def sample_weight(weights: Any, n: int) -> FloatArray | None:
    """Check sample weights: one finite number that is not negative for each row; None stays None."""
    if weights is None:
        return None
    if isinstance(weights, numbers.Real):
        weights = np.full(n, float(weights))
    array = np.ascontiguousarray(_floats(weights, "sample_weight"))
    if array.shape != (n,):
        raise InputError(f"sample_weight.shape == {array.shape}, expected {(n,)}!")
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"sample_weight[{row}] is {array[row]}; weights must be finite and not negative")
    if not array.any():
        raise InputError("all sample weights are zero: sample_weight must have a positive number")
    return array


def class_weight(given: Any, classes: NDArray[Any], codes: Codes, weights: FloatArray | None = None) -> FloatArray:
    """A weight for each class: 1 unless a dict says otherwise, or "balanced", n / (n_classes * rows of the class).

    With `weights` a row counts as often as its weight says.
    """
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str) and given == "balanced":
        counts = np.bincount(codes, weights, minlength=len(classes)).astype(np.float64)
        return np.asarray(counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0)))
    if not isinstance(given, Mapping):
        raise InputError(f"class_weight must be a dict, 'balanced', or None, got: {given!r}")
    names = classes.tolist()
    unknown = [name for name in given if name not in names]
    if unknown:
        raise InputError(f"class_weight names {unknown!r}, which are not among the classes {names!r}")
    weights = _floats([given.get(name, 1.0) for name in names], "class_weight")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InputError(f"class_weight must be finite and not negative, and not all zero, got {given!r}")
    return weights


def _floats(values: Any, name: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, got {values!r:.80}") from None


def vectors(init: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """Check a first guess: finite numbers of the given shape (a vector will do for one row)."""
    array = _floats(init, name)
    if array.size != math.prod(shape) or (array.ndim > 1 and array.shape != shape):
        raise InputError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite")
    return array.reshape(shape)


# Parameters ---------------------------------------------------------------------------------------------------------


def threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for: None is one, -1 all processors, as in scikit-learn."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise InputError("The 'n_jobs' parameter must not be 0: -1 means all processors, None or 1 means one")
    from joblib import effective_n_jobs

    return min(int(effective_n_jobs(n_jobs)), max(1, 4 * (os.cpu_count() or 1)))
