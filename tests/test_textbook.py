"""The textbook against the notes' own examples, hand computation, and the theorems it states.

The theorems are checked on whole numbers and Fractions, so that "never exceeded" has no rounding in it.
"""

import doctest
import math
from fractions import Fraction
from itertools import islice, pairwise, permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rosenblatt import textbook as tb

X001 = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)]
Y001 = [-1, +1, +1, -1, -1, +1]
XOR = ([(0, 0), (1, 1), (0, 1), (1, 0)], [-1, -1, +1, +1])
TIES = ["mistake", "positive", "negative"]

small = st.integers(-6, 6)
vectors = st.lists(small, min_size=3, max_size=3)


@st.composite
def separable(draw, intercept=True):
    """Rows, labels, and a separator (w, b) that labelled them, none of them on the hyperplane."""
    w, b = draw(vectors), draw(small) if intercept else 0
    X = draw(st.lists(vectors, min_size=1, max_size=7))
    scores = [tb.dot(w, x) + b for x in X]
    assume(all(scores))
    return X, [tb.sign(score) for score in scores], w, b


@st.composite
def labelled(draw):
    """Rows and labels that need not be separable."""
    X = draw(st.lists(vectors, min_size=1, max_size=6))
    return X, draw(st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X)))


def shuffled(seed, n):
    """Some order for each pass, other in each."""
    return lambda pass_: sorted(range(n), key=lambda i: hash((seed, pass_, i)))


# ---- The notes' examples ----
def test_doctests():
    assert doctest.testmod(tb).failed == 0


def test_the_file_stays_short_enough_to_read():
    with open(tb.__file__, encoding="utf-8") as file:
        assert len(file.readlines()) <= 730


def test_note_001_worked_example():
    run = tb.perceptron(X001, Y001, tie="positive", fit_intercept=False, max_iter=1)
    assert [w for w, _ in run.vectors] == [[0, 0], [1, -2], [2, -1], [3, 1]]
    assert run.mistakes == [(0, 0), (0, 2), (0, 4)]
    assert run.survival == [0, 2, 2, 2]
    assert not run.converged  # the one pass allowed had mistakes
    assert tb.batch_perceptron(X001, Y001, fit_intercept=False).w == [3, 1]
    assert tb.training_error(X001, Y001, run.w) == 0


def test_online_learning_needs_no_end_of_the_stream():
    def endless():
        while True:
            yield from zip(X001, Y001, strict=True)

    *_, (_, w, b) = islice(tb.online_perceptron(endless()), 600)
    batch = tb.batch_perceptron(X001, Y001)
    assert (w, b) == (batch.w, batch.b)


@given(separable())
def test_note_000_algorithm_1_as_it_is_printed(data):
    X, y, _, _ = data
    X = tb.dummy_feature(X)
    w, k, misclassified = [0] * 4, 0, True
    while misclassified and k < 20:
        misclassified = False
        for x, label in zip(X, y, strict=True):
            if label * tb.dot(w, x) <= 0:
                misclassified, w, k = True, [p + label * q for p, q in zip(w, x, strict=True)], k + 1
                break
    run = tb.basic_perceptron(X, y, 20)
    assert (run.w, len(run.mistakes)) == (w, k)
    assert run.converged == (not misclassified)


@given(labelled())
def test_note_002_algorithm_5_as_it_is_printed(data):
    X, y = data
    w, b = [0] * 3, 0
    for _ in range(5):
        for x, label in zip(X, y, strict=True):
            if label * (tb.dot(w, x) + b) <= 0:
                w, b = [p + label * q for p, q in zip(w, x, strict=True)], b + label
    run = tb.perceptron_train(X, y, 5)
    assert (run.w, run.b) == (w, b)


