"""Words of text in the engine: MurmurHash3 as scikit-learn has it, its words and n-grams, counts, names, collisions."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_readers import Features, batches, grams, murmur, read, table_options
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import murmurhash3_32

pytestmark = pytest.mark.engine

ascii_text = st.text(st.sampled_from("abcdeXYZ0_ .,!-\t"), max_size=300)
any_bytes = st.lists(st.integers(0, 255).filter(lambda byte: byte not in b'"\r\n|'), max_size=200).map(bytes)
ONE = {"note": "text", "class": "label"}
TWO = {"note": "text", "class": "label", "more": "text"}


def words(text, **options):
    """The features of one text."""
    ((row,), _) = read("csv", b'"' + text + b'",1\n', **table_options(ONE, **{"hashed": True} | options))[1:]
    return row


@given(st.binary(max_size=40).map(lambda b: bytes(byte | 0x80 for byte in b)), st.integers(1, 30))
@example(b"ab", 30)
def test_the_hash_is_that_of_scikit_learn(word, bits):
    expected = {murmurhash3_32(word, 0, positive=True) & (1 << bits) - 1: 1.0} if len(word) > 1 else {}
    assert words(word, bits=bits) == expected


@pytest.mark.parametrize("length", range(2, 70))
def test_words_of_every_length_at_every_place(length):
    word = bytes(97 + k % 26 for k in range(length))
    for shift in range(0, 70, 7):
        text = b"." * shift + word + b" " + word.upper() + b" x"
        assert words(text) == {murmur(word): 1.0}


@given(any_bytes, st.integers(1, 3), st.booleans(), st.integers(1, 20))
def test_words_equal_those_of_a_plain_reader(text, ngrams, word_counts, bits):
    twin = Features(hashed=True, ngrams=ngrams, word_counts=word_counts, bits=bits)
    twin.text("note", text)
    found = words(text, ngrams=ngrams, word_counts=word_counts, bits=bits)
    assert found == twin.finished() and list(found) == list(twin.row)


@given(ascii_text, st.integers(1, 3))
def test_words_are_those_of_scikit_learn(text, ngrams):
    analyse = CountVectorizer(ngram_range=(1, ngrams)).build_analyzer()
    assert sorted(gram.decode() for gram in grams(text, ngrams)) == sorted(analyse(text))


def test_several_columns_of_text_have_features_of_their_own():
    text = "good film,1,good\n"
    (row,) = read("csv", text, **table_options(TWO, hashed=True))[1]
    seeds = [murmurhash3_32(name, 0, positive=True) for name in (b"note", b"more")]
    assert row == {murmur(b"good", seeds[0]): 1.0, murmur(b"film", seeds[0]): 1.0, murmur(b"good", seeds[1]): 1.0}


def test_words_can_be_numbered():
    (row,) = read("csv", "Good good film,1\n", **table_options(ONE, word_counts=True, ngrams=2))[1]
    assert row == {"note=good": 2.0, "note=film": 1.0, "note=good good": 1.0, "note=good film": 1.0}


@pytest.mark.parametrize("columns, prefix", [(ONE, b""), (TWO, b"note=")])
def test_names_are_kept(columns, prefix):
    line = "Good film,1,\n" if columns is TWO else "Good film,1\n"
    (batch,) = batches("csv", line * 3, **table_options(columns, hashed=True, keep_names=True))[1]
    assert [name for _, name in batch.names] == [prefix + b"good", prefix + b"film"]
    assert [column for column, _ in batch.names] == batch.columns[:2].tolist()


def test_words_that_share_a_column_are_there_once():
    assert words(b"aa bb cc dd ee ff gg hh", bits=1) == {0: 1.0, 1: 1.0}
    assert sum(words(b"aa bb cc dd ee ff gg hh", bits=1, word_counts=True).values()) == 8.0


def test_rows_with_very_many_words():
    rng = np.random.default_rng(0)
    many = [f"w{k}" for k in rng.integers(0, 20_000, 30_000)]
    for counts in (False, True):
        twin = Features(hashed=True, word_counts=counts, bits=30)
        twin.text("note", " ".join(many))
        text = "\n".join([f"{' '.join(many)},1", "few words,2", f"{' '.join(many)},1"])
        found = read("csv", text, **table_options(ONE, hashed=True, word_counts=counts, bits=30))[1]
        assert found[0] == found[2] == twin.row and len(found[1]) == 2


def test_columns_of_hashed_rows_are_as_many_as_there_can_be():
    (batch,) = batches("csv", "few words,2\n", **table_options(ONE, hashed=True, bits=10))[1]
    assert batch.n_features == 1024
