"""The features that weigh most: those that a plain sort finds."""

import numpy as np
import pytest

from rosenblatt.runs import report as training_report


def plainly(sizes, many):
    places = sorted(
        (place for place in range(len(sizes)) if sizes[place] > 0), key=lambda place: (-sizes[place], place)
    )
    return places[:many]


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11, 255, 256, 257, 2559, 2560, 2561, 5000])
@pytest.mark.parametrize("kind", ["normal", "equal", "whole", "zero", "few", "first"])
def test_the_largest_are_those_of_a_plain_sort(n, kind):
    random = np.random.default_rng(n)
    sizes = {
        "normal": np.abs(random.standard_normal(n)),
        "equal": np.ones(n),
        "whole": random.integers(0, 4, n).astype(float),
        "zero": np.zeros(n),
        "few": np.where(random.random(n) < 0.002, 1.0, 0.0),
        "first": np.where(np.arange(n) < 12, np.arange(n) % 5 + 1.0, 0.0),
    }[kind]
    assert training_report._largest(sizes) == plainly(sizes.tolist(), 10)