def test_note_002_other_batch_learns_after_the_whole_set():
    X, y = [(2, 0), (1, 0), (-1, 1)], [1, 1, -1]
    # From 0 all three are mistakes: w = (2,0) + (1,0) + (1,-1), b = 1 + 1 - 1. One by one, one is enough.
    assert tb.whole_set_perceptron(X, y, 1) == ([4, -1], 1)
    assert tb.whole_set_perceptron(X, y, 9) == ([4, -1], 1)
    assert tb.perceptron(X, y, max_iter=1).w == [2, 0]


def test_note_003_pla_is_stochastic_gradient_descent():
    X, y = tb.dummy_feature(X001), Y001
    theta = [5, -7, 3]
    run = tb.pla(X, y, theta)
    for _ in run.mistakes_per_pass:
        for x, label in zip(X, y, strict=True):
            theta = tb.sgd_step(x, label, theta)
    assert run.w == theta
    assert run.converged and tb.perceptron_loss(X, y, theta) == 0


def test_note_003_loss_by_hand():
    # θ · x is 3, -1 and 0; the first is on its wrong side by 3, the second on its right side.
    X, y, theta = [(1, 2), (1, -2), (1, -1)], [-1, -1, 1], (1, 1)
    assert tb.perceptron_loss(X, y, theta) == 3
    assert tb.perceptron_subgradient((1, 2), -1, theta) == [1, 2]
    assert tb.perceptron_subgradient((1, -2), -1, theta) == [0, 0]
    assert tb.perceptron_subgradient((1, -1), +1, theta) == [-1, 1]  # sgn(0) = -1 is a mistake for y = +1
    assert tb.perceptron_subgradient((1, -1), -1, theta) == [0, 0]


@given(vectors, st.sampled_from([-1, 1]), vectors, vectors)
def test_note_003_subgradient_inequality_the_right_way_round(x, y, theta, other):
    v = tb.perceptron_subgradient(x, y, theta)
    rise = tb.perceptron_loss([x], [y], other) - tb.perceptron_loss([x], [y], theta)
    assert rise >= tb.dot(v, tb.step(other, theta, -1))


def test_note_004_training_error_counts_ties_on_both_sides():
    assert tb.training_error([(1, 0), (1, 0), (0, 1), (0, 1)], [1, -1, 1, -1], [0, 1]) == 0.75


@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_variants_are_the_design_s_table(note):
    tie = {"000": "mistake", "001": "positive", "002": "mistake", "003": "negative", "004": "positive"}[note]
    expected = {"tie": tie, "shuffle": False, "restart": note == "000", "fit_intercept": True}
    assert tb.variant(note) == expected


def test_an_unknown_note_gets_the_list_of_those_known():
    with pytest.raises(ValueError, match="note must be one of '000', '001', '002', '003', '004', got '005'"):
        tb.variant("005")


# ---- Ties ----
def test_each_tie_rule_at_zero():
    assert [tb.sign(0, tie) for tie in TIES] == [0, 1, -1]
    assert [tb.predict(0, tie) for tie in TIES] == [-1, 1, -1]
    assert [tb.is_mistake(0, +1, tie) for tie in TIES] == [True, False, True]
    assert [tb.is_mistake(0, -1, tie) for tie in TIES] == [True, True, False]


@given(st.integers().filter(bool), st.sampled_from([-1, 1]), st.sampled_from([*TIES, "ignored"]))
def test_away_from_zero_all_rules_agree(score, y, tie):
    assert tb.is_mistake(score, y, tie) == (tb.predict(score, tie) != y) == (score * y < 0)


@given(labelled())
def test_the_rule_below_zero_never_leaves_zero(data):
    run = tb.perceptron(*data, tie="ignored")
    assert (run.w, run.b, run.mistakes, run.converged) == ([0, 0, 0], 0, [], True)


def test_a_tie_rule_can_converge_on_data_that_nothing_separates():
    run = tb.perceptron([(0, 0)], [1], tie="positive", fit_intercept=False)
    assert run.converged and tb.training_error([(0, 0)], [1], run.w, run.b) == 1


