"""The hot loops of rosenblatt, and nothing else."""

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Tie(enum.Enum):
    mistake = 0
    positive = 1
    negative = 2

class DenseRows:
    def __init__(self, x: NDArray[Any]) -> None: ...

class SparseRows:
    def __init__(self, data: NDArray[Any], columns: NDArray[Any], starts: NDArray[Any], n_features: int) -> None: ...

class Labels:
    def __init__(
        self,
        codes: NDArray[np.int16],
        *,
        n_classes: int,
        joint: bool,
        class_weight: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None = None,
        subset: NDArray[np.int64] | None = None,
    ) -> None: ...

class PackedRows:
    n_rows: int
    n_features: int
    n_values: int
    dense: bool
    weighted: bool
    column_width: int
    value_kind: int
    places: int
    arrays: list[NDArray[Any]]

class Packer:
    n_bytes: int
    def __init__(self) -> None: ...
    def takes(self, rows: DenseRows | SparseRows, weighted: bool) -> bool: ...
    def add(
        self, rows: DenseRows | SparseRows, codes: NDArray[np.int16], weights: NDArray[np.float64] | None = None
    ) -> None: ...
    def finish(self, into: PackedRows | None = None) -> PackedRows: ...

class Rule:
    def __init__(
        self,
        *,
        tie: Tie,
        fit_intercept: bool,
        learn: bool = True,
        restart: bool = False,
        eta0: float = 1.0,
        max_updates: int = ...,
        margin: float = 0.0,
    ) -> None: ...

class Schedule:
    def __init__(
        self, *, max_passes: int, shuffle: bool = False, seed: int = 0, first_pass: int = 0, threads: int = 1
    ) -> None: ...

class Weights:
    def __init__(
        self,
        w: NDArray[np.float64],
        b: NDArray[np.float64],
        *,
        visits: NDArray[np.int64],
        updates: NDArray[np.int64],
        active: NDArray[np.bool_],
        w_late: NDArray[np.float64] | None = None,
        b_late: NDArray[np.float64] | None = None,
        beside: NDArray[np.float64] | None = None,
    ) -> None: ...

class Outcome:
    @property
    def mistakes_per_pass(self) -> list[NDArray[np.int64]]: ...
    @property
    def mistakes(self) -> list[dict[str, NDArray[Any]]]: ...
    @property
    def converged(self) -> list[bool]: ...
    @property
    def wrong(self) -> list[int]: ...
    @property
    def losses(self) -> list[float]: ...
    @property
    def finite(self) -> bool: ...
    @property
    def error(self) -> BaseException | None: ...

def run(
    rows: DenseRows | SparseRows,
    labels: Labels,
    rule: Rule,
    schedule: Schedule,
    weights: Weights,
    *,
    keep_log: bool = False,
    progress: Callable[[], object] | None = None,
    predicted: NDArray[np.int16] | None = None,
    known_from: NDArray[np.int64] | None = None,
) -> Outcome: ...
def replay(
    rows: DenseRows | SparseRows,
    ids: NDArray[np.int64],
    steps: NDArray[np.float64],
    w: NDArray[np.float64],
    b: NDArray[np.float64],
    *,
    fit_intercept: bool,
    up: NDArray[np.int32] | None = None,
    down: NDArray[np.int32] | None = None,
    before: NDArray[np.float64] | None = None,
    after: NDArray[np.float64] | None = None,
    squares: NDArray[np.float64] | None = None,
    path_w: NDArray[np.float64] | None = None,
    path_b: NDArray[np.float64] | None = None,
) -> None: ...
def order(seed: int, pass_: int, n: int) -> NDArray[np.int64]: ...
def columns_of_planes(planes: NDArray[np.uint8], width: int, first: int, columns: NDArray[np.int32]) -> None: ...
def decimals_of_planes(
    planes: NDArray[np.uint8], width: int, places: int, first: int, numbers: NDArray[np.float64]
) -> None: ...
def first_not_finite(values: NDArray[Any]) -> int: ...
def vote(
    products: NDArray[np.float64],
    rows: NDArray[np.int32],
    steps: NDArray[np.float64],
    survival: NDArray[np.int64],
    tie: Tie,
    scores: NDArray[np.float64],
    votes: NDArray[np.int64],
) -> None: ...
def joint_vote(
    products: NDArray[np.float64],
    rows: NDArray[np.int32],
    up: NDArray[np.int32],
    down: NDArray[np.int32],
    steps: NDArray[np.float64],
    survival: NDArray[np.int64],
    tie: Tie,
    scores: NDArray[np.float64],
    votes: NDArray[np.int64],
) -> None: ...

