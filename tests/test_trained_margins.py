"""Margin classifiers that were fitted on files: their model files say how to read the next one, and predict alike."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt as rb
from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.trained_model import load_trained, remember_reading


def fitted(kind):
    X, y = load_iris(return_X_y=True)
    if kind == "MaxMargin":
        return rb.MaxMargin().fit(X, y == 0), X
    model = rb.SoftMargin() if kind == "SoftMargin" else rb.SoftMarginCV(Cs=[0.1, 1.0], cv=2)
    return model.fit(X, y), X


@pytest.mark.parametrize("kind", ["MaxMargin", "SoftMargin", "SoftMarginCV"])
def test_what_predicts_without_scikit_learn_predicts_alike(kind, tmp_path):
    model, X = fitted(kind)
    rb.save(model, tmp_path / "model")
    trained = load_trained(tmp_path / "model")
    assert trained.reading is None and trained.estimator == kind
    np.testing.assert_array_equal(trained.predict(X), model.predict(X))
    np.testing.assert_allclose(trained.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(trained.coef_, model.coef_)


def test_the_file_says_how_to_read_the_next_one(tmp_path):
    model, _ = fitted("SoftMargin")
    reading = ReadingOptions(format="csv", label="kind", delimiter=";")
    remember_reading(model, reading, [50, 50, 50], feature_names=["a", "b", "c", "d"], names_of_hashes={3: "blue"})
    rb.save(model, tmp_path / "model")
    trained, again = load_trained(tmp_path / "model"), rb.load_model(tmp_path / "model")
    assert trained.reading == again.reading_ == reading
    assert trained.feature_names == again.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert trained.names_of_hashes == {3: "blue"}
    assert trained.training["rows"] == 150


def test_it_is_only_what_predicts(tmp_path):
    rb.save(fitted("MaxMargin")[0], tmp_path / "model")
    trained = load_trained(tmp_path / "model")
    for attempt in (trained.to_estimator, lambda: rb.save(trained, tmp_path / "again")):
        with pytest.raises(InputError, match="this is only what predicts of a MaxMargin: load_model has all of it"):
            attempt()


def test_a_file_that_does_not_fit_together_is_refused(tmp_path):
    model, _ = fitted("SoftMargin")
    remember_reading(model, ReadingOptions(), [50, 100])
    with pytest.raises(InputError, match="it has not a count for each class"):
        rb.save(model, tmp_path / "model")
    (tmp_path / "model").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    with pytest.raises(ModelFileError, match="it says nothing of rosenblatt"):
        load_trained(tmp_path / "model")