# ---- Stopping, counting, order ----
def test_a_pass_without_a_mistake_stops_and_is_convergence():
    run = tb.perceptron(X001, Y001, max_iter=100)
    assert run.converged and run.mistakes_per_pass[-1] == 0 and len(run.mistakes_per_pass) < 100


def test_a_run_ended_by_its_budget_is_not_converged_even_if_it_separates():
    run = tb.perceptron([(1,)], [1], max_iter=1)
    assert tb.training_error([(1,)], [1], run.w, run.b) == 0
    assert not run.converged and run.mistakes_per_pass == [1]


def test_max_updates_stops_at_once_and_its_pass_is_counted():
    run = tb.perceptron(*XOR, max_updates=3)
    assert len(run.mistakes) == 3 and sum(run.mistakes_per_pass) == 3 and not run.converged
    visits_until_third_mistake = 4 * run.mistakes[-1][0] + run.mistakes[-1][1] + 1
    assert sum(run.survival) == visits_until_third_mistake
    at_last_row = tb.perceptron([(1,), (-1,)], [1, 1], fit_intercept=True, max_updates=2)
    assert at_last_row.mistakes == [(0, 0), (0, 1)] and not at_last_row.converged
    assert tb.perceptron(*XOR, max_updates=0).mistakes_per_pass == []


def test_restart_begins_each_scan_at_row_0_and_each_scan_is_a_pass():
    run = tb.perceptron(X001, Y001, tie="positive", fit_intercept=False, restart=True)
    assert run.mistakes_per_pass == [1] * len(run.mistakes) + [0]
    assert [pass_ for pass_, _ in run.mistakes] == list(range(len(run.mistakes)))
    assert sum(run.survival) == sum(row + 1 for _, row in run.mistakes) + len(X001)


@given(labelled(), st.sampled_from(TIES), st.booleans(), st.integers(0, 4), st.integers(0, 9))
def test_what_a_run_says_about_itself_is_consistent(data, tie, restart, max_iter, max_updates):
    X, y = data
    run = tb.perceptron(X, y, tie=tie, restart=restart, max_iter=max_iter, max_updates=max_updates)
    assert len(run.vectors) == len(run.survival) == len(run.mistakes) + 1
    assert (run.w, run.b) == run.vectors[-1]
    assert len(run.mistakes) == sum(run.mistakes_per_pass) <= max_updates
    assert len(run.mistakes_per_pass) <= max_iter
    assert run.converged == (run.mistakes_per_pass[-1:] == [0])
    if not restart and len(run.mistakes) < max_updates:
        assert sum(run.survival) == len(X) * len(run.mistakes_per_pass)


def test_order_is_asked_once_for_each_pass():
    asked = []

    def backwards(pass_):
        asked.append(pass_)
        return [5, 4, 3, 2, 1, 0]

    run = tb.perceptron(X001, Y001, order=backwards)
    same = tb.perceptron(X001[::-1], Y001[::-1])
    assert run.vectors == same.vectors
    assert run.mistakes == [(pass_, 5 - row) for pass_, row in same.mistakes]
    assert asked == list(range(len(run.mistakes_per_pass)))


@given(labelled(), st.sampled_from(TIES), st.data())
def test_rows_of_weight_zero_are_as_if_absent(data, tie, more):
    X, y = data
    weights = more.draw(st.lists(st.integers(0, 2), min_size=len(X), max_size=len(X)))
    kept = [i for i, c in enumerate(weights) if c]
    assume(kept)
    run = tb.perceptron(X, y, tie=tie, weights=weights, max_iter=5)
    bare = tb.perceptron(
        [X[i] for i in kept], [y[i] for i in kept], tie=tie, weights=[weights[i] for i in kept], max_iter=5
    )
    assert (run.vectors, run.survival, run.converged) == (bare.vectors, bare.survival, bare.converged)


