"""What the suppliers claim: against HiGHS's verdicts, a quadratic program's margins, and each other."""

import math
import time

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import margin_by_clarabel, separable_by_highs

from rosenblatt import _engine, inputs
from rosenblatt.errors import InputError
from rosenblatt.searching import suppliers

SUPPLIERS = [suppliers.working_set, suppliers.dual_descent, suppliers.affine_scaling, suppliers.supply]
KINDS = ["gaussian", "integers", "tenths", "duplicates", "collinear"]


def problem(kind, seed):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d))
    if kind == "integers":
        X = rng.integers(-3, 4, (n, d)).astype(float)
    elif kind == "tenths":
        X = rng.integers(-9, 10, (n, d)) * 0.1
    elif kind == "duplicates":
        X = X[rng.integers(0, n, n)]
    elif kind == "collinear":
        X = np.outer(rng.integers(-9, 10, n), rng.integers(-3, 4, d)).astype(float)
    y = rng.choice([-1, 1], n)
    if rng.random() < 0.6:
        y = np.where(X @ rng.standard_normal(d) > 0.1, 1, -1)
    intercept = bool(rng.integers(2))
    if intercept and abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y, intercept


def planted(n, d, margin=0.01, seed=0):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)) / math.sqrt(d), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w + 0.1 > 0, 1, -1)
    return X + margin * y[:, None] * w, y


def verdict(found):
    return False if found.collapsed else True if found.lower > 0 else None


def check(found, X, y, intercept):
    """The bounds are what w, b and the weights say, and in order."""
    X, y, k = np.asarray(X, float), np.asarray(y), 2 if intercept else 1
    size = np.abs(X).max() + 1e-300
    assert found.lower <= found.upper * (1 + 1e-9) + 1e-12 * size
    if found.w is not None and math.isfinite(found.lower):
        scores = y * (X @ found.w + found.b)
        assert scores.min() / np.linalg.norm(found.w) == pytest.approx(found.lower, rel=1e-6, abs=1e-10 * size)
    if len(found.rows):
        assert (found.weights > 0).all() and (np.diff(found.rows) > 0).all()
        if intercept:
            assert found.weights[y[found.rows] > 0].sum() == pytest.approx(1)
            assert found.weights[y[found.rows] < 0].sum() == pytest.approx(1)
        else:
            assert found.weights.sum() == pytest.approx(1)
        norm = np.linalg.norm((found.weights * y[found.rows]) @ X[found.rows])
        assert norm / k == pytest.approx(found.upper, rel=1e-6, abs=1e-12 * size)
    if found.collapsed:
        assert len(found.rows) <= X.shape[1] + k
        points = np.hstack([X[found.rows] * y[found.rows, None], np.ones((len(found.rows), 1))])
        if intercept:
            points = np.hstack([points, y[found.rows, None]])
        assert np.linalg.matrix_rank(points) == len(found.rows)


@pytest.mark.parametrize("kind", KINDS)
def test_working_set_and_supply_agree_with_highs(kind):
    for seed in range(60):
        X, y, intercept = problem(kind, seed)
        rows, want = inputs.rows(X), separable_by_highs(X, y > 0, intercept=intercept)
        for supplier in (suppliers.working_set, suppliers.supply):
            found = supplier(rows, y, intercept=intercept, gap=1e-6)
            assert verdict(found) is want, (seed, found)
            check(found, X, y, intercept)
            if want:
                assert found.gap <= 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("supplier", [suppliers.dual_descent, suppliers.affine_scaling])