class MinNormEnd(enum.Enum):
    gap = 0
    zero = 1
    stuck = 2
    iterations = 3
    interrupted = 4

def min_norm(
    points: DenseRows,
    classes: NDArray[np.int16],
    *,
    n_classes: int,
    start: NDArray[np.int64],
    start_weights: NDArray[np.float64],
    gap: float,
    zero: float = 1e-13,
    max_iterations: int = 100000,
    seconds: float | None = None,
) -> tuple[
    NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], float, tuple[float, float], MinNormEnd, int
]: ...
def scan(
    rows: DenseRows | SparseRows,
    codes: NDArray[np.int16],
    *,
    n_classes: int,
    w: NDArray[np.float64],
    threshold: NDArray[np.float64],
    room: int = 0,
    scores: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...
def nearest(
    rows: DenseRows | SparseRows,
    codes: NDArray[np.int16],
    w: NDArray[np.float64],
    *,
    b: float,
    norm: float,
    roundings: float,
    underflow: float,
    likeness: float,
    threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], float]: ...
def equal_rows(
    rows: DenseRows | SparseRows, codes: NDArray[np.int16], factors: NDArray[np.uint64]
) -> tuple[int, int] | None: ...
def sizes(values: NDArray[Any]) -> tuple[bool, float, bool]: ...
def scores(
    rows: DenseRows | SparseRows, w: NDArray[np.float64], out: NDArray[np.float64], *, threads: int = 1
) -> None: ...
def combine(
    rows: DenseRows | SparseRows, coefficients: NDArray[np.float64], *, threads: int = 1
) -> NDArray[np.float64]: ...
def gram(
    rows: SparseRows, ids: NDArray[np.int64], coefficients: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def descend(
    rows: DenseRows | SparseRows,
    codes: NDArray[np.int16],
    norms: NDArray[np.float64],
    weights: NDArray[np.float64],
    w: NDArray[np.float64],
    *,
    b: float,
    bias: float,
    ids: NDArray[np.int64],
    cost: NDArray[np.float64] | None = None,
    low: float = ...,
    high: float = ...,
) -> tuple[float, int, int, float, float]: ...
def instruction_sets() -> list[str]: ...
def instruction_set() -> str: ...
def use_instruction_set(name: str) -> None: ...

# Reading (chunks.hpp, formats.hpp) ------------------------------------------------------------------------------------

Fault = tuple[int, int, bytes, bytes, str]  # line, column (both from 1), the line, what was found, what was expected

class ParseOptions:
    """How bytes become rows. `kinds` of csv columns: 0 ignored, 1 number, 2 category, 3 text, 4 label, 5 weight."""

    def __init__(
        self,
        format: str,
        *,
        index_base: int = 0,
        delimiter: str = ",",
        quotes: bool = True,
        kinds: Sequence[int] = (),
        names: Sequence[bytes] = (),
        label_key: bytes = b"label",
        features_key: bytes = b"features",
        weight_key: bytes = b"",
        text_keys: Sequence[bytes] = (),
        ignored_keys: Sequence[bytes] = (),
        hashed: bool = False,
        bits: int = 18,
        dictionary: Sequence[bytes] = (),
        ngrams: int = 1,
        word_counts: bool = False,
        interactions: bool = False,
        missing_is_zero: bool = False,
        keep_names: bool = False,
        require_label: bool = True,
        skip_bad_lines: bool = False,
        max_line: int = ...,
    ) -> None: ...

class Batch:
    """Some rows of a stream. Dense: `data` has `n_features` numbers a row; sparse: CSR arrays."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_values(self) -> int: ...
    @property
    def dense(self) -> bool: ...
    @property
    def smallest(self) -> int: ...  # column seen, or -1
    @property
    def lines(self) -> int: ...  # of the stream, up to here
    @property
    def end(self) -> int: ...  # bytes of the stream, up to here
    @property
    def rows(self) -> DenseRows | SparseRows: ...
    @property
    def labels(self) -> NDArray[np.int32]: ...  # numbers of the reader's labels; -1: none
    @property
    def weights(self) -> NDArray[np.float64] | None: ...
    @property
    def data(self) -> NDArray[np.float64]: ...
    @property
    def columns(self) -> NDArray[np.int32]: ...
    @property
    def starts(self) -> NDArray[np.int32]: ...
    @property
    def rejected(self) -> list[Fault]: ...
    @property
    def fault(self) -> Fault | None: ...  # the rows are those before it
    @property
    def names(self) -> list[tuple[int, bytes]]: ...

class Reader:
    """Parses in the background from when it is made; at most `slots` chunks ahead of what was asked for."""

    def __init__(
        self,
        source: int | Callable[[int], bytes],
        options: ParseOptions,
        *,
        threads: int = 2,
        chunk: int = ...,
        slots: int = 96,
        labels: Sequence[bytes] = (),
        dictionary: Sequence[bytes] = (),
        line: int = 0,
        offset: int = 0,
    ) -> None: ...
    def learn(self, rule: Rule, *, average: bool, width: int, keep: int = 0, piece: int = 0) -> None: ...
    def take(self, seconds: float) -> PackedRows | None: ...
    def wait(self, seconds: float) -> bool: ...
    def so_far(self) -> tuple[int, int]: ...
    def learned(self) -> dict[str, Any] | None: ...
    def next(self) -> Batch | None: ...
    def close(self) -> None: ...
    def labels(self, first: int = 0) -> list[bytes]: ...
    def dictionary(self, first: int = 0) -> list[bytes]: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_names(self) -> int: ...

class Budget(enum.Enum):
    forget = 0
    project = 1
    random = 2

def compress(rows: DenseRows | SparseRows, ids: NDArray[np.int64]) -> tuple[NDArray[Any], ...]: ...
def squares(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]: ...
def padded_points(count: int, bytes: int) -> int: ...
def kernel_values(
    values: NDArray[Any],
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    which: NDArray[np.int64],
    rows: DenseRows | SparseRows,
    ids: NDArray[np.int64],
    out: NDArray[Any],
    *,
    gamma: float = 1.0,
    coef0: float = 0.0,
    degree: int = 0,
    threads: int = 1,
) -> None: ...
def own_kernel_values(
    rows: DenseRows | SparseRows,
    ids: NDArray[np.int64],
    out: NDArray[Any],
    *,
    gamma: float = 1.0,
    coef0: float = 0.0,
    degree: int = 0,
    threads: int = 1,
) -> None: ...
def accumulate(
    values: NDArray[Any],
    rows: NDArray[np.int32],
    steps: NDArray[np.float64],
    scores: NDArray[np.float64],
    *,
    up: NDArray[np.int32] | None = None,
    down: NDArray[np.int32] | None = None,
    threads: int = 1,
) -> None: ...
def expansion_vote(
    values: NDArray[Any],
    rows: NDArray[np.int32],
    steps: NDArray[np.float64],
    survival: NDArray[np.int64],
    tie: Tie,
    scores: NDArray[np.float64],
    votes: NDArray[np.float64],
    *,
    up: NDArray[np.int32] | None = None,
    down: NDArray[np.int32] | None = None,
    threads: int = 1,
) -> None: ...
def settle(
    own: NDArray[Any],
    codes: NDArray[np.int16],
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64],
    *,
    positive: int,
    rule: Rule,
    scores: NDArray[np.float64],
    visits: int,
    updates: int,
) -> dict[str, Any]: ...
def settle_within_budget(
    values: NDArray[Any],
    codes: NDArray[np.int16],
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64],
    *,
    positives: NDArray[np.int64],
    active: NDArray[np.bool_],
    rule: Rule,
    own_columns: NDArray[np.int32],
    budget: Budget,
    max_support: int,
    size: int,
    mistaken: int,
    columns: NDArray[np.int32],
    coefficients: NDArray[np.float64],
    late: NDArray[np.float64] | None,
    slots: NDArray[np.int64] | None,
    gram: NDArray[np.float64] | None,
    state: NDArray[np.float64],
    seed: int,
    visits: NDArray[np.int64],
    updates: NDArray[np.int64],
) -> tuple[list[dict[str, Any]], int, int]: ...
def random_victim(seed: int, number: int, size: int) -> int: ...