@given(labelled(), st.sampled_from(TIES))
def test_eta0_only_scales_what_starts_at_zero(data, tie):
    one, third = (tb.perceptron(*data, tie=tie, max_iter=5, eta0=eta0) for eta0 in (1, Fraction(1, 3)))
    assert one.mistakes == third.mistakes
    assert one.w == [3 * p for p in third.w] and one.b == 3 * third.b


@given(labelled(), st.sampled_from(TIES), st.booleans())
def test_the_intercept_is_a_column_of_ones(data, tie, restart):
    X, y = data
    run = tb.perceptron(X, y, tie=tie, restart=restart, max_iter=6)
    ones = tb.perceptron(tb.dummy_feature(X), y, tie=tie, restart=restart, fit_intercept=False, max_iter=6)
    assert [[b, *w] for w, b in run.vectors] == [w for w, _ in ones.vectors]
    assert (run.mistakes, run.survival, run.converged) == (ones.mistakes, ones.survival, ones.converged)


def test_whole_numbers_stay_whole_and_fractions_stay_fractions():
    run = tb.perceptron(X001, Y001)
    assert all(type(p) is int for p in [*run.w, run.b])
    halves = [[Fraction(p, 2) for p in x] for x in X001]
    assert all(isinstance(p, Fraction) for p in tb.perceptron(halves, Y001).w)


def test_the_data_are_not_changed():
    guess = [1, 1]
    tb.perceptron(X001, Y001, w=guess)
    assert guess == [1, 1]


# ---- Voting and averaging, by hand ----
def three_vectors():
    """Through the origin on 1 (+), 3 (-), 1 (+): mistakes at the rows 0 and 1, then at row 2."""
    run = tb.perceptron([(1,), (3,), (1,)], [1, -1, 1], fit_intercept=False, max_iter=1)
    assert run.vectors == [([0], 0), ([1], 0), ([-2], 0), ([-1], 0)]
    assert run.survival == [0, 1, 1, 1]
    return run


def test_vote_and_average_by_hand():
    run = three_vectors()
    assert tb.voted_prediction(run, (1,)) == -1  # +1 - 1 - 1
    assert tb.weighted_sums(run) == ([-2], 0, 3)
    assert tb.averaged(run) == ([-2 / 3], 0)
    assert tb.averaged_prediction(run, (-1,)) == 1


def test_vote_and_average_can_differ():
    # Two short vectors say -1, one long vector says +1: the vote counts heads, the average counts lengths.
    run = tb.Run([9], 0, [], [([-1], 0), ([9], 0)], [2, 1], [], True)
    assert tb.voted_prediction(run, (1,)) == -1
    assert tb.averaged_prediction(run, (1,)) == +1


@pytest.mark.parametrize(("tie", "expected"), [("mistake", 1), ("positive", 1), ("negative", -1)])
def test_a_zero_score_in_a_vote_follows_the_tie_rule(tie, expected):
    run = tb.Run([1], 0, [], [([0], 0), ([1], 0)], [5, 1], [], True)
    assert tb.voted_prediction(run, (1,), tie) == expected  # 5 votes of the zero vector, one for +1


@given(labelled(), vectors)
def test_average_predicts_as_the_sum_does(data, x):
    run = tb.perceptron(*data, max_iter=3)
    exact = sum(c * (tb.dot(w, x) + b) for c, (w, b) in zip(run.survival, run.vectors, strict=True))
    assert tb.averaged_prediction(run, x) == tb.predict(exact)


# ---- The theorems ----
@given(separable(), st.integers(), st.sampled_from(TIES), st.booleans())
def test_mistakes_never_exceed_the_bound_with_intercept(data, seed, tie, restart):
    X, y, w, b = data
    order = None if restart else shuffled(seed, len(X))
    run = tb.perceptron(X, y, tie=tie, order=order, restart=restart)
    bound = tb.bound_with_intercept(X, y, [Fraction(p) for p in w], Fraction(b))
    assert run.converged and len(run.mistakes) <= bound
    assert bound == (max(tb.dot(x, x) for x in X) + 1) * Fraction(tb.dot(w, w) + b * b) / (
        tb.functional_margin(X, y, w, b) ** 2
    )