def test_the_others_never_contradict_highs(supplier, kind):
    decided = 0
    for seed in range(20):
        X, y, intercept = problem(kind, seed)
        found = supplier(inputs.rows(X), y, intercept=intercept, gap=1e-3)
        assert verdict(found) in (None, separable_by_highs(X, y > 0, intercept=intercept)), (seed, found)
        check(found, X, y, intercept)
        decided += verdict(found) is not None
    assert decided >= 5


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("supplier", [suppliers.working_set, suppliers.dual_descent])
def test_margins_are_those_of_the_quadratic_program(supplier, intercept):
    for seed in range(5):
        X, y = planted(40, 3, margin=0.1, seed=seed)
        if not intercept:
            y = np.where(X @ np.ones(3) > 0, 1, -1)
        found = supplier(inputs.rows(X), y, intercept=intercept, gap=1e-6)
        want = margin_by_clarabel(X, y, intercept)
        assert found.gap <= 1e-6
        assert found.lower <= want * (1 + 1e-6) and want <= found.upper * (1 + 1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("supplier", SUPPLIERS)
def test_dense_and_sparse_rows_give_one_verdict(supplier, intercept):
    X, y = planted(300, 5)
    X[np.abs(X) < 0.2] = 0
    for labels in (y, np.where(np.arange(300) % 7 == 0, -y, y)):
        dense = supplier(inputs.rows(X), labels, intercept=intercept, gap=1e-3)
        sparse = supplier(inputs.rows(sp.csr_array(X)), labels, intercept=intercept, gap=1e-3)
        assert verdict(dense) is verdict(sparse)
        check(sparse, X, labels, intercept)
        if dense.lower > 0:
            assert sparse.lower == pytest.approx(dense.lower, rel=2e-3)


@pytest.mark.parametrize("supplier", [suppliers.working_set, suppliers.dual_descent])
def test_the_number_of_threads_changes_nothing(supplier):
    X, y = planted(40_000, 6)
    one, two = (supplier(inputs.rows(X), y, intercept=True, gap=1e-3, threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_array_equal(one.weights, two.weights)
    assert (one.b, one.lower, one.upper, one.scans) == (two.b, two.lower, two.upper, two.scans)


def test_float32_rows():
    X, y = planted(500, 4)
    X = X.astype(np.float32)
    found = suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-6)
    assert verdict(found) is True and found.gap <= 1e-6
    check(found, X, y, True)


@pytest.mark.parametrize("supplier", SUPPLIERS)
def test_a_deadline_that_has_passed_still_gives_an_answer(supplier):
    X, y = planted(20_000, 30)
    found = supplier(inputs.rows(X), y, intercept=True, gap=1e-9, deadline=time.monotonic())
    assert found.scans <= 2 and not found.collapsed
    assert found.w is None or len(found.w) == 30


def test_the_first_separator_is_enough_when_asked_for():
    X, y = planted(5_000, 10, margin=0.05)
    whole = suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-9)
    first = suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-9, first_separator=True)
    assert 0 < first.lower <= whole.lower and first.scans <= whole.scans


def test_one_label_with_an_offset_is_no_question():
    with pytest.raises(InputError, match="both labels"):
        suppliers.supply(inputs.rows(np.eye(3)), np.ones(3), intercept=True, gap=1e-6)
    found = suppliers.supply(inputs.rows(np.eye(3)), np.ones(3), intercept=False, gap=1e-6)
    assert found.lower == pytest.approx(1 / math.sqrt(3))


def test_one_row_a_class():
    found = suppliers.supply(
        inputs.rows(np.asarray([[0.0, 0.0], [3.0, 4.0]])), np.asarray([-1, 1]), intercept=True, gap=0
    )
    assert found.lower == found.upper == 2.5
    assert found.b / np.linalg.norm(found.w) == -2.5


@pytest.mark.parametrize("supplier", [suppliers.working_set, suppliers.supply])
def test_all_rows_identical(supplier):
    for value in (0.0, 3.0):
        found = supplier(inputs.rows(np.full((6, 3), value)), np.asarray([1, -1] * 3), intercept=True, gap=1e-6)
        assert found.collapsed and len(found.rows) == 2 and found.upper == 0


def test_an_offset_of_a_hundred_million():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5))
    y = np.where(X @ rng.standard_normal(5) > 0, 1, -1)
    found = suppliers.supply(inputs.rows(X + 1e8), y, intercept=True, gap=1e-6)
    plain = suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-6)
    assert found.lower == pytest.approx(plain.lower, rel=1e-3)
    y[5] = -y[5]
    assert suppliers.supply(inputs.rows(X + 1e8), y, intercept=True, gap=1e-6).collapsed


def test_constant_zero_and_repeated_columns():
    X, y = planted(200, 4)
    wide = np.hstack([X, np.full((200, 1), 3.0), np.zeros((200, 1)), X])
    found = suppliers.supply(inputs.rows(wide), y, intercept=True, gap=1e-6)
    plain = suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-6)
    assert found.lower == pytest.approx(math.sqrt(2) * plain.lower, rel=1e-6)
    flipped = np.where(np.arange(200) < 20, -y, y)
    for supplier in (suppliers.working_set, suppliers.affine_scaling):
        witness = supplier(inputs.rows(wide), flipped, intercept=True, gap=1e-6)
        assert witness.collapsed and len(witness.rows) <= 6
        check(witness, wide, flipped, True)


