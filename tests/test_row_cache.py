"""Rows that were kept in a file come back as they were, or not at all."""

import os
from contextlib import ExitStack, closing

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import _engine
from rosenblatt.errors import CheckpointError, InputError
from rosenblatt.runs import row_cache
from rosenblatt.runs.row_batches import RowBatch, Sparse, joined
from rosenblatt.runs.row_cache import RowCache


def batch_of(rng, n, d, *, sparse=True, weighted=False, exact=False, index=np.int32):
    X = np.round(rng.normal(size=(n, d)), 2 if not exact else 0) * (rng.random((n, d)) < 0.4)
    codes, weights = rng.integers(0, 5, n).astype(np.int16), rng.random(n) if weighted else None
    if not sparse:
        return RowBatch(codes, d, dense=X, weights=weights)
    csr = sp.csr_array(X)
    parts = Sparse(csr.data, csr.indices.astype(index), csr.indptr.astype(index))
    return RowBatch(codes, d, sparse=parts, weights=weights)


def dense_of(batch, width):
    if batch.dense is not None:
        return batch.as_wide_as(width).dense.astype(np.float64)
    values, columns, starts = batch.sparse
    return sp.csr_array((values, columns, starts), shape=(len(batch), width)).toarray().astype(np.float64)


def everything(batches, width):
    rows = np.concatenate([dense_of(batch, width) for batch in batches])
    ones = [np.ones(len(batch)) if batch.weights is None else batch.weights for batch in batches]
    return rows, np.concatenate([batch.codes for batch in batches]), np.concatenate(ones)


def assert_equal(some, others, width):
    for one, other in zip(everything(some, width), everything(others, width)):
        assert one.tolist() == other.tolist()


def read(cache):
    """The batches of a cache, which keeps the memory of none of them."""
    return [in_memory_of_its_own(batch) for _, batch in cache.batches()]


def in_memory_of_its_own(batch):
    dense = None if batch.dense is None else batch.dense.copy()
    sparse = None if batch.sparse is None else Sparse(*(part.copy() for part in batch.sparse))
    weights = None if batch.weights is None else batch.weights.copy()
    return RowBatch(batch.codes.copy(), batch.n_features, dense=dense, sparse=sparse, weights=weights)


def test_a_cache_that_another_run_uses_is_refused(tmp_path):
    pytest.importorskip("fcntl", reason="Windows does not truncate a file in use")
    path = str(tmp_path / "rows")
    batch = batch_of(np.random.default_rng(0), 20, 3)
    with closing(RowCache(path)) as first:
        with pytest.raises(CheckpointError, match="another run is using it: wait for its end, or name another file"):
            RowCache(path)
        first.add(batch, 5)
        first.finish({})
        with closing(RowCache.reopen(path)[0]) as other:  # read by several at once
            kept = [part for _, part in other.batches()]  # maps the file
    with closing(RowCache(path)) as second:
        assert second.rows == 0
    assert len(kept) == 1


def test_a_file_that_is_no_cache_is_not_written_over(tmp_path):
    path = tmp_path / "notes"
    path.write_text("precious")
    with pytest.raises(CheckpointError, match="notes is not a cache of rows: name another file, or delete it"):
        RowCache(str(path))
    assert path.read_text() == "precious"


def test_a_cache_that_was_emptied_begins_anew():
    rng = np.random.default_rng(0)
    first, second = (batch_of(rng, n, 4) for n in (9, 5))
    with closing(RowCache()) as cache:
        cache.add(first, 5)
        cache.flush()
        cache.empty()
        cache.add(second, 5)
        assert_equal(read(cache), [second], 4)
        assert cache.rows == 5 and len(cache) == 1


def test_rows_without_numbers_do_not_wait_without_end():
    empty = Sparse(np.zeros(0), np.zeros(0, np.int32), np.zeros(1001, np.int32))
    batch = RowBatch(np.zeros(1000, np.int16), 1, sparse=empty)
    with closing(RowCache()) as cache:
        for _ in range(2000):
            cache.add(batch, 1)
        assert len(cache) >= 3
        assert sum(len(found) for _, found in cache.batches()) == 2_000_000