@given(separable(intercept=False), st.integers(), st.sampled_from(TIES))
def test_mistakes_never_exceed_the_bound_through_the_origin(data, seed, tie):
    X, y, w, _ = data
    run = tb.perceptron(X, y, tie=tie, fit_intercept=False, order=shuffled(seed, len(X)))
    assert run.converged and len(run.mistakes) <= tb.bound_through_origin(X, y, [Fraction(p) for p in w])


@given(separable(intercept=False), vectors, st.integers(), st.sampled_from([1, 2, Fraction(1, 3)]))
def test_mistakes_never_exceed_the_bound_from_any_first_guess(data, guess, seed, eta0):
    X, y, w, _ = data
    run = tb.perceptron(X, y, fit_intercept=False, w=guess, eta0=eta0, order=shuffled(seed, len(X)))
    bound = tb.bound_from(X, y, w, [Fraction(p) / eta0 for p in guess])
    assert run.converged and len(run.mistakes) <= bound * (1 + 1e-12)


def test_the_bounds_hold_in_every_order_of_a_hard_set():
    X, y = tb.dummy_feature([(4, 3), (5, 3), (4, 4), (0, 6)]), [1, 1, -1, -1]
    separator = tb.perceptron(X, y, fit_intercept=False).w
    for guess in ([0, 0, 0], [9, -9, 9]):
        bound = tb.bound_from(X, y, separator, guess)
        for order in permutations(range(4)):
            run = tb.pla(X, y, guess, order=lambda pass_, order=order: order)
            assert run.converged and len(run.mistakes) <= bound


@given(separable())
def test_from_zero_the_general_bound_is_equation_15(data):
    X, y, w, b = data
    general = tb.bound_from(tb.dummy_feature(X), y, [b, *w], [0] * 4)
    assert general == pytest.approx(tb.bound_with_intercept(X, y, w, b), rel=1e-12)


@given(separable(), vectors, small, st.sampled_from(TIES), st.integers())
def test_both_lemmas_hold_at_every_update_from_any_first_guess(data, guess, b0, tie, seed):
    X, y, w, b = data
    run = tb.perceptron(X, y, tie=tie, w=guess, b=b0, order=shuffled(seed, len(X)))
    guesses = [[b, *w] for w, b in run.vectors]
    sides = tb.lemma_sides(tb.dummy_feature(X), y, [b, *w], guesses)
    assert len(sides) == len(run.mistakes) + 1
    for aligned, at_least, squared, at_most in sides:
        assert aligned >= at_least and squared <= at_most
        assert aligned**2 <= squared * (tb.dot(w, w) + b * b)  # Cauchy and Schwarz close the proof


@given(labelled(), st.sampled_from(TIES), st.sampled_from([1, Fraction(1, 2), 3]), st.booleans(), st.data())
def test_an_update_raises_the_agreement_by_the_squared_length(data, tie, eta0, fit_intercept, more):
    X, y = data
    weights = more.draw(st.lists(st.integers(1, 4), min_size=len(X), max_size=len(X)))
    run = tb.perceptron(X, y, tie=tie, eta0=eta0, weights=weights, fit_intercept=fit_intercept, max_iter=4)
    for (_, i), ((w, b), (w2, b2)) in zip(run.mistakes, pairwise(run.vectors), strict=True):
        rise = y[i] * (tb.dot(w2, X[i]) + b2) - y[i] * (tb.dot(w, X[i]) + b)
        assert rise == eta0 * weights[i] * (tb.dot(X[i], X[i]) + fit_intercept)


def test_an_update_can_undershoot():
    # The question of note 004: the long (-9) takes w so far that one step of (1) does not bring it back.
    run = tb.perceptron([(-9,), (1,)], [1, 1], fit_intercept=False, max_iter=1)
    assert run.vectors == [([0], 0), ([-9], 0), ([-8], 0)]
    assert tb.is_mistake(tb.dot(run.w, (1,)), 1)


