"""A report is one file that says all, loads nothing, fits any screen, and is small whatever the data."""

import html
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt import reports
from rosenblatt.errors import InputError

pytest.importorskip("matplotlib")

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]


def clouds(n=30, d=2, apart=6.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, d))
    X[n:, 0] += apart
    return X, np.repeat(["no", "yes"], n)


def words(report):
    """The text that a reader sees."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", report.partition("</style>")[2])))


class Page(HTMLParser):
    """The attributes that make a browser load something, and whether all tags are closed."""

    VOID = ("meta", "img", "br", "input", "link")

    def __init__(self, text):
        super().__init__()
        self.loaded, self.open, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href", "data", "action", "srcset")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def require_self_contained(report):
    page = Page(report)
    assert page.open == []
    assert all(target.startswith("data:") for target in page.loaded)
    assert "script" not in page.tags and "@import" not in report and "url(" not in report
    assert "default-src 'none'" in report
    return page


# What it says


def test_a_separable_report_has_the_verdict_the_margin_the_bounds_and_the_rows():
    X, y = clouds()
    found = rb.certify(X, y)
    report = reports.certificate_report(found, X, y, source="flowers.csv", names=["length", "width"])
    page = require_self_contained(report)
    said = words(report)
    assert "flowers.csv" in said and "Separable" in said
    assert f"{found.mistake_bound:,}" in said
    for row in found.support.tolist():
        assert f"{row} {y[row]}" in said
    assert "length" in said and found.digest in said
    assert page.tags.count("img") == 2  # the street, and the weights


def test_an_inseparable_report_has_the_rows_that_prove_it_with_their_weights():
    report = reports.certificate_report(rb.certify(*XOR), *XOR)
    require_self_contained(report)
    said = words(report)
    assert "Not separable" in said
    assert "0 label" not in said
    assert said.count("1/2") == 4
    assert "Save the certificate" in said


def test_the_certificate_in_the_page_is_the_certificate():
    import base64

    found = rb.certify(*XOR)
    report = reports.certificate_report(found, *XOR)
    (data,) = re.findall(r"data:application/json;base64,([^\"]+)", report)
    assert rb.certificate_from_json(base64.b64decode(data)) == found


def test_a_table_has_a_picture_for_each_class():
    X, y = clouds()
    y = np.where(X[:, 1] > 1.2, "high", y)
    report = reports.certificate_report(rb.certify(X, y), X, y)
    page = require_self_contained(report)
    assert page.tags.count("img") == 3
    assert "high | rest" in words(report)


def test_a_joint_certificate_of_many_features_has_words_only():
    X, y = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], list("abc")
    report = reports.certificate_report(rb.certify(X, y, multi_class="joint"), X, y)
    assert require_self_contained(report).tags.count("img") == 0
    assert "Jointly separable" in words(report)


@pytest.mark.parametrize(
    ("model", "images"),
    [
        (rb.Perceptron(random_state=0), 3),
        (rb.VotedPerceptron(random_state=0), 2),
        (rb.MaxMargin(), 2),
        (rb.SoftMargin(), 2),
    ],
)
def test_a_training_report_has_the_run_the_pictures_and_who_was_taken_for_whom(model, images):
    X, y = clouds()
    model = model.fit(X, y)
    report = reports.training_report(model, X, y, source="flowers.csv", facts=[("held out", "97 %")])
    page = require_self_contained(report)
    assert page.tags.count("img") == images
    said = words(report)
    right = int((model.predict(X) == y).sum())
    assert f"right about {right} of all 60 rows" in said
    assert "held out 97 %" in said
    assert "label ↓ taken for → no yes no 30 0 yes 0 30" in said


def test_a_training_report_of_several_classes_in_many_features_has_no_boundary():
    X, y = clouds(d=5)
    y = np.where(X[:, 1] > 1.0, "high", y)
    model = rb.AveragedPerceptron(random_state=0).fit(X, y)
    report = reports.training_report(model, X, y)
    assert require_self_contained(report).tags.count("img") == 4  # mistakes, and the weights of three classes


def test_a_report_on_some_of_the_rows_says_so():
    X, y = clouds()
    report = reports.training_report(rb.Perceptron(random_state=0).fit(X, y), X, y, n_rows=1_000_000)
    said = words(report)
    assert "rows that were chosen from the data" in said
    assert "60 of 1,000,000, chosen with a fixed seed" in said


def test_names_and_labels_cannot_write_html():
    X, y = clouds()
    y = np.where(y == "no", "<script>alert(1)</script>", "yes")
    names = ["<b>", "</style>"]
    for report in (
        reports.certificate_report(rb.certify(X, y), X, y, names=names, source="<i>", title="<u>"),
        reports.training_report(rb.Perceptron(random_state=0).fit(X, y), X, y, names=names, source="<i>", title="<u>"),
    ):
        page = require_self_contained(report)
        assert not {"script", "b", "i", "u"} & set(page.tags)


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(InputError, match="this Perceptron is not fitted yet"):
        reports.training_report(rb.Perceptron(), *XOR)


# Its size and its file


def many_rows(n):
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    X[n // 2 :, 0] += 12
    return X, np.repeat([0, 1], n // 2)


def test_of_many_rows_some_are_drawn_always_the_same():
    X, y = many_rows(20_000)
    found = rb.certify(X, y)
    report = reports.certificate_report(found, X, y)
    assert "2,000 of 20,000, chosen with a fixed seed" in words(report)
    assert report == reports.certificate_report(found, X, y)


@pytest.mark.slow
def test_a_report_of_a_million_rows_is_smaller_than_3_megabytes():
    X, y = many_rows(1_000_000)
    model = rb.Perceptron(random_state=0).fit(X, y)
    for report in (reports.certificate_report(rb.certify(X, y), X, y), reports.training_report(model, X, y)):
        assert len(report.encode()) < 3_000_000
        assert "2,000 of 1,000,000, chosen with a fixed seed" in words(report)


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    reports.write("new ‖w‖", path)
    assert path.read_text(encoding="utf-8") == "new ‖w‖"

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr("rosenblatt.reports.page.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        reports.write("newer", path)
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [
        ("report.html", "new ‖w‖")
    ]


# In a browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--enable-logging=stderr",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=10000", "--window-size=1400,900",
]  # fmt: skip

# The report is put in a frame of each width; the script around it, not in it, measures how wide it is, and how many
# pictures were loaded.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const widths = [1280, 390], report = {report};
let open = widths.length;
for (const width of widths) {{
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${{width}}px;height:800px;border:0`;
  frame.onload = () => {{
    const page = frame.contentDocument, root = page.documentElement;
    const images = [...page.images];
    const told = document.createElement("pre");
    told.textContent = JSON.stringify({{
      width, inner: frame.contentWindow.innerWidth, scroll: root.scrollWidth, body: page.body.scrollWidth,
      images: images.length, loaded: images.filter(i => i.complete && i.naturalWidth > 0).length,
      fetched: frame.contentWindow.performance.getEntriesByType("resource")
        .filter(entry => !entry.name.startsWith("data:")).length,
    }});
    document.body.append(told);
    if (--open === 0) console.log("measured");
  }};
  frame.srcdoc = report;
  document.body.append(frame);
}}
</script>"""


