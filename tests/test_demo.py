"""The demonstration: others check its facts, and its report shows them all."""

import dataclasses
import io
import json
import re

import numpy as np
import pytest
from rich.console import Console
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris

from rosenblatt import demo


@pytest.fixture(scope="module")
def facts():
    return demo.measure()


@pytest.fixture(scope="module")
def short():
    """The facts of a short run, and the steps of its progress."""
    steps = []
    return demo.measure(passes=50, progress=steps.append), steps


@pytest.fixture(scope="module")
def report(facts):
    return shown(facts)


def shown(facts, **options):
    file = io.StringIO()
    demo.show(facts, Console(file=file, width=80, **options))
    return file.getvalue()


def separable(X, positive):
    """Whether some w, b has y(w·x + b) >= 1 everywhere: HiGHS decides, on columns of like size."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    z = np.where(positive, 1, -1)[:, None] * np.column_stack([X, np.ones(len(X))])
    answer = linprog(np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=(None, None))
    assert answer.status in (0, 2)
    return answer.status == 0


def test_the_four_data_sets_in_their_order(facts):
    sizes = [(data.rows, data.features, len(data.classes)) for data in facts.data_sets]
    assert sizes == [(150, 4, 2), (100, 4, 2), (569, 30, 2), (1797, 64, 10)]


def test_setosa_is_separated_in_a_few_passes(facts):
    (run,) = facts.data_sets[0].runs
    assert run.converged and run.separates and run.margin > 0
    assert run.passes < 10 and run.mistakes_in_last_pass == 0
    X, kind = load_iris(return_X_y=True)
    assert separable(X, kind == 0)


def test_the_rule_for_setosa_tells_setosa_from_the_rest(facts):
    X, kind = load_iris(return_X_y=True)
    formula = re.fullmatch("setosa if (.*) > 0", facts.data_sets[0].runs[0].rule)[1]
    for column, name in enumerate(["sepal length", "sepal width", "petal length", "petal width"]):
        formula = formula.replace(name, f"* X[:, {column}]")
    np.testing.assert_array_equal(eval(formula, {"X": X}) > 0, kind == 0)


def test_versicolor_and_virginica_are_not_separated_because_they_cannot_be(facts):
    (run,) = facts.data_sets[1].runs
    assert not run.converged and not run.separates and run.margin is None
    assert run.passes == run.passes_allowed and run.mistakes_in_last_pass > 0
    X, kind = load_iris(return_X_y=True)
    assert not separable(X[kind > 0], kind[kind > 0] == 1)


def test_breast_cancer_still_errs_after_100_000_passes_although_it_is_separable(facts):
    as_measured, standardised = facts.data_sets[2].runs
    assert as_measured.passes == as_measured.passes_allowed == 100_000
    assert not as_measured.converged and not as_measured.separates and as_measured.mistakes_in_last_pass > 0
    assert standardised.converged and standardised.separates and standardised.margin > 0
    assert standardised.margin_as_measured > 0
    assert separable(*load_breast_cancer(return_X_y=True))


def test_two_classes_have_a_proved_verdict_in_words(facts, report):
    verdicts = [data.verdict for data in facts.data_sets]
    assert [verdict[0].partition(":")[0] for verdict in verdicts if verdict] == [
        "Separable",
        "Not separable",
        "Separable",
    ]
    assert verdicts[3] == () and all(verdict[-1] == "Verified." for verdict in verdicts[:3])
    words = " ".join(report.split())
    assert all("Proved: " + " ".join(" ".join(verdict).split()) in words for verdict in verdicts[:3])


def test_digits_are_separated_jointly(facts):
    one_vs_rest, jointly = facts.data_sets[3].runs
    assert not one_vs_rest.converged and one_vs_rest.passes == 1000
    assert jointly.converged and jointly.separates and jointly.margin is None


@pytest.mark.parametrize("place, least", list(enumerate([0.97, 0.7, 0.75, 0.88])))
def test_held_out_rows_are_mostly_right_and_averaging_does_not_hurt(facts, place, least):
    shares = facts.data_sets[place].held_out
    assert list(shares) == ["last", "averaged", "voted"]
    assert all(least < share <= 1 for share in shares.values())
    assert shares["averaged"] >= shares["last"] and shares["voted"] >= shares["last"]


def test_every_fact_is_in_the_report(facts, report):
    words = " ".join(report.split())
    for data in facts.data_sets:
        assert data.name in words and " ".join(data.shows.split()) in words
        assert f"{data.rows:,} rows, {data.features} features, {len(data.classes)} classes" in words
        assert all(f"{name} {share:.1%}" in words for name, share in data.held_out.items())
        for run in data.runs:
            assert re.search(rf"^{run.how} +{run.passes:,} +{run.mistakes:,} ", report, re.MULTILINE)
            assert run.rule is None or run.rule in words
    assert "passes as measured took" in words
    assert "With the scaling undone, the hyperplane found separates the rows as measured too" in words


def test_the_report_is_plain_text_of_80_columns(report):
    assert "\x1b" not in report
    assert max(map(len, report.splitlines())) <= 80
    assert not re.search(r"[ ]+$", report, re.MULTILINE)


def test_on_a_terminal_the_report_has_the_same_words_in_colour(facts, report):
    coloured = shown(facts, force_terminal=True, color_system="standard", legacy_windows=False)
    assert "\x1b[32m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).split() == report.split()


def test_facts_are_the_same_in_every_run_but_for_the_time(short):
    first, second = without_times(short[0]), without_times(demo.measure(passes=50))
    assert first == second
    assert [run["passes"] for run in first["data_sets"][2]["runs"]] == [50, 500]


def without_times(facts):
    plain = dataclasses.asdict(facts)
    del plain["seconds"]
    for data in plain["data_sets"]:
        for run in data["runs"]:
            del run["seconds"]
    return plain


def test_nothing_is_claimed_that_a_short_run_did_not_show(short):
    assert "With the scaling undone" not in shown(short[0])


def test_progress_names_every_run(short):
    steps = short[1]
    assert "Breast cancer, as measured: at most 50 passes" in steps
    assert len(steps) == 6 + 4  # the runs, and the held-out rows of each data set


def test_the_facts_as_json(facts):
    assert json.loads(facts.to_json()) == json.loads(json.dumps(dataclasses.asdict(facts)))
