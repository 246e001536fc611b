"""A support of limited size stays within its limit, and so does memory on an endless stream."""

import pickle
import tracemalloc

import numpy as np
import pytest
from strategies import noisy

from rosenblatt import KernelPerceptron

BUDGETS = ("forget", "project", "random")


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_budget_holds(budget):
    X, y = noisy(600, 5, 14, 3)
    model = KernelPerceptron(max_support=20, budget=budget, readout="last", random_state=0).fit(X, y)
    assert len(model.support_) == 20 == model.n_support_.sum()  # all classes share them
    assert model.dual_coef_.shape == (3, 20)


def stream_peak(budget, n_batches):
    """The bytes that the learner holds after each batch of a stream."""
    rng = np.random.default_rng(0)
    model, held = KernelPerceptron(kernel="rbf", gamma=0.2, max_support=25, budget=budget, readout="last"), []
    for _ in range(n_batches):
        X = rng.normal(size=(1000, 8)).astype(np.float32)
        y = (np.abs(X[:, 0]) + 0.3 * rng.normal(size=1000) > 0.7).astype(int)
        model.partial_fit(X, y, classes=[0, 1])
        held.append(len(pickle.dumps(model)))
    return np.asarray(held)


@pytest.mark.parametrize("budget", BUDGETS)
def test_memory_is_flat_on_a_stream(budget):
    held = stream_peak(budget, 12)
    assert held[2:].max() - held[2:].min() < 4096


@pytest.mark.slow
@pytest.mark.parametrize("budget", BUDGETS)
def test_memory_is_flat_on_a_stream_of_a_million_rows(budget):
    tracemalloc.start()
    try:
        held = stream_peak(budget, 100)
        middle = tracemalloc.get_traced_memory()[0]
        held = np.concatenate([held, stream_peak(budget, 1000)])
        end, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held[2:].max() - held[2:].min() < 8192
    assert abs(end - middle) < 1 << 20 and peak < 64 << 20
