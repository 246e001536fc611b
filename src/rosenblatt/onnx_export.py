"""A linear model as an ONNX graph, which runs wherever an ONNX runtime does, without Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import rosenblatt
from rosenblatt.errors import InputError, missing_extra
from rosenblatt.model_checks import is_fitted
from rosenblatt.model_file import estimator_name, write_atomically

if TYPE_CHECKING:
    import onnx

_OPSET, _IR = 15, 8  # of 2021: every runtime in use knows them
_LARGEST = (1 << 31) - (1 << 20)  # bytes: protobuf ends at 2 GB


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64") -> onnx.ModelProto:
    """Make an ONNX graph that gives the same labels as ``model.predict``.

    Its input is ``X`` (rows × features); its outputs are ``label``, as `predict` gives it, and ``scores``, as
    `decision_function` does. It computes in double precision, also for float32 rows, as the model does.

    Parameters
    ----------
    model : any of the estimators but VotedPerceptron and KernelPerceptron
        A fitted model. The labels are int64, double, bool or string, as its classes are.
    path : str or path, optional
        Write the graph to this file as well; an old file is replaced in one step.
    dtype : {"float64", "float32"}, default "float64"
        The type of the input.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> import rosenblatt as rb
    >>> graph = rb.to_onnx(rb.Perceptron().fit([[-1.0], [1.0]], ["left", "right"])).graph
    >>> [node.op_type for node in graph.node]
    ['MatMul', 'Add', 'Greater', 'Cast', 'Gather']
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise missing_extra("onnx", "onnx") from None
    _require_linear(model)
    if dtype not in ("float64", "float32"):
        raise InputError(f'dtype must be "float64" or "float32", got {dtype!r}')
    parameters = model.get_params(deep=False)
    labels, label_type = _labels(model.classes_)
    binary = len(labels) == 2
    coef = np.ascontiguousarray(model.coef_[0] if binary else model.coef_.T, dtype=np.float64)
    intercept = np.asarray(model.intercept_[0] if binary else model.intercept_, dtype=np.float64)
    if coef.nbytes > _LARGEST:
        raise InputError(
            f"the coefficients take {coef.nbytes} bytes, and an ONNX file ends at 2 GB: use rosenblatt.save"
        )

    constants = [
        numpy_helper.from_array(coef, "coef"),
        numpy_helper.from_array(intercept, "intercept"),
        numpy_helper.from_array(labels, "classes"),
    ]
    rows, nodes = "X", []
    if dtype == "float32":
        rows, nodes = "rows", [helper.make_node("Cast", ["X"], ["rows"], to=TensorProto.DOUBLE)]
    nodes += [
        helper.make_node("MatMul", [rows, "coef"], ["products"]),
        helper.make_node("Add", ["products", "intercept"], ["scores"]),
    ]
    if binary:  # a score of 0 is classes_[1] only if the tie rule says so
        constants.append(numpy_helper.from_array(np.asarray(0.0), "zero"))
        above = "GreaterOrEqual" if parameters.get("tie") == "positive" else "Greater"
        nodes += [
            helper.make_node(above, ["scores", "zero"], ["positive"]),
            helper.make_node("Cast", ["positive"], ["winner"], to=TensorProto.INT64),
        ]
    else:  # the first of equal scores wins; the last, if learned jointly with tie="positive"
        last = int(parameters.get("multi_class") == "joint" and parameters.get("tie") == "positive")
        nodes.append(helper.make_node("ArgMax", ["scores"], ["winner"], axis=1, keepdims=0, select_last_index=last))
    nodes.append(helper.make_node("Gather", ["classes", "winner"], ["label"]))
    given = TensorProto.FLOAT if dtype == "float32" else TensorProto.DOUBLE
    graph = helper.make_graph(
        nodes,
        type(model).__name__,
        [helper.make_tensor_value_info("X", given, ["rows", model.n_features_in_])],
        [
            helper.make_tensor_value_info("label", getattr(TensorProto, label_type), ["rows"]),
            helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["rows"] + [len(labels)] * (not binary)),
        ],
        constants,
    )
    made = helper.make_model(
        graph,
        producer_name="rosenblatt",
        producer_version=rosenblatt.__version__,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR,
    )
    helper.set_model_props(made, {"estimator": type(model).__name__, "rosenblatt": rosenblatt.__version__})
    onnx.checker.check_model(made, full_check=True)
    if path is not None:
        write_atomically(path, made.SerializeToString())
    return made


def _require_linear(model: Any) -> None:
    name = estimator_name(model)
    if name == "VotedPerceptron":
        raise InputError(
            "a VotedPerceptron has no one vector that predicts, and ONNX has no operator for a vote: "
            "fit an AveragedPerceptron on the same data and export that; it predicts much the same"
        )
    if name == "KernelPerceptron":
        raise InputError(
            "a KernelPerceptron is not linear in its features, and ONNX has no operator for its votes: put the "
            "features of the kernel before a Perceptron (sklearn.kernel_approximation.Nystroem), and export both"
        )
    if name is None:
        raise InputError(f"to_onnx takes a linear model of rosenblatt, got {type(model).__name__}")
    if not is_fitted(model):
        raise InputError(f"this {name} is not fitted yet: call fit before to_onnx")


def _labels(classes: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """The classes in one of the four types of labels, and the name that ONNX has for it."""
    if classes.dtype.kind == "O":
        if all(isinstance(label, str) for label in classes):
            return classes, "STRING"
        classes = np.asarray(classes.tolist())
    kind = classes.dtype.kind
    if kind == "U":
        return classes.astype(object), "STRING"
    if kind == "b":
        return classes, "BOOL"
    if kind in "iu" and classes.max() <= np.iinfo(np.int64).max:
        return classes.astype(np.int64), "INT64"
    if kind == "f":
        return classes.astype(np.float64), "DOUBLE"
    raise InputError(f"classes of dtype {classes.dtype} have no type in ONNX: use int, float, bool or str")
