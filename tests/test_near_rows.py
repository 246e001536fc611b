"""One look at all rows: what it settles is so, whatever the storage, the instruction set and the number of threads."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import _engine, inputs
from rosenblatt.proving.near_rows import near_rows

pytestmark = pytest.mark.engine


def exact_values(X, y, w, b):
    weights = [Fraction(v) for v in w.tolist()]
    return [
        int(sign) * (sum((Fraction(v) * u for v, u in zip(row, weights) if v), Fraction(b)))
        for row, sign in zip(X.astype(np.float64).tolist(), y)
    ]


@pytest.mark.parametrize(
    "form, size",
    [(np.float32, 1.0), *((form, size) for form in (np.asarray, sp.csr_array) for size in (1, 1e-160, 1e160))],
)
@pytest.mark.parametrize("n, d", [(1, 1), (3, 5), (130, 4), (200, 33), (65, 40)])
def test_the_least_and_the_longest_are_among_them(form, n, d, size):
    rng = np.random.default_rng(n + d)
    for trial in range(3):
        w = np.round(rng.normal(size=d), 2)
        X = np.round(rng.normal(size=(n, d)), 1) * (rng.random((n, d)) < 0.7)
        y = np.where(X @ w + 0.25 > 0, 1.0, -1.0)
        if trial == 2:
            y[n // 2] *= -1
        rows = inputs.rows(form(X * size))
        stored = rows.dense if rows.dense is not None else rows.sparse.toarray()
        values = exact_values(stored, y, w, 0.25 * size)
        look = near_rows(rows, y, w, 0.25 * size)
        left_out = set(range(n)) - set(look.ids.tolist())
        least = min(values)
        assert all(values[i] > max(0, least) for i in left_out)
        if look.longest is not None:
            squares = [sum(Fraction(v) ** 2 for v in row) for row in stored.astype(np.float64).tolist()]
            assert set(np.flatnonzero([s == max(squares) for s in squares])) <= set(look.longest.tolist())
        assert (look.longest is None) == (size != 1 or not stored.any())


def test_whatever_may_overflow_stays_open():
    X = np.array([[1e200, -1e200], [1e154, 1e154], [1.0, 1.0]])
    look = near_rows(inputs.rows(X), np.ones(3), np.array([1e154, 1e154]), 0.0)
    assert look.ids.tolist() == [0, 1, 2] and look.longest is None and look.square == math.inf


def test_it_is_the_same_for_all_instruction_sets_and_threads():
    rng = np.random.default_rng(0)
    used = _engine.instruction_set()
    for d in (3, 20, 100):
        X = rng.normal(size=(20_000, d))
        w = rng.normal(size=d)
        y = np.where(X @ w > 0, 1.0, -1.0)
        for form in (np.asarray, np.float32, sp.csr_array):
            rows, found = inputs.rows(form(X)), []
            try:
                for name in _engine.instruction_sets():
                    _engine.use_instruction_set(name)
                    for threads in (1, 3):
                        look = near_rows(rows, y, w, 0.1, threads=threads)
                        found.append((look.ids.tolist(), look.values.tolist(), look.longest.tolist(), look.square))
            finally:
                _engine.use_instruction_set(used)
            assert all(other == found[0] for other in found) and found[0][0]


def test_numbers_stored_in_parts():
    rows = inputs.rows(sp.csr_matrix(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2)))
    look = near_rows(rows, np.ones(2), np.array([1.0, 1.0]), 0.0)
    assert look.ids.tolist() == [0] and look.values.tolist() == [3.0] and look.longest is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sizes(dtype):
    for values, expected in [
        ([1, -3, 2], (True, 3.0, False)),
        ([1, -0.0, 2], (True, 2.0, True)),
        ([1e-40, -1e-42], (True, float(dtype(1e-40)), False)),
        ([], (True, 0.0, False)),
    ]:
        assert _engine.sizes(np.array(values, dtype)) == expected
    for wrong in (np.nan, np.inf, -np.inf):
        assert not _engine.sizes(np.array([1, wrong, 2], dtype))[0]


def test_arguments_are_checked():
    rows, codes = _engine.DenseRows(np.ones((3, 2))), np.zeros(3, np.int16)
    rest = {"b": 0.0, "norm": 1.0, "roundings": 0.0, "underflow": 0.0, "likeness": 0.0}
    with pytest.raises(ValueError, match="padded to a multiple of eight"):
        _engine.nearest(rows, codes, np.ones(2), **rest)
    with pytest.raises(ValueError, match="a class code for each row"):
        _engine.nearest(rows, codes[:2], np.ones(8), **rest)
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        _engine.nearest(rows, codes + 5, np.ones(8), **rest)
    with pytest.raises(ValueError, match="a class code for each row"):
        _engine.equal_rows(rows, codes[:2], np.ones(2, np.uint64))
    with pytest.raises(ValueError, match="a factor for each column"):
        _engine.equal_rows(rows, codes, np.ones(1, np.uint64))