def test_memory_that_is_used_again_does_not_reach_the_cache():
    rng = np.random.default_rng(0)
    batch = batch_of(rng, 6, 4, sparse=False)
    kept = in_memory_of_its_own(batch)
    with closing(RowCache()) as cache:
        cache.add(batch, 5)
        batch.dense[:] = 0
        assert_equal(read(cache), [kept], 4)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_was_added_is_read_from_any_row_on(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    kinds = st.fixed_dictionaries(
        {
            "n": st.integers(1, 30),
            "d": st.sampled_from((1, 3, 9)),
            "sparse": st.booleans(),
            "weighted": st.booleans(),
            "exact": st.booleans(),
            "index": st.sampled_from((np.int32, np.int64)),
        }
    )
    batches = [batch_of(rng, **kind) for kind in data.draw(st.lists(kinds, min_size=1, max_size=8))]
    with closing(RowCache()) as cache, pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_cache, "_BLOCK", data.draw(st.sampled_from((1, 300, 1 << 20))))
        patch.setattr(row_cache, "_IN_MEMORY", data.draw(st.sampled_from((0, 1500, 1 << 20))))
        for k, batch in enumerate(batches):
            cache.add(batch, k + 1)
        assert_equal(read(cache), batches, 9)
        n = cache.rows
        assert n == sum(map(len, batches)) and cache.n_features == max(batch.n_features for batch in batches)
        start = data.draw(st.integers(0, n - 1))
        firsts, rest = zip(*((first, in_memory_of_its_own(batch)) for first, batch in cache.batches(start)))
        assert firsts[0] == start
        want = [values[start:] for values in everything(batches, 9)]
        assert [values.tolist() for values in everything(rest, 9)] == [values.tolist() for values in want]
        end = data.draw(st.integers(start + 1, n))
        stretch = everything(list(cache.stretch(start, end)), 9)
        assert [values.tolist() for values in stretch] == [values[: end - start].tolist() for values in want]


# How a file has numbers, and what no file has: each list is kept in one form of its own.
numbers = st.one_of(
    st.builds(lambda m, k: m / 10**k, st.integers(-(2**31) + 1, 2**31 - 1), st.integers(0, 9)),
    st.integers(-300, 300).map(float),
    st.sampled_from((0.0, -0.0, 1.0, float("nan"), float("inf"), -float("inf"), 5e-324, 1e300, 0.1 + 0.2)),
    st.floats(width=32),
    st.floats(),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(numbers, min_size=1, max_size=20), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(_engine.instruction_sets()),
)
def test_numbers_come_back_to_the_bit(lists, sparse, instruction_set):
    with closing(RowCache()) as cache, ExitStack() as restore:
        restore.callback(_engine.use_instruction_set, _engine.instruction_set())
        _engine.use_instruction_set(instruction_set)
        for values in map(np.asarray, lists):
            n = len(values)
            rows = Sparse(values, np.arange(n, dtype=np.int32), np.asarray([0, n], np.int32))
            kept = {"sparse": rows} if sparse else {"dense": values.reshape(n, 1)}
            cache.add(RowBatch(np.zeros(1 if sparse else n, np.int16), n if sparse else 1, **kept), 1)
        found = np.concatenate([batch.values.reshape(-1).astype(np.float64) for batch in read(cache)])
    assert found.tobytes() == np.concatenate(lists).astype(np.float64).tobytes()


def kept_in(values, n_features=1 << 24):
    """The bytes of a column number, and the form of the values: their width if they are decimals."""
    packer, values = _engine.Packer(), np.asarray(values)
    columns, starts = np.arange(len(values), dtype=np.int32), np.asarray([0, len(values)], np.int32)
    packer.add(_engine.SparseRows(values, columns, starts, n_features), np.zeros(1, np.int16))
    packed = packer.finish()
    return packed.column_width, packed.value_kind, packed.places


def test_numbers_take_as_few_bytes_as_will_do():
    assert kept_in([1.0, 1.0]) == (3, 0, 0)
    assert kept_in([1.0, -128.0]) == (3, 1, 0) and kept_in([128.0]) == (3, 2, 0)
    assert kept_in([0.5, 0.12345]) == (3, 3, 5) and kept_in([0.123456789]) == (3, 4, 9)
    assert kept_in(np.asarray([0.1], np.float32)) == (3, 32, 0) and kept_in([2.0**-30]) == (3, 32, 0)
    assert kept_in([1 / 3]) == (3, 64, 0) and kept_in([-0.0]) == (3, 32, 0) and kept_in([np.nan]) == (3, 64, 0)
    assert kept_in([3e9, 0.5]) == (3, 32, 0) and kept_in([1e5, 1e-9]) == (3, 64, 0)
    widths = [kept_in([1.0], n_features)[0] for n_features in (256, 257, 1 << 16, 1 + (1 << 16), (1 << 24) + 1)]
    assert widths == [1, 2, 2, 3, 4]


def test_the_first_blocks_of_a_temporary_cache_stay_in_memory(monkeypatch):
    monkeypatch.setattr(row_cache, "_IN_MEMORY", 1500)
    rng = np.random.default_rng(0)
    batches = [batch_of(rng, 50, 9) for _ in range(4)]
    sizes = []
    with closing(RowCache()) as cache:
        for batch in batches:
            cache.add(batch, 5)
            cache.flush()
            sizes.append(os.fstat(cache._file.fileno()).st_size)
        assert sizes[0] == 64 and sizes[1] > 64  # its beginning; the second block is too much
        assert sizes[1] < sizes[2] < sizes[3]
        assert_equal(read(cache), batches, 9)


