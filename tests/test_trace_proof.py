"""Beside a certificate, both lemmas of the convergence proof hold after every mistake of every trace."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import TIES, noisy, separable, small, stored

import rosenblatt as rb
from rosenblatt import textbook as tb
from rosenblatt.checking import rounding
from rosenblatt.errors import InputError

quick = settings(max_examples=30, deadline=None)
MARGINS = st.sampled_from((0.0, 0.0, 0.5, 2.0))


def assert_exactly(proof, trace, certificate, problem=0):
    """Both lemmas in fractions: on whole numbers w_k is exact, and so is what a certificate says of its w*."""
    intercept = certificate.fit_intercept
    radius2 = Fraction(certificate.radius) ** 2 + int(intercept)
    size = Fraction(trace.parameters["eta0"])
    radius2 *= 1 + 2 * Fraction(trace.margin)
    planes = []
    for margin in certificate.margins.values():
        w, b = margin.plane()
        theta = [Fraction(v) for v in (w.tolist() if isinstance(w, np.ndarray) else w)] + ([b] if intercept else [])
        gamma2 = margin.lower2
        if intercept and margin.kind != "augmented":
            gamma2 = gamma2 * rounding.squared_norm(theta[:-1]) / rounding.squared_norm(theta)
        if intercept or margin.kind == "origin":
            planes.append((theta, gamma2 * rounding.squared_norm(theta)))  # ρ² = γ² ‖θ‖²
    vectors = [trace.weights(k, problem) for k in range(proof.n_updates + 1)]
    points = [[Fraction(v) for v in w] + ([Fraction(b)] if intercept else []) for w, b in vectors]
    for k, point in enumerate(points):
        assert rounding.squared_norm(point) <= rounding.squared_norm(points[0]) + size**2 * radius2 * k
        for theta, rho2 in planes:
            gained = rounding.dot(theta, point) - rounding.dot(theta, points[0])
            assert gained >= 0 and gained**2 >= size**2 * rho2 * k * k


@quick
@given(separable(), st.sampled_from(TIES), st.booleans(), st.sampled_from((1.0, 0.5, 3.0)), MARGINS, st.data())
def test_both_lemmas_hold_at_every_step(data, tie, restart, eta0, margin, more):
    d = len(data.w)
    guess = more.draw(st.none() | st.lists(small, min_size=d + 1, max_size=d + 1))
    start = {} if guess is None else {"coef_init": guess[:-1], "intercept_init": guess[-1]}
    certificate = rb.certify(data.X, data.y)
    how = {"tie": tie, "shuffle": not restart, "restart": restart, "random_state": 0, "eta0": eta0, "max_iter": 10**6}
    trace = rb.trace(data.X, data.y, certificate=certificate, margin=margin, **start, **how)
    proof = trace.proof()
    assert trace.converged and proof.holds and trace.n_updates <= proof.bound
    assert_exactly(proof, trace, certificate)
    if guess is None:  # the bound of 003 eq. 15, with R² (1 + 2β)
        most = (1 + 2 * margin) * tb.bound_with_intercept(data.X, [2 * (s > 0) - 1 for s in data.y], data.w, data.b)
        assert certificate.mistake_bound <= proof.bound <= most * (1 + 1e-9)
    assert proof.n_updates == trace.n_updates and proof.k.tolist() == list(range(trace.n_updates + 1))


@quick
@given(separable(intercept=False), st.sampled_from(TIES), MARGINS, st.data())
def test_both_lemmas_through_the_origin(data, tie, margin, more):
    guess = more.draw(st.none() | st.lists(small, min_size=len(data.w), max_size=len(data.w)))
    certificate = rb.certify(data.X, data.y, fit_intercept=False)
    how = {"fit_intercept": False, "tie": tie, "random_state": 0, "max_iter": 10**6, "margin": margin}
    trace = rb.trace(data.X, data.y, coef_init=guess, **how)
    proof = trace.proof(certificate)
    assert trace.converged and proof.holds
    assert_exactly(proof, trace, certificate)


@quick
@given(separable(), st.lists(st.integers(1, 5), min_size=14, max_size=14), MARGINS)
def test_with_weights_the_lemmas_hold_and_no_bound_is_stated(data, weights, margin):
    weights = weights[: len(data.X)]
    assume(len(set(weights)) > 1)
    trace = rb.trace(data.X, data.y, sample_weight=weights, random_state=0, max_iter=10**6, margin=margin)
    proof = trace.proof(rb.certify(data.X, data.y))
    assert proof.holds and proof.bound is None
    assert "with weights no bound is stated" in str(proof)
    assert np.allclose(proof.projection_bound[1:], proof.margin * np.cumsum(np.abs(trace.step)))


@quick
@given(st.integers(0, 2**16), st.sampled_from(TIES), st.booleans(), st.booleans(), MARGINS)
def test_joint_learning(seed, tie, intercept, from_elsewhere, margin):
    rng = np.random.default_rng(seed)
    W = rng.integers(-4, 5, (3, 3))
    X = rng.integers(-6, 7, (12, 3))
    scores = np.sort(X @ W.T, axis=1)
    X, y = X[scores[:, -1] > scores[:, -2]], (X @ W.T).argmax(axis=1)[scores[:, -1] > scores[:, -2]]
    assume(len(set(y.tolist())) == 3)
    start = {"coef_init": rng.integers(-3, 4, (3, 3))} if from_elsewhere else {}
    certificate = rb.certify(X, y, multi_class="joint", fit_intercept=intercept)
    how = {"multi_class": "joint", "tie": tie, "fit_intercept": intercept, "random_state": 0, "max_iter": 10**6}
    proof = rb.trace(X, y, margin=margin, **how, **start).proof(certificate)
    assert proof.holds and proof.n_updates <= proof.bound
    if not from_elsewhere:
        exactly = (1 + 2 * margin) * float(2 * (certificate.radius**2 + intercept)) / float(certificate.bounds.lower2)
        assert proof.bound == pytest.approx(exactly, abs=1)
        assert margin or proof.bound == certificate.mistake_bound


def test_the_sides_are_the_textbook_s():
    X, y = [[4, 3], [5, 3], [4, 4], [0, 6]], [1, 1, 0, 0]
    certificate = rb.certify(X, y)
    trace = rb.trace(X, y, shuffle=False, coef_init=[1, 1], intercept_init=2, max_iter=10**6)
    proof = trace.proof(certificate)
    theta, signs = proof.direction.tolist(), [2 * label - 1 for label in y]
    points = [[*x, 1] for x in X]
    guesses = [[*w, b] for w, b in (trace.weights(k) for k in range(trace.n_updates + 1))]
    sides = np.asarray(tb.lemma_sides(points, signs, theta, guesses))
    found = (proof.projection, proof.projection_bound, proof.squared_norm, proof.squared_norm_bound)
    assert np.allclose(sides, np.column_stack(found), rtol=1e-5)
    assert np.isclose(proof.bound, tb.bound_from(points, signs, theta, guesses[0]), rtol=1e-4, atol=1)
    assert np.isclose(np.linalg.norm(proof.direction), 1)
    assert np.allclose(proof.cosine, proof.projection / np.sqrt(proof.squared_norm))
    assert (proof.cosine >= proof.cosine_bound * (1 - 1e-12)).all() and (proof.cosine <= 1).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("storage", ["dense", "csr_array int32"])
def test_measured_data_in_any_storage(dtype, storage):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 40)) * (20 if dtype == "int16" else 1)
    X = stored(X.astype(dtype), dtype, storage)
    y = np.asarray(X @ rng.normal(size=40)) > 0
    certificate = rb.certify(X, y)
    proof = rb.trace(X, y, random_state=0, max_iter=10**5, certificate=certificate).proof()
    assert proof.holds and proof.n_updates > 20
    assert "there can be at most" in str(proof) and repr(proof).endswith("holds=True>")


def test_each_class_against_the_rest_has_its_own():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in ([4, 0], [-3, 3], [-3, -3])])
    y = np.repeat(["a", "b", "c"], 20)
    table = rb.certify(X, y)
    trace = rb.trace(X, y, random_state=0, certificate=table, max_iter=1000)
    for problem, name in enumerate("abc"):
        proof = trace.proof(problem=problem)
        assert proof.holds and proof.bound == table[name].mistake_bound
        own = trace.updates(problem)
        assert proof.n_updates == own.stop - own.start


def test_a_false_claim_does_not_hold():
    X, y = [[4, 3], [5, 3], [4, 4], [0, 6]], [1, 1, 0, 0]
    proof = rb.trace(X, y, shuffle=False, max_iter=10**6).proof(rb.certify(X, y))
    assert proof.holds
    for name, factor in (("projection", 0.5), ("squared_norm", 100.0)):
        changed = vars(proof) | {name: getattr(proof, name) * factor}
        assert not type(proof)(**changed).holds
    assert not type(proof)(**vars(proof) | {"bound": proof.n_updates - 1}).holds


def test_what_is_no_proof_of_this_trace_is_refused():
    X, y = [[1.0], [2.0], [-1.0]], [1, 1, 0]
    trace = rb.trace(X, y, shuffle=False)
    with pytest.raises(InputError, match=r"a proof needs a certificate: trace.proof\(certify\(X, y"):
        trace.proof()
    with pytest.raises(InputError, match="the certificate must be Separable"):
        trace.proof("yes")
    with pytest.raises(InputError, match="certificate is for fit_intercept=False, and the trace was made with True"):
        trace.proof(rb.certify(X, y, fit_intercept=False))
    with pytest.raises(InputError, match="speaks of other data, or of other sides"):
        trace.proof(rb.certify([[1.0], [3.0], [-1.0]], y))
    with pytest.raises(InputError, match="speaks of other data, or of other sides"):
        trace.proof(rb.certify(X, [0, 0, 1]))
    noisy_trace = rb.trace(*noisy(60, 2, seed=1), max_iter=2)
    with pytest.raises(InputError, match="only separable data has a convergence proof, and this certificate is Insep"):
        noisy_trace.proof(rb.certify(*noisy(60, 2, seed=1)))
