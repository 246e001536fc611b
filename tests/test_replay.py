"""The engine's replay: the additions of a run once more, and what is refused."""

import numpy as np
import pytest

from rosenblatt import _engine

pytestmark = pytest.mark.engine


@pytest.fixture(params=_engine.instruction_sets())
def instruction_set(request):
    """Force one instruction set, and go back to the one in use."""
    before = _engine.instruction_set()
    _engine.use_instruction_set(request.param)
    yield request.param
    _engine.use_instruction_set(before)


def arguments(d=3, vectors=1, **changes):
    given = {
        "ids": np.array([0, 1, 0]),
        "steps": np.array([1.0, -2.0, 0.0]),
        "w": np.zeros((vectors, -(-d // 8) * 8)),
        "b": np.zeros(vectors),
        "fit_intercept": True,
    }
    return given | changes


@pytest.mark.parametrize("d", [1, 7, 8, 33, 100])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_visit_is_seen_before_and_after(instruction_set, d, dtype):
    X = np.random.default_rng(d).integers(-9, 9, (4, d)).astype(dtype)
    given = arguments(d, ids=np.array([2, 0, 3, 2]), steps=np.array([1.0, 0.0, -2.0, 0.5]))
    seen = {"before": np.empty((4, 1)), "after": np.empty((4, 1)), "squares": np.empty(4)}
    path = {"path_w": np.empty((4, given["w"].size)), "path_b": np.empty((4, 1))}
    _engine.replay(_engine.DenseRows(X), **given, **seen, **path)
    w, b = np.zeros(d), 0.0
    for t, (row, step) in enumerate(zip(given["ids"], given["steps"])):
        x = X[row].astype(float)
        assert (seen["before"][t, 0], seen["squares"][t]) == (w @ x + b, x @ x)
        w, b = w + step * x, b + step
        assert seen["after"][t, 0] == w @ x + b
        assert path["path_w"][t, :d].tolist() == w.tolist() and path["path_b"][t, 0] == b
        assert not path["path_w"][t, d:].any()
    assert given["w"][0, :d].tolist() == w.tolist() and given["b"].tolist() == [b]


def test_jointly_two_vectors_move():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    moves = {"up": np.array([2, 0, 0], np.int32), "down": np.array([0, 1, 9], np.int32)}  # the last visit moves none
    given = arguments(2, 3, **moves, before=np.empty((3, 3)))
    _engine.replay(_engine.DenseRows(X), **given)
    assert given["w"][:, :2].tolist() == [[-7, -10], [6, 8], [1, 2]]
    assert given["b"].tolist() == [-3, 2, 1]
    assert given["before"].tolist() == [[0, 0, 0], [-12, 0, 12], [-30, 24, 6]]


def test_without_an_intercept_b_stays():
    given = arguments(2, fit_intercept=False, b=np.array([5.0]))
    _engine.replay(_engine.DenseRows(np.ones((2, 2))), **given)
    assert given["b"].tolist() == [5.0] and given["w"][0, :2].tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": np.array([0, 2, 0])}, "names a row or a vector that is not there"),
        ({"ids": np.array([0, -1, 0])}, "names a row or a vector that is not there"),
        ({"steps": np.zeros(2)}, "a step for each visit"),
        ({"w": np.zeros((1, 3))}, "padded to a multiple of eight"),
        ({"b": np.zeros(2)}, "an intercept for each vector"),
        ({"w": np.zeros((2, 8)), "b": np.zeros(2)}, "several vectors need up and down"),
        ({"up": np.zeros(3, np.int32)}, "up and down come together"),
        ({"up": np.zeros(2, np.int32), "down": np.zeros(2, np.int32)}, "up and down for each visit"),
        ({"up": np.zeros(3, np.int32), "down": np.ones(3, np.int32)}, "names a row or a vector that is not there"),
        ({"before": np.zeros((2, 1))}, "a score for each visit and vector"),
        ({"after": np.zeros((3, 2))}, "a score for each visit and vector"),
        ({"squares": np.zeros(4)}, "a square for each visit"),
        ({"path_w": np.zeros((3, 7))}, "the weights of each visit"),
        ({"path_b": np.zeros((3, 2))}, "the intercepts of each visit"),
    ],
)
def test_wrong_arguments_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        _engine.replay(_engine.DenseRows(np.ones((2, 3))), **arguments(**changes))
