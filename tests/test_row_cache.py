"""Rows that were kept in a file come back as they were, or not at all."""

import tempfile
from contextlib import closing

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import row_cache, whole_grains
from rosenblatt.errors import CheckpointError
from rosenblatt.row_batches import RowBatch, Sparse, joined
from rosenblatt.row_cache import RowCache
from rosenblatt.whole_grains import WholeGrains


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


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_written_in_whole_grains_has_what_was_written(data):
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile("w+b", 0) as file:
        patch.setattr(whole_grains, "GRAIN", 16)
        patch.setattr(whole_grains, "_MOST_PIECES", 3)
        before = data.draw(st.binary(max_size=40))
        file.write(before)
        grains, written = WholeGrains(file, len(before)), before
        for pieces in data.draw(st.lists(st.lists(st.binary(max_size=20), max_size=6), max_size=6)):
            grains.write(*pieces)
            written += b"".join(pieces)
            assert grains.end == len(written) and file.tell() >= len(written) // 16 * 16
            if data.draw(st.booleans()):
                grains.drain()
                assert file.tell() == len(written)
        grains.drain()
        file.seek(0)
        assert file.read() == written


def test_a_cache_that_was_emptied_begins_anew():
    rng = np.random.default_rng(0)
    first, second = (batch_of(rng, n, 4) for n in (9, 5))
    with closing(RowCache()) as cache:
        cache.add(first, 5)
        cache.flush()
        cache.empty()
        cache.add(second, 5)
        assert_equal([batch for _, batch in cache.batches()], [second], 4)
        assert cache.rows == 5 and len(cache) == 1


def test_rows_without_numbers_do_not_wait_without_end():
    empty = Sparse(np.zeros(0), np.zeros(0, np.int32), np.zeros(1001, np.int32))
    batch = RowBatch(np.zeros(1000, np.int16), 1, sparse=empty, lasts=True)
    with closing(RowCache()) as cache:
        for _ in range(2000):
            cache.add(batch, 1)
        assert len(cache) >= 3
        assert sum(len(found) for _, found in cache.batches()) == 2_000_000


def test_memory_that_is_used_again_does_not_reach_the_cache():
    rng = np.random.default_rng(0)
    batch = batch_of(rng, 6, 4, sparse=False)
    kept = batch.copy()
    with closing(RowCache()) as cache:
        cache.add(batch, 5)
        batch.dense[:] = 0
        assert_equal([found for _, found in cache.batches()], [kept], 4)


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
    with closing(RowCache()) as cache:
        block, row_cache._BLOCK = row_cache._BLOCK, data.draw(st.sampled_from((1, 300, 1 << 20)))
        try:
            for k, batch in enumerate(batches):
                cache.add(batch, k + 1)
        finally:
            row_cache._BLOCK = block
        assert_equal([batch for _, batch in cache.batches()], batches, 9)
        n = cache.rows
        assert n == sum(map(len, batches)) and cache.n_features == max(batch.n_features for batch in batches)
        start = data.draw(st.integers(0, n - 1))
        firsts, rest = zip(*cache.batches(start))
        assert firsts[0] == start
        want = [values[start:] for values in everything(batches, 9)]
        assert [values.tolist() for values in everything(rest, 9)] == [values.tolist() for values in want]
        end = data.draw(st.integers(start + 1, n))
        stretch = everything(cache.stretch(start, end), 9)
        assert [values.tolist() for values in stretch] == [values[: end - start].tolist() for values in want]


def test_numbers_are_kept_short_only_where_nothing_is_lost():
    rng = np.random.default_rng(0)
    cache = RowCache()
    for exact in (True, False):
        cache.add(batch_of(rng, 20, 5, exact=exact), 5)
        cache.flush()
    assert [batch.values.dtype for _, batch in cache.batches()] == [np.float32, np.float64]
    huge = RowBatch(np.zeros(1, np.int16), 2, dense=np.asarray([[1e300, np.nan]]))
    cache.add(huge, 5)
    last = [batch for _, batch in cache.batches()][-1]
    assert last.values.dtype == np.float64 and last.values[0, 0] == 1e300 and np.isnan(last.values[0, 1])
    cache.close()


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
    assert_equal([batch for _, batch in again.batches()], batches, 6)
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
    assert_equal([batch for _, batch in again.batches()], batches[:3], 6)
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
