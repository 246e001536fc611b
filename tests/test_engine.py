"""The engine, called directly: its order, its bits on every instruction set, its checks, and its votes."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from rosenblatt import _engine
from rosenblatt import textbook as tb

pytestmark = pytest.mark.engine

WIDTHS = [*range(1, 41), 63, 64, 65, 100, 784]
STORAGES = ["dense", "int32", "int64"]
TIES = {tie.name: tie for tie in _engine.Tie}


@pytest.fixture(params=_engine.instruction_sets())
def instruction_set(request):
    """Force one instruction set, and go back to the one in use."""
    before = _engine.instruction_set()
    _engine.use_instruction_set(request.param)
    yield request.param
    _engine.use_instruction_set(before)


# ---- A run, without the layers above ----
def csr(X, index="int32"):
    """The three CSR arrays."""
    where = np.nonzero(X)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(X, axis=1))])
    return X[where], where[1].astype(index), starts.astype(index)


def view(X, storage="dense"):
    return _engine.DenseRows(X) if storage == "dense" else _engine.SparseRows(*csr(X, storage), n_features=X.shape[1])


def zero_weights(d, n_classes=2, joint=False, **changes):
    vectors = 1 if n_classes == 2 else n_classes
    problems = 1 if joint else vectors
    arrays = {
        "w": np.zeros((vectors, -(-d // 8) * 8)),
        "b": np.zeros(vectors),
        "visits": np.zeros(problems, np.int64),
        "updates": np.zeros(problems, np.int64),
        "active": np.ones(problems, bool),
        "w_late": np.zeros((vectors, -(-d // 8) * 8)),
        "b_late": np.zeros(vectors),
    }
    return arrays | changes


def run(rows, codes, d, *, n_classes=2, joint=False, tie="mistake", passes=3, weights=None, log=True, **more):
    """Passes over the rows: the outcome, and the arrays that were changed."""
    arrays = zero_weights(d, n_classes, joint) if weights is None else weights
    labels = {name: more.pop(name) for name in ("subset", "sample_weight", "class_weight") if name in more}
    labels.setdefault("class_weight", np.ones(n_classes))
    schedule = {name: more.pop(name) for name in ("shuffle", "seed", "first_pass", "threads") if name in more}
    outcome = _engine.run(
        rows,
        _engine.Labels(np.asarray(codes, np.int16), n_classes=n_classes, joint=joint, **labels),
        _engine.Rule(tie=TIES[tie], **{"fit_intercept": True} | more),
        _engine.Schedule(max_passes=passes, **schedule),
        _engine.Weights(arrays["w"], arrays["b"], **{k: v for k, v in arrays.items() if k not in ("w", "b")}),
        keep_log=log,
    )
    return outcome, arrays


def bits(outcome, arrays):
    """All that a run produced, as bytes."""
    numbers = [arrays[name].tobytes() for name in sorted(arrays)]
    histories = [h.tobytes() for h in outcome.mistakes_per_pass]
    logs = [column.tobytes() for log in outcome.mistakes for column in log.values()]
    return numbers, histories, logs, outcome.converged, np.asarray(outcome.losses).tobytes()


def rough(n, d, seed, n_classes=2):
    """Floats of very different size, so that another order of summation is another sum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, (n, d))
    X[rng.random((n, d)) < 0.2] = 0
    return X, rng.integers(0, n_classes, n).astype(np.int16)


# ---- The shuffled order ----
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 255, 256, 257, 1000, 4097])
def test_an_order_is_a_permutation(n):
    for seed, pass_ in product([0, 1, 2**63, 2**64 - 1], [0, 1, 99, 2**40]):
        assert sorted(_engine.order(seed, pass_, n).tolist()) == list(range(n))


def test_an_order_is_a_function_of_seed_pass_and_n(instruction_set):
    want = _engine.order(7, 3, 1000).tolist()
    _engine.order(8, 3, 1000)  # asking for another one between changes nothing
    assert _engine.order(7, 3, 1000).tolist() == want
    _engine.use_instruction_set("baseline")
    assert _engine.order(7, 3, 1000).tolist() == want


def test_orders_differ_between_passes_and_seeds():
    orders = {tuple(_engine.order(seed, pass_, 50)) for seed in range(50) for pass_ in range(50)}
    assert len(orders) == 2500


def chi_square(counts, expected):
    return float(((np.asarray(counts) - expected) ** 2 / expected).sum())