def test_a_batch_larger_than_a_block_becomes_several():
    rng = np.random.default_rng(0)
    batch = batch_of(rng, 50, 9)
    with closing(RowCache()) as cache, pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_cache, "_BLOCK", 300)
        cache.add(batch, 5)
        assert_equal(read(cache), [batch], 9)
        assert len(cache) > 3


def test_more_features_than_the_cache_can_number_are_refused():
    one = Sparse(np.ones(1), np.asarray([1 << 40]), np.asarray([0, 1]))
    with closing(RowCache()) as cache, pytest.raises(InputError, match="at most 2\\*\\*31 - 1 features"):
        cache.add(RowBatch(np.zeros(1, np.int16), (1 << 40) + 1, sparse=one), 1)


def test_a_small_cache_of_many_features_is_found_again(tmp_path):
    path = str(tmp_path / "rows")
    rows = Sparse(np.ones(2), np.asarray([7, 200_000], np.int32), np.asarray([0, 1, 2], np.int32))
    cache = RowCache(path)
    cache.add(RowBatch(np.asarray([0, 1], np.int16), 1 << 18, sparse=rows), 2)
    cache.finish({})
    cache.close()
    again, _ = RowCache.reopen(path)
    assert [batch.sparse.columns.tolist() for batch in read(again)] == [[7, 200_000]]
    again.close()


def test_a_finished_cache_is_found_again(tmp_path):
    rng, path = np.random.default_rng(1), str(tmp_path / "rows")
    assert RowCache.reopen(path) is None
    batches = [batch_of(rng, 50, 6) for _ in range(3)]
    cache = RowCache(path)
    for batch in batches:
        cache.add(batch, 5)
    cache.close()
    assert RowCache.reopen(path) is None  # not finished
    cache = RowCache(path)
    for batch in batches:
        cache.add(batch, 5)
    cache.finish({"rows of": "a test"})
    cache.close()
    again, about = RowCache.reopen(path)
    assert about == {"rows of": "a test"} and again.classes_at(149) == 5
    assert_equal(read(again), batches, 6)
    again.close()


def test_a_cache_goes_on_from_a_mark(tmp_path):
    rng, path = np.random.default_rng(2), str(tmp_path / "rows")
    batches = [batch_of(rng, 50, 6) for _ in range(4)]
    cache = RowCache(path)
    cache.add(batches[0], 5)
    cache.add(batches[1], 5)
    mark = cache.sync()
    cache.add(batches[3], 5)  # lost: the process dies before the next mark
    cache.flush()
    cache.close()
    again = RowCache(path, mark=mark)
    again.add(batches[2], 5)
    assert_equal(read(again), batches[:3], 6)
    again.close()


def test_any_changed_byte_is_noticed(tmp_path):
    rng, path = np.random.default_rng(3), tmp_path / "rows"
    cache = RowCache(str(path))
    cache.add(batch_of(rng, 40, 6, weighted=True), 5)
    cache.flush()
    cache.add(batch_of(rng, 40, 6), 5)
    mark = cache.sync()
    cache.close()
    content = path.read_bytes()
    assert len(content) == mark.size

    def read():
        with_damage = RowCache(str(path), mark=mark)
        try:
            return list(with_damage.batches())
        finally:
            with_damage.close()

    assert len(read()) == 2
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"is damaged|does not hold the rows"):
            read()
    path.write_bytes(content[:-1])
    with pytest.raises(CheckpointError, match="is damaged"):
        read()


def test_a_damaged_end_is_noticed(tmp_path):
    path = tmp_path / "rows"
    cache = RowCache(str(path))
    cache.add(batch_of(np.random.default_rng(4), 40, 6), 5)
    cache.finish({"a": 1})
    cache.close()
    content = bytearray(path.read_bytes())
    content[-80] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="is damaged"):
        RowCache.reopen(str(path))


def test_a_temporary_cache_leaves_nothing_behind(tmp_path):
    cache = RowCache(folder=str(tmp_path))
    cache.add(batch_of(np.random.default_rng(5), 10, 3), 5)
    cache.flush()
    cache.close()
    assert not list(tmp_path.iterdir())


def test_batches_joined_are_one_after_the_other():
    rng = np.random.default_rng(6)
    some = [batch_of(rng, 7, d, weighted=d == 4) for d in (3, 5, 4)]
    assert_equal([joined(some)], some, 5)
    dense = [batch_of(rng, 7, d, sparse=False) for d in (3, 5)]
    assert_equal([joined(dense)], dense, 5)