def test_touching_classes_do_not_separate():
    X = np.asarray([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
    found = suppliers.supply(inputs.rows(X), np.asarray([-1, -1, 1, 1]), intercept=True, gap=1e-6)
    assert found.collapsed and found.rows.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.weights, [0.5, 0.5, 1])


@pytest.mark.parametrize("wide", [False, True])
def test_many_features(monkeypatch, wide):
    """The way of `supply` above its limits: descent, then affine scaling where that is hopeless."""
    monkeypatch.setattr(suppliers, "SMALL", 10)
    rng = np.random.default_rng(3)
    n, d = (60, 80) if wide else (300, 40)
    X, y = rng.standard_normal((n, d)), rng.choice([-1, 1], n)
    for rows in (inputs.rows(X), inputs.rows(sp.csr_array(X))):
        found = suppliers.supply(rows, y, intercept=True, gap=1e-6)
        assert verdict(found) is wide
        check(found, X, y, True)
        if wide:
            assert found.gap <= 1e-6


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_witness_of_few_rows_among_many_features(monkeypatch, storage):
    """Four rows on a hyperplane that has all others on their sides: interior steps alone would end short of it."""
    monkeypatch.setattr(suppliers, "SMALL", 10)
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((300, 40)), rng.choice([-1, 1], 300)
    X[:, 0] = y * (1 + np.abs(X[:, 0]))
    X[:4], y[:4] = 0, [1, 1, -1, -1]
    X[:4, 1:3] = [[0, 0], [1, 1], [0, 1], [1, 0]]
    found = suppliers.supply(inputs.rows(storage(X)), y, intercept=True, gap=1e-6)
    assert found.collapsed and found.rows.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(found.weights, 0.5)


# The engine's parts -------------------------------------------------------------------------------------------------


@pytest.mark.engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 17, 33, 100])
@pytest.mark.parametrize("sparse", [False, True])
def test_scan_finds_the_lowest_and_the_worst(dtype, d, sparse):
    rng = np.random.default_rng(d)
    X = rng.integers(-3, 4, (2500, d)).astype(dtype)
    w, y = rng.integers(-3, 4, d).astype(float), rng.choice([-1, 1], 2500)
    want = y * (X.astype(float) @ w)
    rows, scores, codes = inputs.rows(sp.csr_array(X) if sparse else X), np.empty(2500), (y > 0).astype(np.int16)
    padded = np.zeros(-(-d // 8) * 8)
    padded[:d] = w
    for classes, of in ((1, np.zeros(2500)), (2, codes)):
        for threads in (1, 3):
            lowest, places, worst = _engine.scan(
                rows.view,
                codes,
                n_classes=classes,
                w=padded,
                threshold=np.zeros(classes),
                room=7,
                scores=scores,
                threads=threads,
            )
            np.testing.assert_array_equal(scores, want)
            expected = []
            for c in range(classes):
                members = np.flatnonzero(of == c)
                order = members[np.lexsort((members, want[members]))]
                assert lowest[c] == want[order[0]] and places[c] == order[0]
                expected += [i for i in order[:7] if want[i] < 0]
            assert worst.tolist() == expected


@pytest.mark.engine
def test_every_instruction_set_gives_the_same_nearest_point():
    X, y = planted(300, 19)
    answers, before = [], _engine.instruction_set()
    try:
        for name in _engine.instruction_sets():
            _engine.use_instruction_set(name)
            answers.append(suppliers.working_set(inputs.rows(X), y, intercept=True, gap=1e-6))
    finally:
        _engine.use_instruction_set(before)
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0].w, other.w)
        np.testing.assert_array_equal(answers[0].weights, other.weights)


@pytest.mark.engine
@pytest.mark.parametrize(
    "change, message",
    [
        ({"classes": np.asarray([0, 2], np.int16)}, "neither 0 nor 1"),
        ({"classes": np.asarray([0], np.int16)}, "for each row"),
        ({"classes": np.asarray([0, 1], np.int16)}, "not below n_classes"),
        ({"n_classes": 3}, "one class or two"),
        ({"start": np.asarray([2])}, "not there"),
        ({"start": np.asarray([0, 1])}, "for each point"),
        ({"points": _engine.DenseRows(np.eye(2, dtype=np.float32))}, "dense float64"),
    ],
)
def test_the_engine_checks_what_it_is_given(change, message):
    given = {
        "points": _engine.DenseRows(np.eye(2)),
        "classes": np.zeros(2, np.int16),
        "n_classes": 1,
        "start": np.asarray([0]),
        "start_weights": np.ones(1),
        "gap": 0.0,
    }
    assert _engine.min_norm(**given)[3] == pytest.approx(math.sqrt(0.5))
    with pytest.raises(ValueError, match=message):
        _engine.min_norm(**given | change)
