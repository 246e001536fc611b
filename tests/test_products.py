"""The engine's products of all rows with a vector, from either side, and of sparse rows with each other."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import _engine, inputs

pytestmark = pytest.mark.engine


def whole_numbers(n, d, seed=0):
    """Rows on which every sum is exact, a third of them zeros."""
    return np.random.default_rng(seed).integers(-1, 2, (n, d)).astype(np.float64)


@pytest.fixture(params=_engine.instruction_sets())
def instruction_set(request):
    before = _engine.instruction_set()
    _engine.use_instruction_set(request.param)
    yield request.param
    _engine.use_instruction_set(before)


def stored(X, storage, dtype):
    return inputs.rows({"dense": np.asarray, "csr": sp.csr_array}[storage](X.astype(dtype))).view


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (9000, 5), (40_000, 33)])
def test_products_are_exact_on_whole_numbers(instruction_set, storage, dtype, n, d):
    X = whole_numbers(n, d)
    rows = stored(X, storage, dtype)
    w, a = np.zeros(-(-d // 8) * 8), np.arange(n) % 5 - 2.0
    w[:d] = np.arange(d) - 3.0
    for threads in (1, 3):
        found = np.empty(n)
        _engine.scores(rows, w, found, threads=threads)
        assert np.array_equal(found, X @ w[:d])
        assert np.array_equal(_engine.combine(rows, a, threads=threads), X.T @ a)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gram_matrix_of_sparse_rows_is_exact_on_whole_numbers(instruction_set, dtype):
    X = whole_numbers(50, 12)
    ids, c = np.asarray([3, 4, 9, 31], np.int64), np.asarray([1.0, 2.0, 0.5, 4.0])
    matrix = np.ones((12, 12))
    _engine.gram(stored(X, "csr", dtype), ids, c, matrix)
    assert np.array_equal(np.tril(matrix), np.tril(1 + (X[ids].T * c) @ X[ids]))


def test_a_row_of_coefficient_zero_is_not_read():
    X = np.asarray([[1.0, 2.0], [np.nan, np.inf]])
    assert np.array_equal(_engine.combine(_engine.DenseRows(X), np.asarray([2.0, 0.0])), [2.0, 4.0])


def test_arrays_of_the_wrong_size_are_refused():
    X = np.ones((4, 3))
    dense, sparse = _engine.DenseRows(X), stored(X, "csr", np.float64)
    one, ids = np.ones(1), np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="multiple of eight"):
        _engine.scores(dense, np.zeros(3), np.empty(4))
    with pytest.raises(ValueError, match="a score for each row"):
        _engine.scores(dense, np.zeros(8), np.empty(3))
    with pytest.raises(ValueError, match="a coefficient for each row"):
        _engine.combine(dense, np.ones(3))
    with pytest.raises(ValueError, match="a coefficient for each row"):
        _engine.gram(sparse, ids, np.ones(2), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="a row and a column for each feature"):
        _engine.gram(sparse, ids, one, np.zeros((3, 4)))
    with pytest.raises(ValueError, match="is not a row"):
        _engine.gram(sparse, ids + 4, one, np.zeros((3, 3)))