@pytest.fixture(scope="module")
def seen_in_chromium(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium (Debian) has it")

    def look(report):
        import json

        folder = tmp_path_factory.mktemp("chromium")
        script = json.dumps(report).replace("</", "<\\/")
        (folder / "frame.html").write_text(FRAME.format(report=script), encoding="utf-8")
        run = subprocess.run(
            [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'user'}", "--dump-dom", f"file://{folder / 'frame.html'}"],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        told = [json.loads(html.unescape(line)) for line in re.findall(r"<pre>(\{.*?\})</pre>", run.stdout)]
        console = [line for line in run.stderr.splitlines() if "CONSOLE" in line and "measured" not in line]
        return told, console

    return look


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["separable", "not separable", "table", "trained"])
def test_in_a_browser_there_are_no_errors_no_network_and_no_overflow(kind, seen_in_chromium):
    from sklearn.datasets import load_breast_cancer, load_iris

    if kind == "not separable":
        X, y = load_iris(return_X_y=True, as_frame=True)
        X, y = X[y > 0], y[y > 0]
    elif kind == "table":
        X, y = load_iris(return_X_y=True, as_frame=True)
    else:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    if kind == "trained":
        report = reports.training_report(rb.AveragedPerceptron(random_state=0).fit(X, y), X, y, source="a" * 120)
    else:
        report = reports.certificate_report(rb.certify(X, y), X, y, source="a" * 120)
    told, console = seen_in_chromium(report)
    require_fit(told, console)


@pytest.mark.slow
def test_a_film_is_seen_in_a_browser(tmp_path, seen_in_chromium):
    from rosenblatt import plot

    path = tmp_path / "updates.html"
    plot.trace(rb.trace(*clouds(apart=2.0), random_state=0, max_steps=6), kind="animation", path=path)
    require_fit(*seen_in_chromium(path.read_text(encoding="utf-8")))


def require_fit(told, console):
    assert console == []
    assert {page["inner"] for page in told} == {1280, 390} and len(told) == 2
    for page in told:
        assert page["scroll"] <= page["inner"], page
        assert page["body"] <= page["inner"], page
        assert page["images"] == page["loaded"] > 0
        assert page["fetched"] == 0


@pytest.mark.slow
def test_the_browser_would_tell_an_overflow_and_an_error(seen_in_chromium):
    """What the test above looks for is found where it is."""
    told, console = seen_in_chromium(
        reports.page.page(
            "wide", ['<div style="width:2000px">wide</div><img alt="" src="http://example.invalid/a.png">']
        )
    )
    assert all(page["scroll"] > page["inner"] for page in told)
    assert any("Content Security Policy" in line for line in console)
