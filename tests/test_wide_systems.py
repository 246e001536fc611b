"""Products, factors and solutions of large systems: the same bits for any number of threads, and accurate ones."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from rosenblatt import inputs
from rosenblatt.proving import enclosures
from rosenblatt.proving.enclosures import positive_solution
from rosenblatt.searching import affine_scaling, dual_descent, suppliers
from rosenblatt.searching.large_products import PIECE, Factors, add_gram, one_blas_thread, product
from rosenblatt.searching.normal_equations import RIDGES, Cholesky, conjugate_gradients

SIZE = 2 * PIECE + 100


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_and_let_go():
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pieces_are_the_same_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((SIZE, SIZE)).astype(dtype)
    b = rng.standard_normal((SIZE, SIZE)).astype(dtype)
    tolerance = 1e-3 if dtype == np.float32 else 1e-11
    with one_blas_thread():
        products = [product(a, b, threads) for threads in (1, 2, 3)]
        grams = [np.ones((SIZE, SIZE), dtype) for _ in range(3)]
        for threads, gram in enumerate(grams, 1):
            add_gram(gram, a, threads)
        factors = Factors(a)
        solutions = [factors.solve(b, threads) for threads in (1, 2, 3)]
    for answers in (products, grams, solutions):
        assert all((answers[0] == other).all() for other in answers[1:])
    np.testing.assert_allclose(products[0], a.astype(float) @ b, atol=tolerance * SIZE)
    np.testing.assert_allclose(np.triu(grams[0]), np.triu(1 + a.T.astype(float) @ a), atol=tolerance * SIZE)
    np.testing.assert_allclose(a.astype(float) @ solutions[0], b, atol=50 * tolerance)
    assert not factors.singular and 0 < factors.reciprocal_condition() < 1


def test_a_singular_matrix_has_no_factors():
    assert Factors(np.zeros((3, 3))).singular


def test_a_factor_in_float32_gives_solutions_of_float64():
    rng = np.random.default_rng(1)
    a = rng.standard_normal((300, 100)) * np.logspace(0, -2, 100)
    gram, right = a.T @ a, rng.standard_normal(100)
    factor = Cholesky(gram.astype(np.float32), RIDGES)
    assert not factor.failed and not factor.singular
    rough, fine = factor.solve(right), conjugate_gradients(lambda v: a.T @ (a @ v), factor, right)
    exact = np.linalg.solve(gram, right)
    assert np.linalg.norm(fine - exact) <= 1e-9 * np.linalg.norm(exact) < np.linalg.norm(rough - exact)


def test_what_is_not_positive_definite_is_said_to_be_none():
    assert Cholesky(-np.eye(3, dtype=np.float32), RIDGES).failed
    assert Cholesky(np.full((2, 2), np.nan), (0.0,)).failed
    assert Cholesky(np.ones((2, 2)), (0.0, 1e-13)).singular
    indefinite = np.diag([1.0, -1.0])
    factor = Cholesky(np.eye(2, dtype=np.float32), RIDGES)
    assert conjugate_gradients(lambda v: indefinite @ v, factor, np.ones(2)) is None


@pytest.fixture
def everything_is_wide(monkeypatch):
    """The ways of large problems, on small ones."""
    monkeypatch.setattr(suppliers, "SMALL", 10)
    for module in (affine_scaling, dual_descent):
        monkeypatch.setattr(module, "WIDE", 20)
    monkeypatch.setattr(enclosures, "_WIDE", 20)


@pytest.mark.usefixtures("everything_is_wide")
@pytest.mark.parametrize("kind", ["planted", "random"])
def test_the_number_of_threads_changes_nothing_in_wide_problems(kind):
    rng = np.random.default_rng(2)
    n, d = 1_400, PIECE + 40
    X = rng.standard_normal((n, d))
    y = rng.choice([-1, 1], n) if kind == "random" else np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    one, two = (suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-3, threads=t) for t in (1, 2))
    assert one.collapsed is (kind == "random") and (one.lower > 0) is (kind == "planted")
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_array_equal(one.weights, two.weights)
    assert (one.b, one.lower, one.upper) == (two.b, two.lower, two.upper)


@pytest.mark.usefixtures("everything_is_wide")
def test_enclosures_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    A, x = rng.standard_normal((PIECE + 40, PIECE + 40)), rng.uniform(0.5, 2, PIECE + 40)
    one, two = (positive_solution(A, A @ x, threads=threads) for threads in (1, 2))
    assert (np.abs(one.x - x) <= 1e-8).all()
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.radius, two.radius)
