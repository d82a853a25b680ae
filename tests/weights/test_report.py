import numpy as np
import pytest

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.weights.report import LoadReport, match_arrays


def zeros(**shapes):
    return {name: np.zeros(shape) for name, shape in shapes.items()}


def test_everything_that_fits_is_handed_out_under_the_models_names():
    arrays, report = match_arrays({"a": (2,), "b": (3, 1)}, zeros(x=2, b=(3, 1)), rename={"x": "a"})
    assert {name: array.shape for name, array in arrays.items()} == {"a": (2,), "b": (3, 1)}
    assert report == LoadReport()
    assert report.is_clean
    assert str(report) == "all names and shapes match"


def test_what_does_not_fit_is_reported():
    arrays, report = match_arrays({"a": (2,), "b": (3,), "c": ()}, zeros(b=4, c=(), d=1), strict=False)
    assert list(arrays) == ["c"]
    assert report == LoadReport(("a",), ("d",), {"b": ((3,), (4,))})
    assert "1 missing in the file: a" in str(report)
    assert "1 unexpected in the file: d" in str(report)
    assert "b (model (3,), file (4,))" in str(report)


@pytest.mark.parametrize("given", [{}, zeros(a=3), zeros(a=2, b=1)])
def test_strict_raises_on_any_difference(given):
    with pytest.raises(WeightsMismatchError, match="strict=False"):
        match_arrays({"a": (2,)}, given)


def test_long_lists_are_shortened_with_counts():
    wanted = {f"layer{i}": (1,) for i in range(500)}
    with pytest.raises(WeightsMismatchError) as caught:
        match_arrays(wanted, {})
    text = str(caught.value)
    assert "0 of 500" in text
    assert "500 missing" in text
    assert "and 490 more" in text
    assert len(text) < 500


def test_two_arrays_for_one_name_are_an_error_even_when_not_strict():
    with pytest.raises(WeightsMismatchError, match="meant for 'a'"):
        match_arrays({"a": (1,)}, zeros(a=1, x=1), rename={"x": "a"}, strict=False)