def test_the_bound_without_the_intercept_is_false_with_one():
    X, y = [(Fraction(-1, 100),), (Fraction(1, 100),)], [-1, 1]
    assert len(tb.perceptron(X, y).mistakes) == 2
    assert tb.bound_through_origin(X, y, (1,)) == 1  # (R / margin)², what 001 promises
    assert tb.bound_with_intercept(X, y, (1,), 0) == 10001


def test_bounds_do_not_depend_on_the_length_of_the_separator():
    once, thrice = (tb.bound_with_intercept(X001, Y001, [3 * c, c], 0) for c in (Fraction(1), Fraction(3)))
    assert once == thrice


def test_bounds_and_canonical_form_refuse_what_does_not_separate():
    message = r"w, b must separate the data, but min y\(w·x \+ b\) is -3"
    for ask in (
        lambda: tb.bound_through_origin(X001, Y001, [-1, 1]),
        lambda: tb.bound_with_intercept(X001, Y001, [-1, 1], 0),
        lambda: tb.bound_from(X001, Y001, [-1, 1], [0, 0]),
        lambda: tb.lemma_sides(X001, Y001, [-1, 1], [[0, 0]]),
        lambda: tb.canonical_form(X001, Y001, [-1, 1]),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


# ---- Geometry ----
def test_distances_by_hand():
    assert tb.distance((3, 4), -5, (3, 4)) == 4
    assert tb.distance_to_origin((3, 4), -5) == 1
    assert tb.foot_point((3, 4), Fraction(-5), (3, 4)) == [Fraction(3, 5), Fraction(4, 5)]


@given(vectors.filter(any), small, vectors)
def test_the_foot_point_is_on_the_hyperplane_straight_below(w, b, x):
    foot = tb.foot_point(w, Fraction(b), x)
    assert tb.dot(w, foot) + b == 0
    assert math.dist(x, foot) == pytest.approx(tb.distance(w, b, x))


def test_three_definitions_of_the_margin():
    X, w, b = [(3, 4), (0, 0)], (3, 4), -5
    assert tb.margin(X, [1, -1], w, b) == tb.margin_if_separating(X, [1, -1], w, b) == 1
    assert tb.margin(X, [1, 1], w, b) == -1
    assert tb.margin_if_separating(X, [1, 1], w, b) == -math.inf
    assert tb.unsigned_margin(X, w, b) == 1  # whatever the labels


@given(separable())
def test_canonical_form_has_agreement_one(data):
    X, y, w, b = data
    w2, b2 = tb.canonical_form(X, y, [Fraction(p) for p in w], Fraction(b))
    assert tb.functional_margin(X, y, w2, b2) == 1


# ---- Several classes ----
CORNERS = [(4, 0), (0, 4), (-4, -4), (5, 1), (1, 5), (-3, -5)]


def test_joint_perceptron_by_hand():
    run = tb.joint_perceptron([(1, 0), (0, 1)], [0, 2], 3)
    # Row 0: all tied, so class 0 up and 1, the first rival, down. Row 1: b = (1, -1, 0), so 2 up and 0 down.
    assert run.mistakes[:2] == [(0, 0, 0, 1), (0, 1, 2, 0)]
    assert run.vectors[1] == ([[1, 0], [-1, 0], [0, 0]], [1, -1, 0])
    assert run.vectors[2] == ([[1, -1], [-1, 0], [0, 1]], [0, -1, 1])
    assert run.survival[:2] == [0, 1]


@pytest.mark.parametrize("tie", TIES)
def test_joint_perceptron_learns_three_corners(tie):
    y = [0, 1, 2, 0, 1, 2]
    run = tb.joint_perceptron(CORNERS, y, 3, tie=tie)
    assert run.converged
    for x, label in zip(CORNERS, y, strict=True):
        scores = [tb.dot(w, x) + b for w, b in zip(run.W, run.b, strict=True)]
        assert tb.joint_predict(scores, tie) == label
    assert sum(run.b) == 0 and [sum(column) for column in zip(*run.W, strict=True)] == [0, 0]


def test_joint_ties():
    assert tb.joint_predict([1, 3, 3]) == tb.joint_predict([1, 3, 3], "negative") == 1
    assert tb.joint_predict([1, 3, 3], "positive") == 2
    assert tb.joint_rival([3, 3, 3], 1) == 0
    assert tb.joint_rival([2, 3, 2], 1) is None
    assert tb.joint_rival([3, 3, 1], 0, "negative") is None
    assert tb.joint_rival([3, 3, 1], 1, "negative") == 0
    assert tb.joint_rival([1, 3, 3], 1, "positive") == 2


@given(labelled(), st.sampled_from(TIES), st.booleans(), st.integers())
def test_two_classes_jointly_are_the_binary_problem(data, tie, fit_intercept, seed):
    X, y = data
    options = {"tie": tie, "fit_intercept": fit_intercept, "max_iter": 5, "order": shuffled(seed, len(X))}
    binary = tb.perceptron(X, y, **options)
    joint = tb.joint_perceptron(X, [(label + 1) // 2 for label in y], 2, **options)
    assert [(pass_, row) for pass_, row, _, _ in joint.mistakes] == binary.mistakes
    assert joint.vectors[-1] == ([[-p for p in binary.w], binary.w], [-binary.b, binary.b])
    assert joint.survival == binary.survival and joint.converged == binary.converged
    for x in X:
        assert 2 * tb.joint_voted_prediction(joint, x, tie) - 1 == tb.voted_prediction(binary, x, tie)


def test_joint_rates_scale_and_skip():
    y = [0, 1, 2, 0, 1, 2]
    one = tb.joint_perceptron(CORNERS, y, 3, max_updates=2)
    half = tb.joint_perceptron(CORNERS, y, 3, max_updates=2, eta0=Fraction(1, 2))
    assert one.mistakes == half.mistakes and len(one.mistakes) == 2 and not one.converged
    assert [[2 * p for p in w] for w in half.W] == one.W
    assert tb.joint_perceptron(CORNERS, y, 3, weights=[0] * 6).mistakes == []


def test_joint_vote_counts_survival_and_a_tied_top_abstains():
    zero, first, second = [[0], [0], [0]], [[1], [0], [0]], [[0], [1], [0]]
    b = [0, 0, 0]
    run = tb.JointRun(second, b, [], [(zero, b), (first, b), (second, b)], [9, 2, 3], [], True)
    assert tb.joint_voted_prediction(run, (1,)) == 1
    assert tb.joint_voted_prediction(run, (1,), "negative") == 0
    assert tb.joint_voted_prediction(run, (1,), "positive") == 2


@settings(max_examples=50)
@given(
    st.lists(vectors, min_size=1, max_size=6),
    st.lists(vectors, min_size=3, max_size=3),
    st.sampled_from(TIES),
)
def test_joint_mistakes_never_exceed_twice_the_squared_ratio(X, W, tie):
    scores = [[tb.dot(w, x) for w in W] for x in X]
    y = [tb.joint_predict(s) for s in scores]
    gamma = min(s[k] - other for s, k in zip(scores, y, strict=True) for j, other in enumerate(s) if j != k)
    assume(gamma > 0)
    run = tb.joint_perceptron(X, y, 3, tie=tie, fit_intercept=False)
    bound = Fraction(2 * max(tb.dot(x, x) for x in X) * sum(tb.dot(w, w) for w in W), gamma**2)
    assert run.converged and len(run.mistakes) <= bound


def test_labels_other_than_minus_and_plus_one_are_refused_and_not_learned_forever():
    with pytest.raises(ValueError, match=r"the labels must be -1 and \+1"):
        tb.perceptron([[1, 2], [3, 4]], [0, 1])