def test_all_orders_of_four_rows_are_about_equally_frequent():
    drawn = [tuple(_engine.order(seed, 0, 4).tolist()) for seed in range(24_000)]
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 24
    assert chi_square(counts, 1000) < 58  # 23 degrees of freedom: above this once in 10,000 times


@pytest.mark.parametrize("n", [10, 300])
def test_every_row_is_about_equally_often_first_and_last(n):
    orders = np.array([_engine.order(5, pass_, n) for pass_ in range(200 * n)])
    limit = n + 4.5 * np.sqrt(2 * n) + 10
    for place in (0, 1, n // 2, n - 1):
        assert chi_square(np.bincount(orders[:, place], minlength=n), 200) < limit


def test_a_row_is_followed_by_its_neighbour_no_more_often_than_by_chance():
    n, passes = 1000, 200
    followed = sum(int((np.diff(_engine.order(11, p, n)) == 1).sum()) for p in range(passes))
    assert abs(followed - passes) < 5 * np.sqrt(passes)  # once a pass on average


def test_a_run_visits_rows_in_that_order():
    X, codes = rough(40, 3, 0)
    outcome, _ = run(view(X), codes, 3, shuffle=True, seed=9, first_pass=4, passes=1)
    log = outcome.mistakes[0]
    order = _engine.order(9, 4, 40)
    assert len(log["row"]) > 0
    assert log["row"].tolist() == order[log["visit"] - 1].tolist()


def test_a_subset_is_shuffled_by_its_own_length():
    X, codes = rough(40, 3, 0)
    subset = np.arange(5, 35, 2)
    outcome, _ = run(view(X), codes, 3, shuffle=True, seed=9, passes=1, subset=subset)
    log = outcome.mistakes[0]
    assert log["row"].tolist() == subset[_engine.order(9, 0, len(subset))][log["visit"] - 1].tolist()


# ---- The same bits everywhere ----
KINDS = {"binary": (2, False), "ovr": (3, False), "joint": (5, True)}


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_every_instruction_set_gives_the_bits_of_the_baseline(instruction_set, margin, kind, dtype, storage):
    n_classes, joint = KINDS[kind]
    for d, shuffle in product(WIDTHS, [False, True]):
        X, codes = rough(37, d, d, n_classes)
        X = X.astype(dtype)
        options = {"n_classes": n_classes, "joint": joint, "shuffle": shuffle, "seed": d, "margin": margin}
        _engine.use_instruction_set("baseline")
        want = bits(*run(view(X, storage), codes, d, **options))
        _engine.use_instruction_set(instruction_set)
        assert bits(*run(view(X, storage), codes, d, **options)) == want, (d, shuffle)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", [(3, False), (8, False), (9, False), (20, False), (5, True), (17, True)])
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_vectors_side_by_side_learn_what_they_learn_alone(instruction_set, margin, kind, storage):
    n_classes, joint = kind
    for d, tie, more in product((1, 7, 33), TIES, ({}, {"shuffle": True}, {"max_updates": 9}, {"restart": True})):
        X, codes = rough(37, d, d, n_classes)
        options = {"n_classes": n_classes, "joint": joint, "margin": margin, "tie": tie} | more
        outcome, want = run(view(X, storage), codes, d, **options)
        pitch = -(-n_classes // 8) * 8
        beside = np.zeros((d + 2, pitch))
        arrays = zero_weights(d, n_classes, joint, beside=beside)
        threads = 1 + d % 3
        learned = run(view(X, storage), codes, d, weights=arrays, threads=threads, **options)
        assert bits(*learned)[1:] == bits(outcome, want)[1:]
        for name, array in want.items():
            assert arrays[name].tobytes() == array.tobytes(), (name, d, tie, more)
        assert (beside[:d, :n_classes] == want["w"][:, :d].T).all() and not beside[d:].any()
        assert not beside[:, n_classes:].any()


@pytest.mark.parametrize("n", [*range(1, 20)])
def test_every_number_of_rows_gives_the_bits_of_the_baseline(instruction_set, n):
    for d, dtype, tie, margin in product([1, 3, 9, 33, 65], ["float32", "float64"], TIES, [0.0, 0.3]):
        X, codes = rough(n, d, n)
        _engine.use_instruction_set("baseline")
        want = bits(*run(view(X.astype(dtype)), codes, d, tie=tie, margin=margin))
        _engine.use_instruction_set(instruction_set)
        assert bits(*run(view(X.astype(dtype)), codes, d, tie=tie, margin=margin)) == want, (d, dtype, tie, margin)


def sum_of_lanes(lane):
    if len(lane) == 8:
        return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
    return (lane[0] + lane[2]) + (lane[1] + lane[3])


def test_a_score_is_summed_in_the_lanes_that_the_engine_promises(instruction_set):
    for d in (1, 5, 31, 32, 33, 40, 100):
        lanes = 4 if d <= 32 else 8
        rng = np.random.default_rng(d)
        x, w = rough(1, d, d)[0][0], rng.normal(size=d) * 10.0 ** rng.uniform(-6, 6, d)
        lane = [0.0] * lanes
        for j in range(d):
            lane[j % lanes] += x[j] * w[j]
        score = sum_of_lanes(lane)
        arrays = zero_weights(d)
        arrays["w"][0, :d] = w
        # Labelled on the wrong side, the row is a mistake, and its loss is the score without its sign.
        outcome, _ = run(view(x[None]), [int(score < 0)], d, passes=1, weights=arrays)
        assert outcome.losses == [abs(score)]


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_threads_change_nothing(margin):
    X, codes = rough(500, 20, 1, 7)
    options = {"n_classes": 7, "shuffle": True, "margin": margin}
    want = bits(*run(view(X), codes, 20, **options))
    for threads in (2, 3, 7, 50):
        assert bits(*run(view(X), codes, 20, **options, threads=threads)) == want


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_square_is_summed_in_the_lanes_that_the_engine_promises(instruction_set, dtype, storage):
    for d in (1, 5, 31, 32, 33, 40, 100):
        X = np.vstack([rough(1, d, d)[0], np.full((1, d), 7.0)]).astype(dtype)  # the next row is no part of it
        values = [float(v) for v in (X[0] if storage == "dense" else X[0][X[0] != 0])]
        lanes = 8 if storage == "dense" and d > 32 else 4
        lane = [0.0] * lanes
        for j, value in enumerate(values):
            lane[j % lanes] += value * value
        square = sum_of_lanes(lane)
        # Right by exactly the square, the row is a mistake for margin 1; right by one bit more, it is none.
        for score, updates in ((square, 1), (np.nextafter(square, np.inf), 0)):
            arrays = zero_weights(d)
            arrays["b"][0] = score
            options = {"fit_intercept": False, "margin": 1.0, "tie": "positive", "subset": np.array([0])}
            outcome, arrays = run(view(X, storage), [1, 0], d, weights=arrays, passes=1, **options)
            assert (arrays["updates"].tolist(), outcome.wrong) == ([updates], [0])


def test_only_rows_on_the_wrong_side_add_to_the_loss_and_to_those_that_are_wrong():
    X = np.array([[1.0], [2.0], [-1.0]])
    outcome, arrays = run(view(X), [1, 1, 1], 1, passes=1, margin=10.0, tie="positive", fit_intercept=False)
    assert outcome.mistakes[0]["row"].tolist() == [0, 1, 2]  # a tie that is right, right by too little, wrong
    assert (outcome.wrong, outcome.losses) == ([1], [3.0])
    assert [h.tolist() for h in outcome.mistakes_per_pass] == [[3]] and arrays["updates"].tolist() == [3]


# ---- NaN and infinity ----
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_first_not_finite_finds_it_anywhere(instruction_set, dtype, bad):
    largest = np.finfo(dtype).max
    for n in (1, 2, 15, 16, 17, 33, 1023, 1024, 1025, 2050):
        values = np.full(n, largest, dtype)
        values[::2] = -largest
        assert _engine.first_not_finite(values) == -1
        for place in {0, 1, n // 2, n - 2, n - 1} & set(range(n)):
            spoiled = values.copy()
            spoiled[place] = bad
            spoiled[-1] = spoiled[-1] if place == n - 1 else np.nan  # a later one is not the first
            assert _engine.first_not_finite(spoiled) == place


def test_first_not_finite_of_nothing_and_of_a_table():
    assert _engine.first_not_finite(np.empty(0)) == -1
    assert _engine.first_not_finite(np.array([[0.0, 1.0], [np.nan, 0.0]])) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("storage", ["dense", "int32"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_pass_misses_no_value_that_is_not_finite(instruction_set, dtype, storage, kind):
    n_classes, joint = KINDS[kind]
    missed = []
    for d, n in ((1, 9), (3, 13), (8, 9), (9, 5), (33, 9), (40, 3)):
        X, codes = rough(n, d, d, n_classes)
        X = X.astype(dtype)
        for row, column in product(range(n), range(d)):
            bad = (np.nan, np.inf, -np.inf)[(row + column) % 3]
            spoiled = X.copy()
            spoiled[row, column] = bad
            for shuffle in (False, True):
                options = {"n_classes": n_classes, "joint": joint, "shuffle": shuffle, "passes": 1, "log": False}
                outcome, _ = run(view(spoiled, storage), codes, d, **options, margin=float(column % 2))
                if outcome.finite:
                    missed.append((d, row, column, bad, shuffle))
    assert missed == []


def test_a_pass_over_finite_rows_reports_nothing(instruction_set):
    for d, storage, dtype in product(WIDTHS, STORAGES, ["float32", "float64"]):
        X, codes = rough(20, d, d)
        assert run(view(X.astype(dtype), storage), codes, d)[0].finite


def test_a_score_beyond_float64_is_reported():
    X = np.array([[1e200], [1e200]])
    outcome, _ = run(view(X), [1, 0], 1)
    assert not outcome.finite


# ---- Bad arguments are refused, and never crash ----
def damaged_csr():
    data, columns, starts = csr(np.arange(1.0, 7.0).reshape(3, 2))
    int32 = np.int32
    return {
        "decreasing indptr": (data, columns, np.array([0, 4, 2, 6], int32), "must not decrease"),
        "indptr not from 0": (data, columns, np.array([1, 2, 4, 6], int32), "must start at 0"),
        "negative indptr": (data, columns, np.array([0, -1, 4, 6], int32), "must not decrease"),
        "indptr past the end": (data, columns, np.array([0, 2, 4, 7], int32), "past the end"),
        "no indptr": (data, columns, np.empty(0, int32), "an element"),
        "column too large": (data, np.array([0, 1, 0, 2, 0, 1], int32), starts, "column index"),
        "negative column": (data, np.array([0, 1, 0, -1, 0, 1], int32), starts, "column index"),
        "fewer columns than values": (data, columns[:5], starts, "past the end"),
        "fewer values than columns": (data[:5], columns, starts, "past the end"),
        "two index types": (data, columns.astype(np.int64), starts, "of one type"),
        "unsigned indices": (data, columns.astype(np.uint32), starts.astype(np.uint32), "int32 or int64"),
        "short indices": (data, columns.astype(np.int16), starts.astype(np.int16), "int32 or int64"),
        "integer values": (data.astype(np.int64), columns, starts, "float32 or float64"),
        "two dimensions": (data.reshape(3, 2), columns, starts, "one dimension"),
    }


@pytest.mark.parametrize("damage", damaged_csr())
def test_damaged_sparse_rows_are_refused(damage):
    data, columns, starts, message = damaged_csr()[damage]
    with pytest.raises(ValueError, match=message):
        _engine.SparseRows(data, columns, starts, n_features=2)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "two dimensions"),
        (np.ones((3, 0)), "a column"),
        (np.ones((3, 2), np.int64), "float32 or float64"),
        (np.ones((3, 2), np.float16), "float32 or float64"),
    ],
)
def test_wrong_dense_rows_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        _engine.DenseRows(X)


WRONG_RUNS = {
    "too few codes": ({"codes": [0, 1]}, "class code for each row"),
    "code too large": ({"codes": [0, 1, 2]}, "not below the number of classes"),
    "negative code": ({"codes": [0, 1, -1]}, "not below the number of classes"),
    "one class": ({"n_classes": 1, "codes": [0, 0, 0]}, "not below the number of classes"),
    "too few sample weights": ({"sample_weight": np.ones(2)}, "weight for each row"),
    "class weights": ({"class_weight": np.ones(3)}, "number of class weights"),
    "subset past the end": ({"subset": np.array([0, 3])}, "not a row"),
    "negative subset": ({"subset": np.array([-1])}, "not a row"),
    "narrow weights": ({"w": np.zeros((1, 2))}, "padded to a multiple of eight"),
    "too many vectors": ({"w": np.zeros((2, 8))}, "number of weight vectors"),
    "intercepts": ({"b": np.zeros(2)}, "number of intercepts"),
    "visits": ({"visits": np.zeros(2, np.int64)}, "number of counters"),
    "updates": ({"updates": np.zeros(0, np.int64)}, "number of counters"),
    "active": ({"active": np.ones(3, bool)}, "number of counters"),
    "narrow late sums": ({"w_late": np.zeros((1, 16))}, "shape of the weights"),
    "late intercepts": ({"b_late": np.zeros(2)}, "shape of the weights"),
    "few features side by side": ({"beside": np.zeros((1, 8))}, "side by side must have a row for each feature"),
    "few vectors side by side": ({"beside": np.zeros((2, 4))}, "side by side must have .* a multiple of eight"),
}


@pytest.mark.parametrize("fault", WRONG_RUNS)
def test_wrong_arguments_of_a_run_are_refused(fault):
    changes, message = WRONG_RUNS[fault]
    arrays = zero_weights(2, beside=None)
    arrays |= {name: value for name, value in changes.items() if name in arrays}
    more = {name: value for name, value in changes.items() if name not in arrays}
    codes = more.pop("codes", [0, 1, 0])
    with pytest.raises(ValueError, match=message):
        run(view(np.ones((3, 2))), codes, 2, weights=arrays, **more)


def test_other_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="negative"):
        _engine.order(0, 0, -1)
    with pytest.raises(ValueError, match="no such instruction set"):
        _engine.use_instruction_set("abacus")
    with pytest.raises(ValueError, match="float32 or float64"):
        _engine.first_not_finite(np.ones(3, np.int32))
    with pytest.raises(TypeError):
        _engine.run("rows", None, None, None, None)


def test_no_rows_are_no_mistakes():
    outcome, arrays = run(view(np.empty((0, 3))), [], 3)
    assert outcome.converged == [True] and arrays["visits"].tolist() == [0]
    outcome, _ = run(view(np.ones((2, 3))), [0, 1], 3, subset=np.empty(0, np.int64))
    assert outcome.converged == [True]


def test_no_passes_change_nothing():
    outcome, arrays = run(view(np.ones((2, 3))), [0, 1], 3, passes=0)
    assert outcome.mistakes_per_pass[0].tolist() == [] and not outcome.converged[0] and not arrays["w"].any()


# Arrays that end where the memory ends: one read outside is a crash, which the test then reports.
GUARDED = """
import ctypes, mmap, sys
from itertools import product
import numpy as np
from rosenblatt import _engine

libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE

def at_the_edge(array):
    pages = -(-array.nbytes // PAGE) + 1
    memory = mmap.mmap(-1, pages * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if libc.mprotect(ctypes.c_void_p(start + (pages - 1) * PAGE), PAGE, 0) != 0:
        sys.exit("mprotect failed")
    offset = (pages - 1) * PAGE - array.nbytes
    out = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    np.copyto(out, array)
    return out

rng = np.random.default_rng(0)
for name, n, d, dtype in product(_engine.instruction_sets(), (1, 2, 3, 5, 9), (1, 3, 5, 7, 31, 33, 65), ("f4", "f8")):
    _engine.use_instruction_set(name)
    for n_classes, joint in ((2, False), (3, False), (5, True)):
        X = rng.normal(size=(n, d)).astype(dtype)
        codes = at_the_edge(rng.integers(0, n_classes, n).astype(np.int16))
        dense = _engine.DenseRows(at_the_edge(X))
        starts = at_the_edge((np.arange(n + 1) * d).astype(np.int32))
        columns = at_the_edge(np.tile(np.arange(d, dtype=np.int32), n))
        sparse = _engine.SparseRows(at_the_edge(X.reshape(-1)), columns, starts, n_features=d)
        vectors = 1 if n_classes == 2 else n_classes
        problems = 1 if joint else vectors
        for rows, shuffle in product((dense, sparse), (False, True)):
            padded = -(-d // 8) * 8
            weights = [at_the_edge(np.zeros((vectors, padded))) for _ in range(2)]
            _engine.run(
                rows,
                _engine.Labels(codes, n_classes=n_classes, joint=joint, class_weight=at_the_edge(np.ones(n_classes)),
                               sample_weight=at_the_edge(np.ones(n))),
                _engine.Rule(tie=_engine.Tie.mistake, fit_intercept=True),
                _engine.Schedule(max_passes=2, shuffle=shuffle),
                _engine.Weights(weights[0], at_the_edge(np.zeros(vectors)), w_late=weights[1],
                                b_late=at_the_edge(np.zeros(vectors)), visits=np.zeros(problems, np.int64),
                                updates=np.zeros(problems, np.int64), active=np.ones(problems, bool),
                                beside=at_the_edge(np.zeros((d, 8))) if vectors > 1 else None),
            )
        _engine.first_not_finite(at_the_edge(X))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="guards the memory with mprotect")
def test_nothing_outside_the_arrays_is_read():
    done = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_rows_and_labels_may_be_read_only_and_stay_as_they_are():
    X, codes = rough(30, 5, 3)
    before = X.copy()
    X.flags.writeable = codes.flags.writeable = False
    run(view(X), codes, 5)
    assert (before == X).all()


# ---- Votes ----
def whole_run(tie, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (12, 3)).tolist(), rng.integers(0, n_classes, 12).tolist()
    points = [*rng.integers(-2, 3, (9, 3)).tolist(), [0, 0, 0]]
    if n_classes == 2:
        return X, points, tb.perceptron(X, [2 * c - 1 for c in y], tie=tie, max_iter=3), y
    return X, points, tb.joint_perceptron(X, y, n_classes, tie=tie, max_iter=3), y


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("seed", range(5))
def test_votes_are_the_textbooks(instruction_set, tie, seed):
    X, points, made, y = whole_run(tie, seed=seed)
    products = np.array(X, float) @ np.array(points, float).T + 1
    rows = np.array([row for _, row in made.mistakes], np.int32)
    steps = np.array([2.0 * y[row] - 1 for row in rows])
    votes, scores = np.zeros(len(points), np.int64), np.zeros(len(points))
    _engine.vote(products, rows, steps, np.array(made.survival), TIES[tie], scores, votes)
    want = [sum(c * tb.sign(tb.dot(w, x) + b, tie) for c, (w, b) in zip(made.survival, made.vectors)) for x in points]
    assert votes.tolist() == want
    assert scores.tolist() == [tb.dot(made.w, x) + made.b for x in points]


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("seed", range(5))
def test_joint_votes_are_the_textbooks(instruction_set, tie, seed):
    X, points, made, _ = whole_run(tie, n_classes=4, seed=seed)
    products = np.array(X, float) @ np.array(points, float).T + 1
    rows, up, down = (np.array([m[i] for m in made.mistakes], np.int32) for i in (1, 2, 3))
    votes, scores = np.zeros((4, len(points)), np.int64), np.zeros((4, len(points)))
    steps = np.ones(len(rows))
    _engine.joint_vote(products, rows, up, down, steps, np.array(made.survival), TIES[tie], scores, votes)
    assert [tb.joint_predict(column, tie) for column in votes.T.tolist()] == [
        tb.joint_voted_prediction(made, x, tie) for x in points
    ]
    assert scores.T.tolist() == [[tb.dot(w, x) + b for w, b in zip(made.W, made.b)] for x in points]


def vote_arguments():
    return {
        "products": np.ones((2, 3)),
        "rows": np.array([0, 1], np.int32),
        "steps": np.ones(2),
        "survival": np.ones(3, np.int64),
        "tie": _engine.Tie.mistake,
        "scores": np.zeros(3),
        "votes": np.zeros(3, np.int64),
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("rows", np.array([0, 2], np.int32), "support row"),
        ("rows", np.array([0, -1], np.int32), "support row"),
        ("steps", np.ones(3), "a step for each"),
        ("survival", np.ones(2, np.int64), "survival time"),
        ("scores", np.zeros(2), "a score and a vote"),
        ("votes", np.zeros(4, np.int64), "a score and a vote"),
    ],
)
def test_wrong_votes_are_refused(name, value, message):
    arguments = vote_arguments() | {name: value}
    with pytest.raises(ValueError, match=message):
        _engine.vote(*arguments.values())


@pytest.mark.parametrize(
    ("up", "down", "message"), [([0, 4], [1, 0], "class"), ([0, 1], [-1, 0], "class"), ([0], [1, 0], "class")]
)
def test_wrong_joint_votes_are_refused(up, down, message):
    given = vote_arguments() | {"scores": np.zeros((4, 3)), "votes": np.zeros((4, 3), np.int64)}
    products, rows, steps, survival, tie, scores, votes = given.values()
    moved = np.array(up, np.int32), np.array(down, np.int32)
    with pytest.raises(ValueError, match=message):
        _engine.joint_vote(products, rows, *moved, steps, survival, tie, scores, votes)
