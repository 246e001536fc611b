"""The exception tree is a promise: what catches what."""

import pytest

from rosenblatt import errors

BUILT_IN = {
    errors.InputError: ValueError,
    errors.FileFormatError: ValueError,
    errors.NotSeparableError: ValueError,
    errors.UndecidedError: RuntimeError,
    errors.ModelFileError: ValueError,
    errors.CheckpointError: ValueError,
    errors.WeightOverflowError: ArithmeticError,
    errors.MissingExtraError: ImportError,
}


@pytest.mark.parametrize(("error", "built_in"), BUILT_IN.items())
def test_each_error_is_ours_and_a_built_in(error, built_in):
    assert issubclass(error, errors.RosenblattError)
    assert issubclass(error, built_in)


def test_the_tree_is_complete_and_drawn_on_top():
    ours = {name for name in errors.__all__ if name.endswith("Error")}
    assert ours == {"RosenblattError", *(error.__name__ for error in BUILT_IN)}
    assert all(name in errors.__doc__ for name in ours)


def test_missing_extra_names_the_package_and_the_command():
    with pytest.raises(errors.MissingExtraError, match=r'matplotlib.*pip install "rosenblatt\[plot\]"') as caught:
        raise errors.missing_extra("plot", "matplotlib")
    assert caught.value.name == "matplotlib"
