"""The exception tree: who catches what, and how a message reads."""

import pickle

import pytest

import cvzoo.errors as errors
from cvzoo.errors.exceptions import explain

BUILT_IN = {
    "BackendError": RuntimeError,
    "BrokenRuleError": AssertionError,
    "ConfigError": ValueError,
    "DatasetError": ValueError,
    "DownloadError": ValueError,
    "DtypeError": TypeError,
    "ExampleError": ValueError,
    "ExampleIndexError": IndexError,
    "FileError": ValueError,
    "FileFormatError": ValueError,
    "GradientError": AssertionError,
    "GraphError": RuntimeError,
    "ImageError": ValueError,
    "MissingExtraError": ImportError,
    "NoSuchKeyError": LookupError,
    "ReplacedAttributeError": AttributeError,
    "ReplacedNameError": ImportError,
    "ShapeError": ValueError,
    "UnsafeFileError": ValueError,
    "UnsupportedError": ValueError,
    "ValueRangeError": ValueError,
    "WeightsError": ValueError,
    "WeightsMismatchError": ValueError,
}


def test_every_public_error_is_in_the_table():
    assert set(errors.__all__) == set(BUILT_IN) | {"CvzooError"}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_errors_are_caught_as_ours_and_as_pythons_own(name):
    error = getattr(errors, name)("it failed", expected=3, got=(4, 5), hint="the other way")
    assert isinstance(error, errors.CvzooError)
    assert isinstance(error, BUILT_IN[name])
    assert str(error) == "it failed\n  expected: 3\n  got:      (4, 5)\n  try:      the other way"


@pytest.mark.parametrize("name", sorted(errors.__all__))
def test_errors_survive_the_way_between_processes(name):
    error = getattr(errors, name)("it failed", got=0)
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert str(twin) == str(error) == "it failed\n  got:      0"


def test_lines_that_are_not_given_are_left_out():
    assert explain("it failed") == "it failed"
    assert explain("it failed", hint="again") == "it failed\n  try:      again"
    assert "got:      0" in explain("it failed", got=0)  # zero was given


def test_whatever_is_wrong_with_a_file_is_caught_by_either_name():
    assert errors.WeightsError is errors.FileError
    for kind in (errors.FileFormatError, errors.UnsafeFileError, errors.WeightsMismatchError, errors.DownloadError):
        assert issubclass(kind, errors.FileError)
    assert not issubclass(errors.DatasetError, errors.FileError)
