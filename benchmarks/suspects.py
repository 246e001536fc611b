"""``python -m benchmarks.suspects``: how many flipped labels the ranking of `suspects` finds (docs/margins.md)."""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

import rosenblatt as rb

SHARES = (0.01, 0.03, 0.05)
REPEATS = 5
FIRST_SEED = 100  # not those on which the weights of the ranking were chosen


def generated(n: int, d: int, gap: float, seed: int):
    """Normal rows with a gap around a hyperplane, and their sides."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    X = rng.normal(size=(4 * n, d))
    scores = X @ (w / np.linalg.norm(w)) + 0.3
    chosen = np.flatnonzero(np.abs(scores) > gap)[:n]
    return X[chosen], np.where(scores[chosen] > 0, 1, -1)


def data_sets():
    yield "1,000 × 5", *generated(1000, 5, 0.1, 10)
    yield "1,000 × 20", *generated(1000, 20, 0.1, 11)
    yield "3,000 × 10", *generated(3000, 10, 0.02, 12)
    yield "1,000 × 50", *generated(1000, 50, 0.2, 13)
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, 569 × 30", X, np.where(y, 1, -1)
    X, y = load_digits(return_X_y=True)
    yield "digits, 0 or not, 1,797 × 64", X, np.where(y == 0, 1, -1)
    two = np.isin(y, (3, 8))
    yield "digits, 3 or 8, 357 × 64", X[two], np.where(y[two] == 8, 1, -1)


def main() -> None:
    for name, X, y in data_sets():
        cells = []
        for share in SHARES:
            count = max(1, round(share * len(y)))
            figures = []
            for seed in range(FIRST_SEED, FIRST_SEED + REPEATS):
                wrong = np.random.default_rng(seed).choice(len(y), count, replace=False)
                labels = y.copy()
                labels[wrong] *= -1
                begun = time.process_time()
                found = rb.suspects(X, labels)
                seconds = time.process_time() - begun
                hits = np.isin(found.ranking[:count], wrong).mean()
                figures.append((found.at_least, found.at_most, hits, seconds))
            least, most, hits, seconds = np.mean(figures, axis=0)
            cells.append(f"{count} | {least:.1f} to {most:.1f} | {100 * hits:.0f} %")
        print(f"| {name} | {' | '.join(cells)} | {seconds:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
