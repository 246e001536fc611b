"""The perceptron of the five lecture notes in plain Python: slow on purpose, to be read first.

It is the specification. The compiled engine must make the same mistakes in the same order, so nothing here
rounds without need: ints and Fractions stay exact. "003 eq. 2" is equation 2 of note 003. Labels ``y`` are -1
and +1; rows and passes count from 0. Where a note errs, the right version is here and the docstring says so.

The notes: 000, Parametric Learning and Perceptrons (chapter 3 of a course text without the name of its author); 001,
Perceptron (10-301/601 Introduction to Machine Learning, lecture 6, Henry Chai and Matt Gormley, 2025); 002, The
Perceptron (CMSC 422, Soheil Feizi, adapted from Marine Carpuat); 003, Perceptron Learning Algorithm (Matthieu R.
Bloch); 004, Perceptron (the second of a series without the name of its author, 2018).

The worked example of note 001, through the origin, where a score of 0 counts as +1:

>>> X = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)]
>>> y = [-1, +1, +1, -1, -1, +1]
>>> for x, label, (predicted, w, b) in zip(X, y, online_perceptron(zip(X, y), fit_intercept=False)):
...     print(f"{x!s:8} {predicted:+} {label:+} {'mistake' if predicted != label else '':7} {w}")
(-1, 2)  +1 -1 mistake [1, -2]
(1, 0)   +1 +1         [1, -2]
(1, 1)   -1 +1 mistake [2, -1]
(-1, 0)  -1 -1         [2, -1]
(-1, -2) +1 -1 mistake [3, 1]
(1, -1)  +1 +1         [3, 1]
>>> run = perceptron(X, y, tie="positive", fit_intercept=False)
>>> run.w, run.mistakes, run.mistakes_per_pass, run.converged
([3, 1], [(0, 0), (0, 2), (0, 4)], [3, 0], True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Vector = Sequence[float]  # so says the type checker; ints and Fractions do as well
Rows = Sequence[Vector]
Labels = Sequence[int]
Order = Callable[[int], Iterable[int]] | None  # pass number -> its rows in order; None: as they are
Limit = int | None
Tie = Literal["mistake", "positive", "negative", "ignored"]


# ---- Scores, signs and ties ----
def dot(u: Vector, v: Vector) -> float:
    """u · v (000 eq. 3.3)."""
    return sum(p * q for p, q in zip(u, v, strict=True))


def zeros(like: Sequence[Any]) -> list[float]:
    """The first guess of all notes but 003: whole zeros, so that whole numbers stay whole."""
    return [0 for _ in like]


def dummy_feature(X: Rows) -> list[list[float]]:
    """Each row with x[0] = 1 in front, so that w[0] is the intercept (000 §3.2; 001's "Hack"; 003 §2)."""
    return [[1, *x] for x in X]


def sign(score: float, tie: Tie = "mistake") -> int:
    """At 0 the notes disagree: +1 in 001 and 004 eq. 1, -1 in 003 Def. 1.1, undefined (0) in 000 eq. 3.1."""
    at_zero = {"mistake": 0, "positive": +1, "negative": -1, "ignored": 0}[tie]
    return +1 if score > 0 else -1 if score < 0 else at_zero


def predict(score: float, tie: Tie = "mistake") -> int:
    """The label of a score. Where the sign is undefined someone must still answer: -1."""
    return sign(score, tie) or -1


def is_mistake(score: float, y: int, tie: Tie = "mistake") -> bool:
    """Whether to learn from it: y · score <= 0 in 000 and 002, sign(score) != y in 001, 003 and 004.

    ``tie="ignored"`` is y · score < 0, from 000 eq. 3.5 and the handwriting in 004. It is here to show why it
    fails: from w = 0 every score is 0, nothing is ever a mistake, and w never leaves 0.
    """
    return y * score < 0 if tie == "ignored" else sign(score, tie) != y


def is_within(lead: float, gain: float, margin: float) -> bool:
    """Whether a row that is right by ``lead`` is so by too little: ``gain`` is what learning it adds to the lead."""
    return margin > 0 and lead <= margin * gain


def step(w: Vector, x: Vector, rate: float) -> list[float]:
    """w + rate · x: with rate = y, the update of every note (000 eq. 3.6, 003 eq. 2, 004 eq. 6)."""
    return [p + rate * q for p, q in zip(w, x, strict=True)]


# ---- The perceptron, of which the notes' versions are special cases ----
@dataclass(frozen=True)
class Run:
    """What a run learned, and how it got there."""

    w: list[float]
    b: float
    mistakes: list[tuple[int, int]]  # (pass, row), in sequence
    vectors: list[tuple[list[float], float]]  # (w, b): the first guess, then the one after each mistake
    survival: list[int]  # for each vector, the visits after which it was the current one (002: c)
    mistakes_per_pass: list[int]
    converged: bool  # the last pass made no mistake


def perceptron(
    X: Rows, y: Labels, *, tie: Tie = "mistake", fit_intercept: bool = True,
    order: Order = None, restart: bool = False, max_iter: Limit = None, max_updates: Limit = None,
    w: Vector | None = None, b: float = 0, eta0: float = 1, weights: Vector | None = None, margin: float = 0,
) -> Run:  # fmt: skip
    """Visit the rows in turn; at each mistake add y x to w and y to b; stop after a pass without one.

    If no hyperplane separates the data, only ``max_iter`` or ``max_updates`` ends it. ``restart`` goes back
    to row 0 after each mistake. ``weights`` multiply the steps of their rows; rows of weight 0 are skipped.
    With a ``margin`` β a row counts as a mistake unless it is right by more than β times what learning it adds to
    y · score, step ‖z‖² (Krauth and Mézard 1987; `bounds_with_margin`):

    >>> X, y = [(-2, 3), (1, 1), (-2, -2), (3, -2)], [+1, +1, -1, -1]
    >>> [perceptron(X, y, margin=beta, fit_intercept=False).w for beta in (0, 1, 8)]
    [[-2, 3], [-2, 8], [-7, 43]]
    >>> [round(margin(X, y, w), 2) for w in _]
    [0.28, 0.73, 0.83]
    """
    if any(label not in (-1, 1) for label in y):
        raise ValueError(
            "the labels must be -1 and +1; convert others, for example [1 if label else -1 for label in y]"
        )
    rates = [eta0 if weights is None else eta0 * weights[i] for i in range(len(X))]
    vectors = [(zeros(X[0]) if w is None else list(w), b)]

    def visit(i: int) -> bool:
        w, b = vectors[-1]
        score, gain = dot(w, X[i]) + b, rates[i] * (dot(X[i], X[i]) + fit_intercept)
        mistake = is_mistake(score, y[i], tie) or is_within(y[i] * score, gain, margin)
        if mistake:
            rate = rates[i] * y[i]
            vectors.append((step(w, X[i], rate), b + rate if fit_intercept else b))
        return mistake

    mistakes, survival, per_pass, converged = _passes(visit, rates, order, restart, max_iter, max_updates)
    return Run(*vectors[-1], mistakes, vectors, survival, per_pass, converged)


def _passes(
    visit: Callable[[int], bool], rates: Vector,
    order: Order, restart: bool, max_iter: Limit, max_updates: Limit,
) -> tuple[list[tuple[int, int]], list[int], list[int], bool]:  # fmt: skip
    """Who comes next and when to stop, for all learners; ``visit`` learns from a row if it is a mistake."""
    mistakes: list[tuple[int, int]] = []
    survival, per_pass, clean = [0], list[int](), False
    while not clean and len(per_pass) != max_iter and len(mistakes) != max_updates:
        before = len(mistakes)
        rows = order(len(per_pass)) if order else range(len(rates))
        for i in (i for i in rows if rates[i] != 0):
            if visit(i):
                mistakes.append((len(per_pass), i))
                survival.append(1)  # the visit that makes a vector is the first one it survives
                if restart or len(mistakes) == max_updates:
                    break
            else:
                survival[-1] += 1
        per_pass.append(len(mistakes) - before)
        clean = per_pass[-1] == 0
    return mistakes, survival, per_pass, clean


# ---- The notes' own versions ----
def variant(note: str) -> dict[str, Any]:
    """The parameters with which our estimators are a note's perceptron: ``Perceptron(**variant("001"))``.

    The budget is yours: ``max_iter`` is 002's MaxIter; ``max_updates`` is 000's K (``max_iter=K + 1`` with
    it, as a mistake ends a pass); 001, 003, 004 have none: set ``max_iter`` beyond the mistake bound. 003's
    first guess goes to ``fit``; 004 §2, through the origin, is ``fit_intercept=False``.
    """
    ties = {"000": "mistake", "001": "positive", "002": "mistake", "003": "negative", "004": "positive"}
    if note not in ties:
        raise ValueError(f"note must be one of {', '.join(map(repr, ties))}, got {note!r}")
    return {"tie": ties[note], "shuffle": False, "restart": note == "000", "fit_intercept": True}


def basic_perceptron(X: Rows, y: Labels, K: int) -> Run:
    """000 Algorithm 1: after each of at most K updates, start again at row 0. X has its `dummy_feature`."""
    return perceptron(X, y, tie="mistake", fit_intercept=False, restart=True, max_updates=K)


def online_perceptron(
    stream: Iterable[tuple[Vector, int]], *, fit_intercept: bool = True
) -> Iterator[tuple[int, list[float], float]]:
    """001 "Online": each example of a stream is predicted, then learned. Yields prediction, w and b."""
    w: list[float] | None = None
    b: float = 0
    for x, y in stream:
        run = perceptron([x], [y], tie="positive", fit_intercept=fit_intercept, w=w, b=b, max_iter=1)
        w, b = run.w, run.b
        yield (-y if run.mistakes else y), w, b


def batch_perceptron(X: Rows, y: Labels, *, fit_intercept: bool = True, max_iter: Limit = None) -> Run:
    """001 "Batch", 004 eq. 13 to 15, through the origin 004 eq. 5 and 6: cycle until no mistake is made."""
    return perceptron(X, y, tie="positive", fit_intercept=fit_intercept, max_iter=max_iter)


def perceptron_train(X: Rows, y: Labels, max_iter: int) -> Run:
    """002 Algorithm 5; the passes it would still make after one without a mistake change nothing."""
    return perceptron(X, y, tie="mistake", max_iter=max_iter)


def perceptron_test(w: Vector, b: float, x: Vector, tie: Tie = "mistake") -> int:
    """002 Algorithm 6: sign(w · x + b)."""
    return predict(dot(w, x) + b, tie)


def whole_set_perceptron(X: Rows, y: Labels, max_iter: int) -> tuple[list[float], float]:
    """002's meaning of "batch": find all mistakes of one w, b first; only then learn from them."""
    w, b = zeros(X[0]), 0
    for _ in range(max_iter):
        for i in [i for i, x in enumerate(X) if is_mistake(dot(w, x) + b, y[i])]:
            w, b = step(w, X[i], y[i]), b + y[i]
    return w, b


def voted_prediction(run: Run, x: Vector, tie: Tie = "mistake") -> int:
    """002 "Voted": sign(Σ c sign(w · x + b)), where with ``tie="mistake"`` a score of 0 abstains."""
    votes = (c * sign(dot(w, x) + b, tie) for c, (w, b) in zip(run.survival, run.vectors, strict=True))
    return predict(sum(votes), tie)


def weighted_sums(run: Run) -> tuple[list[float], float, int]:
    """Σ c w, Σ c b and Σ c: all that 002's averaged perceptron needs, and exact."""
    columns = zip(*(w for w, _ in run.vectors), strict=True)
    sum_b = dot(run.survival, [b for _, b in run.vectors])
    return [dot(run.survival, column) for column in columns], sum_b, sum(run.survival)


def averaged(run: Run) -> tuple[list[float], float]:
    """The average w and b of a run, weighted by survival."""
    sum_w, sum_b, visits = weighted_sums(run)
    return [s / visits for s in sum_w], sum_b / visits


def averaged_prediction(run: Run, x: Vector, tie: Tie = "mistake") -> int:
    """002 "Averaged": sign((Σ c w) · x + Σ c b). Dividing by Σ c would change no sign."""
    sum_w, sum_b, _ = weighted_sums(run)
    return perceptron_test(sum_w, sum_b, x, tie)


def pla(X: Rows, y: Labels, theta: Vector, *, order: Order = None, max_iter: Limit = None) -> Run:
    """003 eq. 2, from any first guess θ = (b, w), in any order. X has its `dummy_feature`, x below too."""
    return perceptron(X, y, tie="negative", fit_intercept=False, w=theta, order=order, max_iter=max_iter)


def perceptron_loss(X: Rows, y: Labels, theta: Vector) -> float:
    """003 eq. 3: Σ max(0, -y θ · x), how far on the wrong side the mistakes lie."""
    return sum(max(0, -label * dot(theta, x)) for x, label in zip(X, y, strict=True))


def perceptron_subgradient(x: Vector, y: int, theta: Vector) -> list[float]:
    """003 eq. 4: a v with ℓ(θ') - ℓ(θ) >= v · (θ' - θ) for all θ' (the note has this inequality reversed).

    At θ · x = 0 all between 0 and -y x will do; the end is chosen with which eq. 5 becomes eq. 2.
    """
    return step(zeros(x), x, -y if is_mistake(dot(theta, x), y, "negative") else 0)


def sgd_step(x: Vector, y: int, theta: Vector) -> list[float]:
    """003 eq. 5: one step of stochastic gradient descent, θ - v."""
    return step(theta, perceptron_subgradient(x, y, theta), -1)


def training_error(X: Rows, y: Labels, w: Vector, b: float = 0) -> float:
    """004 eq. 4, right side: the fraction with y(w · x + b) <= 0. The left side forgives ties of y = +1."""
    return sum(label * (dot(w, x) + b) <= 0 for x, label in zip(X, y, strict=True)) / len(X)


# ---- The soft margin: the same steps for another loss ----
def hinge_loss(X: Rows, y: Labels, theta: Vector) -> float:
    """Σ max(0, 1 - y θ · x): the perceptron loss (003 eq. 3) with 1 in place of 0, so that right is not enough.

    >>> X, y, theta = [(1, 2), (1, -2)], [+1, +1], (0, 0.25)
    >>> perceptron_loss(X, y, theta), hinge_loss(X, y, theta)
    (0.5, 2.0)
    """
    return sum(max(0, 1 - label * dot(theta, x)) for x, label in zip(X, y, strict=True))


def hinge_subgradient(x: Vector, y: int, theta: Vector) -> list[float]:
    """003 eq. 4 for the hinge loss: -y x wherever y θ · x < 1, also where the perceptron is content.

    >>> hinge_subgradient((1, 2), +1, (0, 0.25)), perceptron_subgradient((1, 2), +1, (0, 0.25))
    ([-1, -2], [0, 0])
    """
    return step(zeros(x), x, -y if y * dot(theta, x) < 1 else 0)


def hinge_step(x: Vector, y: int, theta: Vector) -> list[float]:
    """003 eq. 5 for the hinge loss: a perceptron that also learns from rows that are right, but not by 1."""
    return step(theta, hinge_subgradient(x, y, theta), -1)


def slack(X: Rows, y: Labels, w: Vector, b: float) -> list[float]:
    """003 eq. 22: the least ξ >= 0 with y(w · x + b) >= 1 - ξ; above 1 the row is on the wrong side."""
    return [max(0, 1 - label * (dot(w, x) + b)) for x, label in zip(X, y, strict=True)]


def soft_margin_objective(X: Rows, y: Labels, w: Vector, b: float, C: float) -> float:
    """003 eq. 23: ½‖w‖² + (C / N) Σ ξ. scikit-learn's C is the note's C / N."""
    return dot(w, w) / 2 + C / len(X) * sum(slack(X, y, w, b))


def soft_margin_descent(X: Rows, y: Labels, C: float, max_iter: int) -> tuple[list[float], float]:
    """003 eq. 23 by subgradient steps 1/t over the whole set: simple, and slow. The best w, b on the way.

    >>> w, b = soft_margin_descent([(0,), (1,), (3,), (4,)], [-1, -1, +1, +1], C=8, max_iter=2000)
    >>> round(w[0], 1), round(b, 1)  # y(wx + b) = 1 at x = 1 and x = 3
    (1.0, -2.0)
    """
    best = w, b = zeros(X[0]), 0.0
    for t in range(1, max_iter + 1):
        rates = [C / len(X) / t * label * (xi > 0) for label, xi in zip(y, slack(X, y, w, b))]
        w, b = [p - p / t + dot(rates, column) for p, column in zip(w, zip(*X))], b + sum(rates)
        best = min(best, (w, b), key=lambda v: soft_margin_objective(X, y, v[0], v[1], C))
    return best


# ---- Several classes, learned jointly: beyond the notes ----
@dataclass(frozen=True)
class JointRun:
    """As `Run`, with a row of W and an entry of b for each class."""

    W: list[list[float]]
    b: list[float]
    mistakes: list[tuple[int, int, int, int]]  # (pass, row, class moved up, class moved down)
    vectors: list[tuple[list[list[float]], list[float]]]
    survival: list[int]
    mistakes_per_pass: list[int]
    converged: bool


def joint_predict(scores: Vector, tie: Tie = "mistake") -> int:
    """The class of the highest score: of several the first, but with ``tie="positive"`` the last."""
    best = [k for k, score in enumerate(scores) if score == max(scores)]
    return best[-1] if tie == "positive" else best[0]


def joint_rival(scores: Vector, true: int, tie: Tie = "mistake", gain: float = 0, margin: float = 0) -> int | None:
    """The class that a mistake moves down, the highest rival; None if it is no mistake."""
    rivals = [k for k in range(len(scores)) if k != true]
    rival = rivals[joint_predict([scores[k] for k in rivals], tie)]
    lead = scores[true] - scores[rival]
    wins = lead <= 0 if tie == "mistake" else joint_predict(scores, tie) != true
    return rival if wins or is_within(lead, gain, margin) else None


def joint_perceptron(
    X: Rows, y: Labels, n_classes: int, *, tie: Tie = "mistake", fit_intercept: bool = True,
    order: Order = None, max_iter: Limit = None, max_updates: Limit = None,
    eta0: float = 1, weights: Vector | None = None, margin: float = 0,
) -> JointRun:  # fmt: skip
    """Labels are class numbers; a mistake moves the true class up and the highest rival down: twice the gain."""
    rates = [eta0 if weights is None else eta0 * weights[i] for i in range(len(X))]
    classes = range(n_classes)
    vectors = [([zeros(X[0]) for _ in classes], zeros(classes))]
    moves: list[tuple[int, int]] = []

    def visit(i: int) -> bool:
        W, b = vectors[-1]
        gain = 2 * rates[i] * (dot(X[i], X[i]) + fit_intercept)
        rival = joint_rival([dot(W[k], X[i]) + b[k] for k in classes], y[i], tie, gain, margin)
        if rival is not None:
            up = [rates[i] * ((k == y[i]) - (k == rival)) for k in classes]
            vectors.append(([step(W[k], X[i], up[k]) for k in classes], step(b, up, int(fit_intercept))))
            moves.append((y[i], rival))
        return rival is not None

    mistakes, survival, per_pass, converged = _passes(visit, rates, order, False, max_iter, max_updates)
    moved = [(*mistake, *move) for mistake, move in zip(mistakes, moves, strict=True)]
    return JointRun(*vectors[-1], moved, vectors, survival, per_pass, converged)


def joint_voted_prediction(run: JointRun, x: Vector, tie: Tie = "mistake") -> int:
    """Each W votes with its survival for its class; with ``tie="mistake"`` a tied top abstains."""
    votes = zeros(run.b)
    for c, (W, b) in zip(run.survival, run.vectors, strict=True):
        scores = [dot(w, x) + offset for w, offset in zip(W, b, strict=True)]
        if tie != "mistake" or scores.count(max(scores)) == 1:
            votes[joint_predict(scores, tie)] += c
    return joint_predict(votes, tie)


# ---- Kernels: products of features that are never computed (003 eq. 24) ----
Kernel = Callable[[Vector, Vector], float]
Terms = Sequence[tuple[Vector, float]]  # (z, step): each mistake and its step


def polynomial_kernel(degree: int, gamma: float = 1, coef0: float = 1) -> Kernel:
    """(γ z · x + c) ** degree: Φ(z) · Φ(x) where Φ(x) has all products of up to ``degree`` features, scaled."""
    return lambda z, x: (gamma * dot(z, x) + coef0) ** degree


def expansion(terms: Terms, kernel: Kernel, x: Vector) -> float:
    """f(x) = Σ step K(z, x), in sequence: w · Φ(x) for w = Σ step Φ(z)."""
    return sum(step * kernel(z, x) for z, step in terms)


@dataclass(frozen=True)
class KernelRun:
    """As `Run`, for w = Σ step Φ(z); the vector after mistake k has the first k terms."""

    terms: list[tuple[Vector, float]]
    mistakes: list[tuple[int, int]]
    survival: list[int]
    mistakes_per_pass: list[int]
    converged: bool


def kernel_perceptron(
    X: Rows, y: Labels, kernel: Kernel, *, tie: Tie = "mistake", order: Order = None, restart: bool = False,
    max_iter: Limit = None, max_updates: Limit = None, eta0: float = 1, weights: Vector | None = None,
) -> KernelRun:  # fmt: skip
    """The perceptron on features Φ(x), known only by their products K(z, x) (Freund and Schapire, 1999).

    Rows on a line, the inner ones of another class; x² + 1 separates them, x does not:

    >>> run = kernel_perceptron([(-2,), (-1,), (1,), (2,)], [+1, -1, -1, +1], polynomial_kernel(2))
    >>> [row for _, row in run.mistakes], run.mistakes_per_pass
    ([0, 1, 2, 3, 1, 2, 1, 2], [4, 2, 2, 0])
    """
    rates = [eta0 if weights is None else eta0 * weights[i] for i in range(len(X))]
    terms: list[tuple[Vector, float]] = []

    def visit(i: int) -> bool:
        mistake = is_mistake(expansion(terms, kernel, X[i]), y[i], tie)
        if mistake:
            terms.append((X[i], rates[i] * y[i]))
        return mistake

    mistakes, survival, per_pass, converged = _passes(visit, rates, order, restart, max_iter, max_updates)
    return KernelRun(terms, mistakes, survival, per_pass, converged)


def kernel_votes(run: KernelRun, kernel: Kernel, x: Vector, tie: Tie = "mistake") -> int:
    """Σ c sign(f(x)) over all vectors of a run: its vote is ``predict`` of this."""
    votes, score = run.survival[0] * sign(0, tie), 0.0
    for c, (z, step) in zip(run.survival[1:], run.terms, strict=True):
        score += step * kernel(z, x)
        votes += c * sign(score, tie)
    return votes


def kernel_weighted_sum(run: KernelRun, kernel: Kernel, x: Vector) -> float:
    """Σ c f(x) over all vectors, exactly: what an average has before it is divided by Σ c."""
    left = [sum(run.survival[k + 1 :]) for k in range(len(run.terms))]
    return sum(step * c * kernel(z, x) for c, (z, step) in zip(left, run.terms, strict=True))


def joint_kernel_perceptron(
    X: Rows, y: Labels, n_classes: int, kernel: Kernel, *, tie: Tie = "mistake",
    order: Order = None, restart: bool = False, max_iter: Limit = None, max_updates: Limit = None,
    eta0: float = 1, weights: Vector | None = None,
) -> tuple[list[tuple[Vector, float, int, int]], KernelRun]:  # fmt: skip
    """`joint_perceptron` on features Φ(x). Also returns (z, step, class moved up, class moved down) of each mistake."""
    rates = [eta0 if weights is None else eta0 * weights[i] for i in range(len(X))]
    moves: list[tuple[Vector, float, int, int]] = []

    def visit(i: int) -> bool:
        rival = joint_rival(joint_kernel_scores(moves, n_classes, kernel, X[i]), y[i], tie)
        if rival is not None:
            moves.append((X[i], rates[i], y[i], rival))
        return rival is not None

    mistakes, survival, per_pass, converged = _passes(visit, rates, order, restart, max_iter, max_updates)
    return moves, KernelRun([(z, step) for z, step, _, _ in moves], mistakes, survival, per_pass, converged)


def joint_kernel_scores(
    moves: Sequence[tuple[Vector, float, int, int]], n_classes: int, kernel: Kernel, x: Vector
) -> list[float]:
    """A score for each class: each mistake adds to one and takes from another."""
    parts = [(step * kernel(z, x), up, down) for z, step, up, down in moves]
    return [sum(part * ((k == up) - (k == down)) for part, up, down in parts) for k in range(n_classes)]


# ---- Kernels with a support of limited size ----
@dataclass
class Kept:
    """Support rows that several binary problems share, oldest first, with their coefficients in each."""

    rows: list[Vector]
    coefficients: list[list[float]]  # of each problem

    def score(self, k: int, kernel: Kernel, x: Vector) -> float:
        """f(x) of problem k, in the order of the rows."""
        return sum(a * kernel(z, x) for a, z in zip(self.coefficients[k], self.rows))

    def append(self, x: Vector, steps: Vector) -> None:
        """One row more, with the step of each problem (0 where it was no mistake)."""
        self.rows.append(x)
        for a, step in zip(self.coefficients, steps):
            a.append(step)

    def drop(self, t: int) -> None:
        """One row less, for all problems."""
        del self.rows[t]
        for a in self.coefficients:
            del a[t]


# What becomes of a row with the steps of all problems; a row that is kept already has changed its coefficients.
Budget = Callable[[Kept, Vector, Vector, bool], None]


def budget_perceptron(
    X: Rows, Y: Sequence[Labels], kernel: Kernel, budget: Budget, *, tie: Tie = "mistake", order: Order = None,
    max_iter: Limit = None, eta0: float = 1, weights: Vector | None = None,
) -> tuple[Kept, list[list[int]], list[int], bool]:  # fmt: skip
    """Kernel perceptrons, one for each list of labels, on shared rows. Each row is visited by all, then learned.

    Returns what is kept, the rows that each problem was mistaken on, how many rows some problem was mistaken on in each
    pass, and whether the last pass had none. A row that is kept already only changes its coefficients.
    """
    rates = [eta0 if weights is None else eta0 * weights[i] for i in range(len(X))]
    kept, mistakes = Kept([], [[] for _ in Y]), [list[int]() for _ in Y]

    def visit(i: int) -> bool:
        wrong = [is_mistake(kept.score(k, kernel, X[i]), y[i], tie) for k, y in enumerate(Y)]
        steps = [rates[i] * y[i] if mistake else 0 for mistake, y in zip(wrong, Y)]
        known = [t for t, z in enumerate(kept.rows) if z is X[i]]
        for k, mistake in enumerate(wrong):
            mistakes[k] += [i] * mistake
            for t in known:
                kept.coefficients[k][t] += steps[k]
        if any(wrong):
            budget(kept, X[i], steps, bool(known))
        return any(wrong)

    _, _, per_pass, converged = _passes(visit, rates, order, False, max_iter, None)
    return kept, mistakes, per_pass, converged


def forgetron(kernel: Kernel, B: int, eta0: float = 1) -> Budget:
    """At most B rows: the oldest goes, after all have shrunk (Dekel, Shalev-Shwartz, Singer 2008, self-tuned).

    They shrink by the largest φ <= 1 with Ψ(φσ, φμ) + Q <= 15/32 M: σ is the size of the oldest coefficient, μ = y f(z)
    of its row, M counts the rows that were mistaken, Q adds up what Ψ(σ, μ) = σ² + 2σ - 2σμ was. The paper has
    K(x, x) <= 1: other kernels are divided by the largest K(x, x) of a mistake. Problems that share rows have a Q each.
    """
    Q: dict[int, float] = {}
    M, largest = 0, 0.0

    def take_in(kept: Kept, x: Vector, steps: Vector, known: bool) -> None:
        nonlocal M, largest
        M, largest = M + 1, max(largest, kernel(x, x))
        if not known:
            kept.append(x, steps)
        if len(kept.rows) > B:
            for k, a in enumerate(kept.coefficients):
                spent = Q.get(k, 0.0)
                sigma, score = abs(a[0]) / eta0, kept.score(k, kernel, kept.rows[0])
                mu = (-score if a[0] < 0 else score) / (eta0 * (largest or 1))
                p, q, c = sigma * sigma - 2 * sigma * mu, 2 * sigma, spent - 15 / 32 * M
                phi = 1.0 if p + q + c <= 0 else -2 * c / (q + math.sqrt(max(0.0, q * q - 4 * p * c)))
                Q[k] = spent + phi * (p * phi + q)
                a[:] = [phi * value for value in a]
            kept.drop(0)

    return take_in


def projectron(kernel: Kernel, B: int, in_span: float = 1e-4) -> Budget:
    """At most B rows: a mistake near their span, or one too many, is projected onto them (Orabona et al. 2009).

    The projection has the coefficients K⁻¹ k; the inverse grows with each row that is taken in. The squared distance
    from the span is K(x, x) - k · K⁻¹ k.
    """
    inverse: list[list[float]] = []

    def take_in(kept: Kept, x: Vector, steps: Vector, known: bool) -> None:
        if known:
            return
        k, square = [kernel(z, x) for z in kept.rows], kernel(x, x)
        projection = [sum((row[t] * p for row, p in zip(inverse, k)), 0.0) for t in range(len(k))]
        distance = square
        for p, q in zip(k, projection):
            distance -= p * q
        if len(k) == B or not distance > in_span * square:
            for a, step in zip(kept.coefficients, steps):
                a[:] = [value + step * p for value, p in zip(a, projection)]
            return
        for row, p in zip(inverse, projection):
            row[:] = [r + p / distance * q for r, q in zip(row, projection)] + [-p / distance]
        inverse.append([-p / distance for p in projection] + [1 / distance])
        kept.append(x, steps)

    return take_in


def random_budget(B: int, victim: Callable[[int, int], int]) -> Budget:
    """At most B rows: ``victim(mistaken rows so far, B)`` says which goes (Cavallanti et al. 2007)."""
    mistaken = 0

    def take_in(kept: Kept, x: Vector, steps: Vector, known: bool) -> None:
        nonlocal mistaken
        if not known:
            if len(kept.rows) == B:
                kept.drop(victim(mistaken, B))
            kept.append(x, steps)
        mistaken += 1

    return take_in


# ---- Geometry ----
def distance(w: Vector, b: float, x: Vector) -> float:
    """From x to the hyperplane: |w · x + b| / ‖w‖ (003 Lemma 1.2; 001 "Computing the Margin")."""
    return abs(dot(w, x) + b) / math.hypot(*w)


def distance_to_origin(w: Vector, b: float) -> float:
    """|b| / ‖w‖, by which the offset of 004 §3 shifts the hyperplane."""
    return distance(w, b, zeros(w))


def foot_point(w: Vector, b: float, x: Vector) -> list[float]:
    """The point of the hyperplane nearest to x (000 eq. 3.16, here with an intercept)."""
    return step(x, w, -(dot(w, x) + b) / dot(w, w))


def functional_margin(X: Rows, y: Labels, w: Vector, b: float = 0) -> float:
    """γ = min y(w · x + b) (000 eq. 3.11): w, b separates if it is above 0. It grows with the length of w."""
    return min(label * (dot(w, x) + b) for x, label in zip(X, y, strict=True))


def margin(X: Rows, y: Labels, w: Vector, b: float = 0) -> float:
    """γ / ‖w‖ (000 eq. 3.21), the library's margin: a distance, negative if w, b does not separate."""
    return functional_margin(X, y, w, b) / math.hypot(*w)


def margin_if_separating(X: Rows, y: Labels, w: Vector, b: float = 0) -> float:
    """002 eq. 4.8: -∞ if not separating. It lacks 1 / ‖w‖, so that its supremum, eq. 4.9, is infinite."""
    return margin(X, y, w, b) if functional_margin(X, y, w, b) > 0 else -math.inf


def unsigned_margin(X: Rows, w: Vector, b: float = 0) -> float:
    """003 eq. 16: the distance of the nearest point. It is positive even if w, b separates nothing."""
    return min(distance(w, b, x) for x in X)


def canonical_form(X: Rows, y: Labels, w: Vector, b: float = 0) -> tuple[list[float], float]:
    """003 eq. 18: the same hyperplane with min y(w · x + b) = 1."""
    gamma = _separating(X, y, w, b)
    return [p / gamma for p in w], b / gamma


def _separating(X: Rows, y: Labels, w: Vector, b: float = 0) -> float:
    gamma = functional_margin(X, y, w, b)
    if gamma <= 0:
        raise ValueError(f"w, b must separate the data, but min y(w·x + b) is {gamma}")
    return gamma


# ---- How many mistakes at most: w, b and θ are any separator, of any length ----
def bound_through_origin(X: Rows, y: Labels, w: Vector) -> float:
    """(R / margin)² = R² ‖w‖² / γ², from w = 0 without intercept (000 eq. 3.15; 002; 004).

    In 000, eq. 3.14 has R² for R, "inversely proportional" is to the square, the stream needs y w · x >= γ.
    """
    return max(dot(x, x) for x in X) * dot(w, w) / _separating(X, y, w) ** 2


def bound_with_intercept(X: Rows, y: Labels, w: Vector, b: float) -> float:
    """(R² + 1) / margin², with the margin of (b, w) among the points (1, x): what 001 should say.

    Its (R / margin)² is false with an intercept: x = -0.01 (-), +0.01 (+) gives 1 and costs 2 mistakes. This
    is 003 eq. 15 (the length of θ̃ cancels): slow if τ/ρ is *large*, not small.
    """
    return bound_through_origin(dummy_feature(X), y, [b, *w])


def bounds_with_margin(X: Rows, y: Labels, w: Vector, beta: float) -> tuple[float, float]:
    """At most (1 + 2β)(R / γ)² updates, and the margin then reached: at least β / (1 + 2β) · (r / R)² · γ.

    Of a `perceptron` through the origin, from 0, with steps of 1 and ``margin`` β; γ is the margin of w, R and r the
    longest and the shortest ‖x‖. Lemma 2 becomes ‖w'‖² = ‖w‖² + 2 y w · x + ‖x‖² <= ‖w‖² + (1 + 2β)R², so that at the
    end ‖w‖ <= (1 + 2β)R² / γ, while y w · x > β r² for every row. For rows of one length that is nearly γ / 2.
    """
    lengths2, gamma = [dot(x, x) for x in X], margin(X, y, w)
    least = beta / (1 + 2 * beta) * min(lengths2) / max(lengths2) * gamma
    return (1 + 2 * beta) * bound_through_origin(X, y, w), least


def bound_from(X: Rows, y: Labels, theta: Vector, first_guess: Vector) -> float:
    """003 eq. 14 solved for m, from any first guess (from 0: eq. 15). With eta0, give first_guess / eta0."""
    rho, tau2, T2 = _separating(X, y, theta), max(dot(x, x) for x in X), dot(theta, theta)
    a, start2 = dot(first_guess, theta), dot(first_guess, first_guess)
    under_root = T2 * (T2 * tau2**2 - 4 * a * rho * tau2 + 4 * rho**2 * start2)  # below 0 only by rounding
    return (T2 * tau2 - 2 * a * rho + math.sqrt(max(0, under_root))) / (2 * rho**2)


def lemma_sides(X: Rows, y: Labels, theta: Vector, guesses: Rows) -> list[tuple[float, float, float, float]]:
    """Both sides of θ · θₖ >= θ · θ₀ + k ρ, then of ‖θₖ‖² <= ‖θ₀‖² + k τ², for the guesses θ₀, θ₁, ...

    000 Lemmas 1 and 2; 002 (1) and (2); 003 eq. 10 and 13; 004 Conclusions 1 and 2.
    """
    rho, tau2 = _separating(X, y, theta), max(dot(x, x) for x in X)
    aligned, start2 = dot(theta, guesses[0]), dot(guesses[0], guesses[0])
    return [(dot(theta, v), aligned + k * rho, dot(v, v), start2 + k * tau2) for k, v in enumerate(guesses)]


# ---- The soft margin: beyond the notes ----
def dual_descent(
    X: Rows, y: Labels, cost: Vector, weights: Vector, b: float = 0, *, bias: float = 0, order: Iterable[int]
) -> tuple[list[float], list[float], float]:
    """Visit rows once in dual coordinate descent (Hsieh et al., ICML 2008, Algorithm 1): the weights a, w and b.

    Row i is given the weight 0 ≤ a ≤ cost that makes y(w · x + b) = 1, or the bound next to it; w = Σ a y x. With
    bias s² there is a constant feature s, whose part of the score is b. Two rows, each at margin 1 when visited:

    >>> dual_descent([(1, 0), (0, 2)], [+1, -1], cost=[2, 2], weights=[0, 0], order=[0, 1])
    ([1.0, 0.25], [1.0, -0.5], 0.0)
    """
    a, w = list(weights), [sum(t * s * x[j] for t, s, x in zip(weights, y, X)) for j in range(len(X[0]))]
    for i in order:
        wanted = a[i] + (1 - y[i] * (dot(w, X[i]) + b)) / (dot(X[i], X[i]) + bias)
        change = y[i] * (min(max(wanted, 0), cost[i]) - a[i])
        a[i] += y[i] * change
        w, b = step(w, X[i], change), b + bias * change
    return a, w, b
