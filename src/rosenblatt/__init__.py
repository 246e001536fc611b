"""Linear classifiers that learn from their mistakes, and proofs of what they say about your data.

>>> import rosenblatt as rb
>>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
>>> model = rb.Perceptron(**rb.textbook.variant("001")).fit(X, y)
>>> model.converged_, model.separates_, model.n_updates_
(True, True, 3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that holds it. Loaded when first touched, so that importing the package costs nothing and
# scikit-learn is imported only by those who use an estimator.
_HOME = {
    "AveragedPerceptron": "perceptrons",
    "Batch": "readers",
    "CertificateTable": "certificate_table",
    "Hyperplane": "hyperplane",
    "Inseparable": "certificates",
    "JointInseparable": "joint_certificates",
    "JointSeparable": "joint_certificates",
    "JointUndecided": "joint_certificates",
    "KernelPerceptron": "kernel_perceptron",
    "MaxMargin": "margin_classifiers",
    "Perceptron": "perceptrons",
    "Separable": "certificates",
    "SoftMargin": "soft_margin_classifiers",
    "SoftMarginCV": "margin_paths",
    "SoftMarginPath": "margin_paths",
    "Suspects": "wrong_labels",
    "Trace": "traces",
    "TrainedModel": "trained_model",
    "Undecided": "certificates",
    "VotedPerceptron": "perceptrons",
    "certificate_from_json": "certificates",
    "certify": "separability",
    "errors": "",
    "load": "readers",
    "load_model": "model_file",
    "load_trained": "trained_model",
    "plot": "",
    "read": "readers",
    "reports": "",
    "save": "model_file",
    "soft_margin_path": "margin_paths",
    "suspects": "wrong_labels",
    "textbook": "",
    "to_onnx": "onnx_export",
    "trace": "traces",
    "train": "training",
    "verify": "certificates",
    "verify_batches": "certificates",
}

__all__ = ["__version__", *sorted(_HOME)]

if TYPE_CHECKING:
    from rosenblatt import errors as errors
    from rosenblatt import plot as plot
    from rosenblatt import reports as reports
    from rosenblatt import textbook as textbook
    from rosenblatt.certificate_table import CertificateTable as CertificateTable
    from rosenblatt.certificates import Inseparable as Inseparable
    from rosenblatt.certificates import Separable as Separable
    from rosenblatt.certificates import Undecided as Undecided
    from rosenblatt.certificates import certificate_from_json as certificate_from_json
    from rosenblatt.certificates import verify as verify
    from rosenblatt.certificates import verify_batches as verify_batches
    from rosenblatt.hyperplane import Hyperplane as Hyperplane
    from rosenblatt.joint_certificates import JointInseparable as JointInseparable
    from rosenblatt.joint_certificates import JointSeparable as JointSeparable
    from rosenblatt.joint_certificates import JointUndecided as JointUndecided
    from rosenblatt.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.margin_classifiers import MaxMargin as MaxMargin
    from rosenblatt.margin_paths import SoftMarginCV as SoftMarginCV
    from rosenblatt.margin_paths import SoftMarginPath as SoftMarginPath
    from rosenblatt.margin_paths import soft_margin_path as soft_margin_path
    from rosenblatt.model_file import load_model as load_model
    from rosenblatt.model_file import save as save
    from rosenblatt.onnx_export import to_onnx as to_onnx
    from rosenblatt.perceptrons import AveragedPerceptron as AveragedPerceptron
    from rosenblatt.perceptrons import Perceptron as Perceptron
    from rosenblatt.perceptrons import VotedPerceptron as VotedPerceptron
    from rosenblatt.readers import Batch as Batch
    from rosenblatt.readers import load as load
    from rosenblatt.readers import read as read
    from rosenblatt.separability import certify as certify
    from rosenblatt.soft_margin_classifiers import SoftMargin as SoftMargin
    from rosenblatt.traces import Trace as Trace
    from rosenblatt.traces import trace as trace
    from rosenblatt.trained_model import TrainedModel as TrainedModel
    from rosenblatt.trained_model import load_trained as load_trained
    from rosenblatt.training import train as train
    from rosenblatt.wrong_labels import Suspects as Suspects
    from rosenblatt.wrong_labels import suspects as suspects


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
    home = _HOME[name]
    value = importlib.import_module(f"rosenblatt.{home or name}")
    if home:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
