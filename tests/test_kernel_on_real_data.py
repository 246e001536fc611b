"""One pass over MNIST gives what Freund and Schapire (1999) published, as recalled; a budget loses little."""

import pytest
from benchmarks import data
from benchmarks.real_data import Unavailable

from rosenblatt import KernelPerceptron

pytestmark = [pytest.mark.slow, pytest.mark.data]
ERRORS, MISTAKES = (8.5, 2.8, 2.3, 2.2), (25_461, 10_201, 8_475, 7_977)


@pytest.fixture(scope="module")
def mnist():
    try:
        return data.mnist(60_000)
    except Unavailable as missing:
        pytest.skip(str(missing))


def one_pass(mnist, **parameters):
    shared = {"gamma": 1.0, "coef0": 1 / 255**2, "max_iter": 1, "shuffle": False, "random_state": 0}
    return KernelPerceptron(**shared, **parameters).fit(mnist.X, mnist.y)


def error(model, mnist):
    return 100 * (1 - model.score(mnist.X_test, mnist.y_test))


@pytest.mark.parametrize(("degree", "published", "mistakes"), list(zip((1, 2, 3, 4), ERRORS, MISTAKES, strict=True)))
def test_the_vote_after_one_pass_is_the_published_one(degree, published, mistakes, mnist):
    model = one_pass(mnist, degree=degree)
    assert error(model, mnist) == pytest.approx(published, abs=0.3)
    assert model.n_updates_ == pytest.approx(mistakes, rel=0.1)


def test_a_thousand_rows_lose_less_than_two_points(mnist):
    model = one_pass(mnist, degree=2, max_support=1000, budget="project", readout="average")
    assert len(model.support_) == 1000
    assert error(model, mnist) < 3.01 + 2  # the vote of an unbounded support
