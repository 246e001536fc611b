"""The convergence proof as data: both sides of its two lemmas after each mistake of a trace, beside a certificate.

With an intercept all of it lives in the space of the points (x, 1) and the vectors (w, b); learned jointly, in that of
Kesler's vectors, where a mistake adds x to one block and takes it from another. There w* is the hyperplane of the
certificate at unit length, γ its margin, R the length of the longest point, and after k mistakes

    w* · w_k  >=  w* · w_0 + eta0 γ k          (000 Lemma 1, 003 eq. 10)
    ‖w_k‖²    <=  ‖w_0‖² + eta0² R² k          (000 Lemma 2, 003 eq. 13)

so that the cosine between the two is squeezed between their quotient and 1, and k cannot grow beyond the bound. With
the parameter ``margin`` β it is (1 + 2β) R² in place of R²: a row may be learned from up to y · score = β eta0 R².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.certificate_table import CertificateTable
from rosenblatt.certificates import JointSeparable, Separable
from rosenblatt.checking import canonical, joint_claims, mistake_bounds, rounding
from rosenblatt.checking.statements import Certificate
from rosenblatt.errors import InputError, counted
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.tracing import steps as trace_steps

if TYPE_CHECKING:
    from rosenblatt.traces import Trace

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """Both lemmas of the convergence theorem after 0, 1, 2, ... mistakes.

    Attributes
    ----------
    k : array
        How many mistakes: 0, 1, 2, ...
    projection, projection_bound : array
        w* · w_k, and what it is not below: w* · w_0 + eta0 γ k.
    squared_norm, squared_norm_bound : array
        ‖w_k‖², and what it is not above: ‖w_0‖² + (1 + 2 margin) eta0² R² k, with the parameter ``margin``.
    cosine : array
        Of the angle between w* and w_k; NaN while w_k is 0.
    cosine_bound : array
        What it is not below: projection_bound / √squared_norm_bound; NaN where that is 0 / 0.
    bound : int, float or None
        The most mistakes there can be, from this first guess. None with sample or class weights, for which the lemmas
        hold with the sum of the steps in place of eta0 k, and that of their squares in place of eta0² k.
    margin, radius : float
        γ and R: with an intercept, of the points (x, 1).
    direction : array
        w*, of unit length; with an intercept its last number is that of b (learned jointly, of each class).
    """

    k: IntArray
    projection: FloatArray
    projection_bound: FloatArray
    squared_norm: FloatArray
    squared_norm_bound: FloatArray
    cosine: FloatArray
    cosine_bound: FloatArray
    bound: int | float | None
    margin: float
    radius: float
    direction: FloatArray

    @property
    def n_updates(self) -> int:
        """Mistakes in all."""
        return len(self.k) - 1

    @property
    def slack(self) -> FloatArray:
        """What rounding can make of the sums, relatively: float64, d products and k additions."""
        return np.asarray(16 * _EPS * (self.direction.size + self.k + 8), np.float64)

    @property
    def holds(self) -> bool:
        """Whether both lemmas, and the bound, hold after every mistake, up to the rounding of float64."""
        size = np.sqrt(self.squared_norm_bound) + np.abs(self.projection_bound)
        first = self.projection >= self.projection_bound - self.slack * size
        second = self.squared_norm <= self.squared_norm_bound * (1 + self.slack)
        return bool(first.all() and second.all()) and (self.bound is None or self.n_updates <= self.bound)

    def __str__(self) -> str:
        lines = [f"{'k':>8}  {'w*·w_k':>10} >= {'bound':<10}  {'‖w_k‖²':>10} <= {'bound':<10}  {'cosine':>7}"]
        n = len(self.k)
        shown = range(n) if n <= 16 else sorted({*range(11), *np.linspace(10, n - 1, 6).astype(int).tolist()})
        for k in shown:
            cosine = "" if math.isnan(self.cosine[k]) else f"{self.cosine[k]:.4f}"
            lines.append(
                f"{k:>8,}  {self.projection[k]:>10.4g} >= {self.projection_bound[k]:<10.4g}  "
                f"{self.squared_norm[k]:>10.4g} <= {self.squared_norm_bound[k]:<10.4g}  {cosine:>7}".rstrip()
            )
        made = counted(self.n_updates, "mistake")
        if self.bound is None:
            return "\n".join([*lines, f"{made}; with weights no bound is stated."])
        return "\n".join([*lines, f"{made}; there can be at most {mistake_bounds.count(self.bound)}."])

    def __repr__(self) -> str:
        return f"<Proof: {counted(self.n_updates, 'mistake')}, bound {self.bound}, holds={self.holds}>"


def proof(trace: Trace, certificate: Any, problem: int) -> Proof:
    """The lemmas along one problem of a trace."""
    if trace.support is not None:
        raise InputError("certify knows no kernel, so there is no proof beside the trace of a kernel perceptron")
    found = _for_problem(trace, certificate, problem)
    _require_same_data(trace, found, problem)
    fit_intercept = trace.fit_intercept
    if found.fit_intercept != fit_intercept:
        raise InputError(
            f"the certificate is for fit_intercept={found.fit_intercept}, and the trace was made with "
            f"{fit_intercept}: certify(X, y, fit_intercept={fit_intercept})"
        )
    if isinstance(found, JointSeparable):
        direction, margin, radius2 = _joint_direction(found)
    else:
        direction, margin, radius2 = _direction(found)
    projection, squared_norm = _along(trace, problem, direction)
    sizes = np.abs(trace.step[trace.updates(problem)])
    sums, squares, weighted = _step_sums(sizes, float(trace.parameters["eta0"]))
    projection_bound = projection[0] + margin * sums
    squared_norm_bound = squared_norm[0] + (1 + 2 * trace.margin) * radius2 * squares
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = projection / np.sqrt(squared_norm)
        cosine_bound = projection_bound / np.sqrt(squared_norm_bound)
    return Proof(
        k=np.arange(len(projection)),
        projection=projection,
        projection_bound=projection_bound,
        squared_norm=squared_norm,
        squared_norm_bound=squared_norm_bound,
        cosine=cosine,
        cosine_bound=cosine_bound,
        bound=None if weighted or _has_weights(trace) else _bound(trace, found, problem),
        margin=margin,
        radius=math.sqrt(radius2),
        direction=direction,
    )


def _for_problem(trace: Trace, certificate: Any, problem: int) -> Separable | JointSeparable:
    if isinstance(certificate, CertificateTable):
        certificate = certificate.joint if trace.joint else certificate.get(trace.classes_.tolist()[problem])
    if isinstance(certificate, JointSeparable if trace.joint else Separable):
        assert isinstance(certificate, (Separable, JointSeparable))
        return certificate
    more = ", multi_class='joint'" if trace.joint else ""
    wanted = "JointSeparable" if trace.joint else "Separable"
    if certificate is None:
        raise InputError(
            f"a proof needs a certificate: trace.proof(certify(X, y, fit_intercept=...{more})), or "
            "trace(..., certificate=)"
        )
    if isinstance(certificate, Certificate) and certificate.separable is not True:
        raise InputError(
            f"only separable data has a convergence proof, and this certificate is {type(certificate).__name__}"
        )
    raise InputError(f"the certificate must be {wanted}, as certify(X, y{more}) gives it; got {certificate!r:.80}")


def _require_same_data(trace: Trace, certificate: Separable | JointSeparable, problem: int) -> None:
    rows, codes = trace._log.examples.rows, trace._log.examples.codes
    if isinstance(certificate, JointSeparable):
        same = joint_claims.digest(rows, codes) == certificate.data.digest
    else:
        sides = trace_steps.side_of(trace._log, problem, np.arange(len(rows))).astype(np.int8)
        same = canonical.digest(rows, sides) == certificate.data.digest
    if not same:
        raise InputError("the certificate speaks of other data, or of other sides: certify the rows that were traced")


# w*, γ and R² ---------------------------------------------------------------------------------------------------------


def _direction(certificate: Separable) -> tuple[FloatArray, float, float]:
    """The hyperplane with the best margin that the certificate proves where the perceptron works."""
    radius2 = Fraction(certificate.radius) ** 2
    if not certificate.fit_intercept:
        margin = certificate.margins["origin"]
        w, _ = margin.plane()
        return _unit(_floats(w)), rounding.root_down(margin.lower2), rounding.up(radius2)
    best: tuple[Fraction, Any, Fraction] | None = None
    for margin in certificate.margins.values():
        w, b = margin.plane()
        own = margin.lower2
        if margin.kind != "augmented":
            own = mistake_bounds.augmented_margin2(w, b, own)
        if best is None or own > best[0]:
            best = own, w, b
    assert best is not None  # a certificate has the margin it was asked for
    _, w, b = best
    whole = np.append(w, float(b)) if isinstance(w, np.ndarray) else [*w, b]
    return _unit(_floats(whole)), rounding.root_down(best[0]), rounding.up(radius2 + 1)


def _joint_direction(certificate: JointSeparable) -> tuple[FloatArray, float, float]:
    w, _ = certificate.bounds.plane()
    radius2 = Fraction(certificate.radius) ** 2 + int(certificate.fit_intercept)
    return _unit(_floats(w)), rounding.root_down(certificate.bounds.lower2), rounding.up(2 * radius2)


def _floats(w: Any) -> FloatArray:
    """Floats; fractions may be of any size, so they are divided by the largest of them first."""
    if isinstance(w, np.ndarray):
        return np.asarray(w / np.abs(w).max())
    largest = max(abs(value) for value in w)
    return np.asarray([float(value / largest) for value in w])


def _unit(w: FloatArray) -> FloatArray:
    return np.asarray(w / np.linalg.norm(w))


# Along the trace ------------------------------------------------------------------------------------------------------


def _along(trace: Trace, problem: int, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
    """w* · w_k and ‖w_k‖² for the first guess and after each mistake."""
    replay = trace._replay(problem)
    projection, squared_norm = np.empty(len(replay) + 1), np.empty(len(replay) + 1)
    intercept = trace.fit_intercept
    for places, w, b in replay.path(0, len(replay)):
        vectors = np.concatenate([w, b[:, :, np.newaxis]], axis=2) if intercept else w
        flat = vectors.reshape(len(vectors), -1)
        projection[places] = flat @ direction
        squared_norm[places] = np.einsum("ij,ij->i", flat, flat)
    return projection, squared_norm


def _step_sums(sizes: FloatArray, eta0: float) -> tuple[FloatArray, FloatArray, bool]:
    """The sums of the steps and of their squares so far; whether they differ."""
    if (sizes == eta0).all():
        k = np.arange(len(sizes) + 1, dtype=np.float64)
        return eta0 * k, eta0 * eta0 * k, False
    return np.append(0.0, np.cumsum(sizes)), np.append(0.0, np.cumsum(sizes * sizes)), True


def _has_weights(trace: Trace) -> bool:
    examples = trace._log.examples
    counted_rows = examples.sample_weight is None or bool((examples.sample_weight == 1).all())
    return not (counted_rows and bool((examples.class_weight == 1).all()))


def _bound(trace: Trace, certificate: Separable | JointSeparable, problem: int) -> int | float:
    w, b = trace.weights(0, problem)
    margin = trace.margin
    if not (np.any(w) or np.any(b) or margin):
        return certificate.mistake_bound
    eta0 = float(trace.parameters["eta0"])
    if isinstance(certificate, Separable):
        return certificate.mistake_bound_from(w, b, eta0, margin)
    plane, _ = certificate.bounds.plane()
    start = np.concatenate([w, b[:, np.newaxis]], axis=1) if certificate.fit_intercept else w
    guess = [Fraction(value) / Fraction(eta0) for value in start.reshape(-1).tolist()]
    radius2 = (1 + 2 * Fraction(margin)) * 2 * (Fraction(certificate.radius) ** 2 + int(certificate.fit_intercept))
    theta = [Fraction(value) for value in (plane.tolist() if isinstance(plane, np.ndarray) else plane)]
    return mistake_bounds.from_first_guess(radius2, theta, certificate.bounds.lower2, guess)
