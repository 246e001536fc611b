"""Shuffled passes: the order of `fit` where the buffer holds all rows, else one that mixes sorted files."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import noisy
from streams_of_rows import assert_same, cut, whole

import rosenblatt as rb
from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.runs.shuffling import groups, mixed


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((2, 3)),
    st.sampled_from(("last", "average", "vote")),
    st.sampled_from(("ovr", "joint")),
    st.lists(st.integers(1, 59), max_size=5),
    st.booleans(),
)
def test_a_buffer_that_holds_all_rows_gives_the_order_of_fit(seed, k, readout, multi_class, cuts, zeros):
    X, y = noisy(60, 4, seed % 1000, k)
    weights = np.where(np.arange(60) % 5 == 4, 0.0, 1.5) if zeros else None
    if zeros and len(np.unique(y[weights > 0])) < 2:
        weights = None
    options = {"readout": readout, "multi_class": multi_class}
    model = rb.train(cut(X, y, cuts, weights), shuffle=True, seed=seed, passes=3, shuffle_rows=60, **options)
    want = whole(X, y, shuffle=True, random_state=seed, max_iter=3, weights=weights, **options)
    assert_same(model, want)


def plain_order(seed, pass_, n, buffer):
    """The order as it is documented."""
    if n <= buffer:
        return _engine.order(seed, pass_, n).tolist()
    size = max(1, buffer // 64)
    blocks = [list(range(i, min(i + size, n))) for i in range(0, n, size)]
    blocks = [blocks[i] for i in _engine.order(seed, pass_, len(blocks))]
    order = []
    for number, first in enumerate(range(0, len(blocks), 64)):
        rows = [row for block in blocks[first : first + 64] for row in block]
        order += [rows[i] for i in _engine.order(mixed(seed, number), pass_, len(rows))]
    return order


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 300), st.lists(st.integers(1, 299), max_size=5), st.integers(0, 2**32 - 1))
def test_a_small_buffer_gives_the_documented_order(data_seed, buffer, cuts, seed):
    X, y = noisy(300, 3, data_seed)
    model = rb.train(cut(X, y, cuts), shuffle=True, shuffle_rows=buffer, seed=seed, passes=2)
    one = rb.Perceptron()
    for pass_ in range(2):
        order = plain_order(seed, pass_, 300, buffer)
        assert sorted(order) == list(range(300))
        one.partial_fit(X[order], y[order], classes=[0, 1])
    assert model.learner.weights.tolist() == one._learner.weights.tolist()


def test_each_buffer_has_rows_from_all_over_a_sorted_file():
    n, buffer = 100_000, 4096
    for pass_ in range(3):
        for stretches in list(groups(7, pass_, n, buffer))[:-1]:
            middle = [(first + end) / 2 for first, end in stretches]
            assert len(stretches) == 64
            assert 15 < sum(place < n / 2 for place in middle) < 49


def test_a_sorted_file_is_learned_as_well_as_a_mixed_one():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 2, 20_000))
    X = rng.normal(size=(20_000, 5)) + 0.8 * y[:, np.newaxis]
    mixed_up = rng.permutation(20_000)
    with pytest.warns(UserWarning, match="sorted by label"):
        in_order = rb.train((X, y))
    shuffled = rb.train((X, y), shuffle=True, shuffle_rows=1000, readout="average")
    mixed_first = rb.train((X[mixed_up], y[mixed_up]), readout="average")
    accuracy = [np.mean(model.predict(X) == y) for model in (shuffled, mixed_first)]
    assert abs(accuracy[0] - accuracy[1]) < 0.02 and accuracy[0] > 0.75
    assert in_order.report["sorted_by_label"] and not mixed_first.report["sorted_by_label"]


def test_dense_and_sparse_batches_cannot_be_shuffled_together():
    X, y = noisy(40, 3, 0)
    with pytest.raises(InputError, match="dense and sparse batches cannot be shuffled together"):
        rb.train([(X[:20], y[:20]), (sp.csr_array(X[20:]), y[20:])], shuffle=True)
