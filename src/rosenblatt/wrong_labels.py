"""How many labels are wrong at least and at most, if a hyperplane separates the true ones; and which are suspicious.

Both numbers are proved. At least: rows that no hyperplane separates have one wrong label among them, so disjoint sets
of such rows (witnesses) have one each. At most: a hyperplane that is right on all rows but some shows that these are
enough. Between them lies an NP-hard problem. The ranking is a heuristic, and says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs, margins, row_forms
from rosenblatt.certificates import Data, Inseparable, Verification
from rosenblatt.checking import canonical, certificate_words, row_checks, verification
from rosenblatt.checking.canonical import Signs
from rosenblatt.deciding.questions import Choices, Question
from rosenblatt.errors import InputError, counted
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray, Limit, Rows
from rosenblatt.proving import dyadics, enclosures
from rosenblatt.separability import find_witness
from rosenblatt.solving import soft_margin
from rosenblatt.solving.soft_margin import Problem

_LIMITS: dict[str, Limit] = {
    "fit_intercept": inputs.flag(),
    "max_witnesses": inputs.integer(0),
    "time_limit": inputs.number(0, none=True),
    "n_jobs": Limit(choices=(None,), kind=Integral),
}
# Values of C, in units of 1 / the mean squared length of a row:
_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the hyperplanes that are tried
_JUDGE = 10.0  # of the one whose slack ranks the rows: the best of these on the sets that docs/margins.md measures
_TRIMMED = (1.0, 100.0)  # of those that are tried after leaving out the errors of the best so far
_TRIMS = 10  # how often that is done, at most
_PUT_BACK = 100_000_000  # numbers times errors, up to which each error is tried beside all rows that are right
_GAP = 1e-3  # of all these: a count of errors needs no more
_SAMPLED = 8  # rows for each feature, of the first sample in which a witness is looked for
_GROWTH = 4
_FAILURES = 10  # errors in a row around which there is no witness, before the rest is looked at together


@dataclass(frozen=True, eq=False, repr=False)
class Suspects:
    """How many labels are wrong at least and at most, the proofs of both, and a ranking of the rows.

    "Wrong" means: different from labels that some hyperplane separates. Rows are named by their positions in X, from 0,
    also those of a frame with an index of its own.

    Attributes
    ----------
    data : Data
        What was asked about: its size, labels and digest.
    fit_intercept : bool
        Whether the hyperplane may have an offset.
    witnesses : tuple of Inseparable
        Each of rows that no other has, and that no hyperplane separates: one label of each is wrong, at least.
    hyperplane : Hyperplane
        The best that was found.
    errors : array
        The rows that are not strictly on its right side: if these labels are wrong, no others need be.
    ranking : array of shape (n_rows,)
        All rows, the most suspicious first: a heuristic.
    scores : array of shape (n_rows,)
        How suspicious each row is, in the order of the rows; 0 if not at all.
    complete : bool
        Whether the search for witnesses ended by itself.
    """

    data: Data
    fit_intercept: bool
    witnesses: tuple[Inseparable, ...]
    hyperplane: Hyperplane
    errors: IntArray
    ranking: IntArray
    scores: FloatArray
    complete: bool

    @property
    def at_least(self) -> int:
        """So many labels are wrong at least: proved by the witnesses."""
        return len(self.witnesses)

    @property
    def at_most(self) -> int:
        """So many wrong labels are enough to explain the data: proved by the hyperplane."""
        return len(self.errors)

    def verify(self, X: Any, y: Any) -> Verification:
        """Check both numbers against the data: truthy if true, and `.why` in words. No solver is asked."""
        named = [row for witness in self.witnesses for row in witness.points.tolist()]
        if len(set(named)) < len(named):
            return Verification(False, ("two witnesses share a row",))
        for witness in self.witnesses:
            checked = witness.verify(X, y)
            if not checked:
                return checked
        rows = canonical.exact_rows(X)
        sides = canonical.signs(inputs.labels(y, len(rows)), self.data.negative, self.data.positive)
        if rows.shape != (self.data.n_rows, self.data.n_features) or canonical.digest(rows, sides) != self.data.digest:
            return Verification(False, (verification.ANOTHER,))
        if not self.fit_intercept and self.hyperplane.b != 0:
            return Verification(False, ("the hyperplane does not pass through the origin",))
        sides[self.errors] = 0
        complaints = _wrong_beyond(rows, sides, self.hyperplane)
        found = "1 witness" if self.at_least == 1 else f"{self.at_least:,} disjoint witnesses"
        what = f"{found}, and a hyperplane that is right on all but {counted(self.at_most, 'row')}"
        return Verification(not complaints, tuple(complaints), what)

    def __str__(self) -> str:
        least, most = self.at_least, self.at_most
        if most == 0:
            near = self.ranking[self.scores[self.ranking] > 0]
            lines = [f"No label need be wrong: a hyperplane separates all {self.data.n_rows:,} rows."]
            lines += [f"The rows nearest to it (a heuristic): {_shown(near)}."] if len(near) else []
            return certificate_words.wrapped(lines)
        number = f"exactly {least:,}" if least == most else f"at least {least:,} and at most {most:,}"
        lines = [
            f"If the true labels can be separated by a hyperplane, {number} of {self.data.n_rows:,} labels "
            f"{'is' if most == 1 else 'are'} wrong."
        ]
        if least:
            size = max(len(witness.points) for witness in self.witnesses)
            sets = f"{least:,} disjoint sets of at most {size} rows, each of which"
            lines.append(
                f"At least: {f'{size} rows that' if least == 1 else sets} no hyperplane separates."
                + ("" if self.complete or least == most else " The search was ended early: there may be more.")
            )
        elif not self.complete:
            lines.append("At least: the search for rows that no hyperplane separates was ended early.")
        lines.append(f"At most: a hyperplane is strictly right on the other {self.data.n_rows - most:,} rows.")
        lines.append("Both are proved; check them with verify(X, y).")
        lines.append(f"The most suspicious rows (a heuristic): {_shown(self.ranking[: max(most, 1)])}.")
        return certificate_words.wrapped(lines)

    def __repr__(self) -> str:
        return f"<Suspects: {self.at_least:,} to {self.at_most:,} wrong labels of {self.data.n_rows:,}>"


def suspects(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    max_witnesses: int = 200,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> Suspects:
    """Bound the number of wrong labels of two classes, and rank the rows by how suspicious they are.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The rows.
    y : array of shape (n_rows,)
        The labels, of two classes.
    fit_intercept : bool, default True
        Whether the hyperplane may have an offset, or must pass through the origin.
    max_witnesses : int, default 200
        End the search for witnesses at so many; the lower bound is then at most that.
    time_limit : float, optional
        Seconds after which the search ends, with the bounds reached.
    n_jobs : int, optional
        Threads; -1 for all processors.

    Returns
    -------
    Suspects

    Examples
    --------
    >>> from rosenblatt import suspects
    >>> found = suspects([[1], [2], [3], [4], [5], [6], [7]], [0, 0, 0, 1, 0, 1, 1])
    >>> found.at_least, found.at_most, found.witnesses[0].points
    (1, 1, array([0, 3, 4]))
    """
    given = {"fit_intercept": fit_intercept, "max_witnesses": max_witnesses, "time_limit": time_limit, "n_jobs": n_jobs}
    inputs.check_parameters("suspects", given, _LIMITS)
    rows = row_forms.in_order(canonical.exact_rows(X))
    classes, codes = inputs.encode(inputs.labels(y, len(rows)))
    if len(classes) != 2:
        if len(classes) == 1:
            raise InputError(f"suspects compares two classes, and all labels of y are {classes.tolist()[0]!r}")
        raise InputError(
            f"suspects compares two classes, and y has {len(classes):,}: ask for one against the rest, "
            "suspects(X, y == label), or for the rows of two"
        )
    choices = Choices(bool(fit_intercept), 1.0, False, time_limit, inputs.threads(n_jobs)).started()
    sides = np.where(codes == 1, 1, -1).astype(np.int8)
    negative, positive = classes.tolist()
    digest = canonical.digest(rows, sides, threads=choices.threads)
    question = Question(rows, sides, Data(*rows.shape, (negative,), (positive,), digest), choices)
    plane, errors, scores = _best_hyperplane(question)
    witnesses, complete = _peel(question, errors[np.argsort(-scores[errors], kind="stable")], int(max_witnesses))
    for witness in witnesses:
        scores[witness.points] += np.asarray([float(weight) for weight in witness.weights])
    ranking = np.argsort(-scores, kind="stable")
    return Suspects(question.data, choices.intercept, tuple(witnesses), plane, errors, ranking, scores, complete)


# At most: a hyperplane with few errors --------------------------------------------------------------------------------


def _best_hyperplane(question: Question) -> tuple[Hyperplane, IntArray, FloatArray]:
    """The hyperplane with the fewest errors that was found, these, and how suspicious each row is.

    That is its slack for a soft margin, and 1 more if the best hyperplane by then errs on it.
    """
    choices, y = question.choices, question.y.astype(np.float64)
    rows, scales = _comparable(question.rows)
    unit = 1.0 / (_mean_square(rows, choices.intercept) or 1.0)
    problem = Problem(rows, y, np.full(len(y), unit), "free" if choices.intercept else "none")
    solver: dict[str, Any] = {"gap": _GAP, "deadline": choices.deadline, "threads": choices.threads}
    path = margins.soft_margin_path_solutions(problem, _COSTS, **solver)
    best = min((_fewest_errors(question, found.w * scales, found.b) for found in path), key=_count)
    judge = path[_COSTS.index(_JUDGE)]
    slack = soft_margin.slack(problem, judge.w, judge.b)
    for _ in range(_TRIMS):
        if _count(best) == 0 or choices.late():
            break
        cost = problem.cost.copy()
        cost[best[1]] = 0.0
        tried = [best]
        for C in _TRIMMED:
            found = margins.solve_soft_margin(replace(problem, cost=C * cost), **solver)
            tried.append(_fewest_errors(question, found.w * scales, found.b))
        before, best = _count(best), min(tried, key=_count)
        if _count(best) == before:
            break
    slack[best[1]] += 1.0
    if question.size * _count(best) <= _PUT_BACK:
        best = _put_back(question, best, slack)
    return *best, slack


def _put_back(question: Question, best: tuple[Hyperplane, IntArray], slack: FloatArray) -> tuple[Hyperplane, IntArray]:
    """Errors that some hyperplane gets right along with all rows that are right already are none."""
    for row in best[1][np.argsort(slack[best[1]], kind="stable")].tolist():
        if question.choices.late():
            break
        if row in best[1]:
            right = np.ones(len(question.rows), bool)
            right[best[1]] = False
            right[row] = True
            part = _part(question, np.flatnonzero(right))
            found = None if _one_sided(part) else part.supply()
            if found is not None and found.w is not None and found.lower > 0:
                best = min(best, _fewest_errors(question, found.w, found.b), key=_count)
    return best


def _count(candidate: tuple[Hyperplane, IntArray]) -> int:
    return len(candidate[1])


def _fewest_errors(question: Question, w: FloatArray, b: float) -> tuple[Hyperplane, IntArray]:
    """The hyperplane with normal w that has the fewest errors, and these; b is kept if no other offset is better."""
    rows, y = question.rows, question.y
    if not w.any() or not (np.isfinite(w).all() and math.isfinite(b)):  # no direction is better than another
        w, b = np.eye(1, len(w))[0], 0.0
    best = errors_of(rows, y, w, b)
    if question.choices.intercept:
        other = _best_threshold(soft_margin.scores(rows, w), y)
        errors = errors_of(rows, y, w, other)
        if len(errors) < len(best):
            b, best = other, errors
    return Hyperplane(w, b), best


def _best_threshold(scores: FloatArray, y: Signs) -> float:
    """The offset with the fewest errors: half way between two neighbouring scores, or beyond all."""
    order = np.argsort(scores, kind="stable")
    ranked, positive = scores[order], y[order] > 0
    errors = np.append(0, np.cumsum(np.where(positive, 1, -1))) + np.count_nonzero(~positive)
    between = np.concatenate([[True], ranked[1:] > ranked[:-1], [True]])
    best = int(np.argmin(np.where(between, errors, len(y) + 1)))
    ends = np.concatenate([[ranked[0] - 1.0], ranked, [ranked[-1] + 1.0]])
    return -float(0.5 * ends[best] + 0.5 * ends[best + 1])


def errors_of(rows: Rows, y: Signs, w: FloatArray, b: float) -> IntArray:
    """The rows with y(w · x + b) <= 0, exactly: floats with error bounds, and integers where these leave it open."""
    doubtful, wrong = [], []
    for part, scores, bound in enclosures.scores(rows, w, b):
        with np.errstate(all="ignore"):
            agreements = scores * y[part]
            wrong.append(part.start + np.flatnonzero(agreements < -bound))
            doubtful.append(part.start + np.flatnonzero(~(np.abs(agreements) > bound)))
    whole, _ = dyadics.dyadic([*w.tolist(), b])
    weights = {j: v for j, v in enumerate(whole) if v}
    exactly = [
        i
        for i in np.concatenate(doubtful).tolist()
        if dyadics.dot(dyadics.row_point(rows, i, int(y[i]), constant=True).values, weights) <= 0
    ]
    return np.sort(np.concatenate([*wrong, np.asarray(exactly, np.int64)])).astype(np.int64)


def _wrong_beyond(rows: Rows, sides: Signs, plane: Hyperplane) -> list[str]:
    """What is wrong with the claim that all rows with a side are strictly on theirs."""
    zero = Fraction(0)
    check = row_checks.PlaneCheck(
        (plane.w, Fraction(plane.b)), zero, zero, "the hyperplane", augmented=False, strict=True
    )
    d = rows.shape[1]
    with np.errstate(all="ignore"):
        for part, block in canonical.blocks(rows):
            norms = np.sqrt(block.squared_norms() + d * row_checks.TINY) * (1 + 2 * (d + 8) * row_checks.UNIT)
            check.look_at(block, sides[part], block.products(check.w), norms, part.start)
            if check.failure is not None:
                break
    return check.complaints()


def _comparable(rows: Rows) -> tuple[Rows, FloatArray]:
    """Dense features of one size, by powers of two: no verdict changes, and no feature drowns the others."""
    scales = np.full(rows.shape[1], 1 / row_forms.unit(rows))  # so that squares stay in range
    if scales[0] != 1:
        rows = row_forms.scaled(rows, scales)
    if rows.dense is None:
        return rows, scales
    spread = np.asarray(rows.dense.std(axis=0, dtype=np.float64))
    exponents = np.where(spread > 0, np.frexp(spread)[1], 0)
    own = np.ldexp(1.0, -np.clip(exponents, -500, 500))
    return row_forms.scaled(rows, own), own * scales


def _mean_square(rows: Rows, intercept: bool) -> float:
    """The mean squared length of a row, from the centre if there is an offset."""
    if rows.dense is not None:
        spread = rows.dense.var(axis=0, dtype=np.float64) if intercept else np.mean(np.square(rows.dense), axis=0)
        return float(spread.sum())
    return float(rows.sparse.multiply(rows.sparse).sum()) / len(rows)


# At least: disjoint witnesses -----------------------------------------------------------------------------------------


def _peel(question: Question, errors: IntArray, most: int) -> tuple[list[Inseparable], bool]:
    """Disjoint witnesses, and whether the search ended by itself.

    First one around each error of the hyperplane: itself and rows that the hyperplane gets right, so that each witness
    uses up one error only; in samples that grow until one has a witness. Then whatever is left. In general position a
    witness has d + 2 rows, so there are at most n / (d + 2).
    """
    free, clean = np.ones((2, len(question.rows)), bool)
    clean[errors] = False
    random = np.random.default_rng(0)
    size, failures = _SAMPLED * (question.rows.shape[1] + 2), 0
    found: list[Inseparable] = []
    seeds = errors.tolist()
    while len(found) < most and not question.choices.late():
        seed = seeds.pop(0) if seeds and failures < _FAILURES else None
        left = np.flatnonzero(free if seed is None else free & clean)
        sampled = seed is not None and size < len(left)
        ids = random.choice(left, size, replace=False) if sampled else left
        witness, known = _among(question, ids if seed is None else np.append(ids, seed))
        if witness is not None:
            found.append(witness)
            free[witness.points] = False
            failures = 0
        elif sampled and seed is not None:
            size *= _GROWTH
            seeds.insert(0, seed)
        elif seed is not None:
            failures += 1
        else:
            return found, known and not question.choices.late()
    return found, False


def _among(question: Question, ids: IntArray) -> tuple[Inseparable | None, bool]:
    """A witness among some rows, with their numbers in the data; and whether there is none if none was found."""
    part = _part(question, np.sort(ids))
    return (None, True) if len(ids) == 0 or _one_sided(part) else find_witness(part)


def _one_sided(question: Question) -> bool:
    """Whether an offset alone separates the rows, because they have one label."""
    return question.choices.intercept and abs(int(question.y.sum(dtype=np.int64))) == len(question.y)


def _part(question: Question, ids: IntArray) -> Question:
    """The same question about some rows, with their numbers in the data."""
    sides = np.zeros_like(question.sides)
    sides[ids] = question.sides[ids]
    return replace(question, sides=sides)


def _shown(rows: NDArray[Any]) -> str:
    shown = ", ".join(map(str, rows[:12].tolist()))
    return shown if len(rows) <= 12 else f"{shown} and {len(rows) - 12:,} more"
