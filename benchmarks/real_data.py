"""Real data sets, read from the folder that ROSENBLATT_DATA names; its PROVENANCE.md says where each comes from."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Unavailable(Exception):
    """A case cannot run here; the message says why."""


def path(*parts: str) -> Path:
    """A file of the folder; `Unavailable` if it is not there."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    found = Path(os.environ.get("ROSENBLATT_DATA", default)).joinpath(*parts)
    if not found.exists():
        raise Unavailable(f"{'/'.join(parts)} is not here: set ROSENBLATT_DATA to the folder that holds it")
    return found


# Rows of numbers ----------------------------------------------------------------------------------------------------


def libsvm(*parts: str) -> tuple[Any, NDArray[Any]]:
    """Sparse rows in the form ``label index:value ...``, compressed or not."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path(*parts)))
    return X, y


def vowpal_wabbit(*parts: str, n_features: int) -> tuple[Any, NDArray[Any]]:
    """Sparse rows in the form ``label |f index:value ...``, one namespace."""
    from sklearn.datasets import load_svmlight_file

    lines = io.BytesIO(path(*parts).read_bytes().replace(b"|f ", b""))
    X, y = load_svmlight_file(lines, n_features=n_features, zero_based=True)
    return X, y


def table(*parts: str, names: bool = False) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Rows separated by commas, the label last; `names`: the first line has those of the columns."""
    import pandas as pd

    values = pd.read_csv(path(*parts), header=0 if names else None)
    return values.iloc[:, :-1].to_numpy(np.float64), values.iloc[:, -1].to_numpy()


def mnist(part: str, digits: Sequence[int] = range(10)) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The pixels (0 to 255) of some digits, from the part "train" or "t10k"."""
    X = _idx(path("mnist", f"{part}-images-idx3-ubyte.gz")).reshape(-1, 784)
    y = _idx(path("mnist", f"{part}-labels-idx1-ubyte.gz"))
    if len(digits) == 10:
        return X, y
    chosen = np.isin(y, digits)
    return X[chosen], y[chosen]


def _idx(file: Path) -> NDArray[np.uint8]:
    """An idx file of bytes: two zeros, the type, the number of dimensions, the dimensions, the values."""
    content = gzip.decompress(file.read_bytes())
    shape = np.frombuffer(content, ">u4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


# Texts, as bags of words --------------------------------------------------------------------------------------------


def sms_spam() -> tuple[Any, NDArray[Any]]:
    """Short messages, ham or spam, as counts of their words."""
    lines = path("sms_spam", "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    kinds, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return _counts(texts), np.asarray(kinds)


def newsgroups(groups: Sequence[str] | None = None, part: str = "train") -> tuple[Any, NDArray[Any]]:
    """Letters to some newsgroups, or all twenty, with their headers, as counts of their words."""
    texts, names = newsgroup_texts(groups, part)
    return _counts(texts), np.asarray(names)


def newsgroup_texts(groups: Sequence[str] | None = None, part: str = "") -> tuple[list[str], list[str]]:
    """Letters to some newsgroups, or all twenty, of the part "train" or "test", or of both."""
    archive = path("20newsgroups", "20news-bydate.tar.gz")
    return _texts(archive, ("train", "test") if not part else (part,), groups, "latin-1", "20news-bydate-")


def imdb(part: str) -> tuple[Any, NDArray[Any]]:
    """25,000 film reviews, neg or pos, as counts of their words."""
    texts, names = imdb_texts(part)
    return _counts(texts), np.asarray(names)


def imdb_texts(part: str) -> tuple[list[str], list[str]]:
    """25,000 film reviews of the part "train" or "test", neg first, then pos."""
    return _texts(path("imdb", "aclImdb_labeled.tar.xz"), (part,), ("neg", "pos"), "utf-8")


def _texts(
    file: Path, parts: Sequence[str], classes: Sequence[str] | None, encoding: str, prefix: str = ""
) -> tuple[list[str], list[str]]:
    """The texts below ``.../part/class/`` in an archive, in its order, and their classes."""
    folders = [prefix + part for part in parts]
    texts, names = [], []
    with tarfile.open(file) as archive:
        for member in archive:
            parents = member.name.split("/")[:-1]
            wanted = len(parents) >= 2 and parents[-2] in folders and (classes is None or parents[-1] in classes)
            if member.isfile() and wanted:
                content = archive.extractfile(member)
                assert content is not None
                texts.append(content.read().decode(encoding))
                names.append(parents[-1])
    return texts, names


def _counts(texts: Sequence[str]) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer().fit_transform(texts)
