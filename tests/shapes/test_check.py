"""Checks of shapes: what fits, and how an error speaks."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.shapes.check import check_shape, pair

FITS = [
    ((2, 3, 4, 5), "B C H W", {"B": 2, "C": 3, "H": 4, "W": 5}),
    ((7, 4), "R 4", {"R": 7}),
    ((0, 4), "R 4", {"R": 0}),  # no boxes at all
    ((3, 3), "N N", {"N": 3}),  # a letter that comes twice
    ((9, 8, 4), "... 4", {}),  # any number of axes in front
    ((4,), "... 4", {}),
    ((), "", {}),  # a number
]
DOES_NOT_FIT = [
    ((4, 12), "R 4"),  # another length
    ((4,), "R 4"),  # an axis is missing
    ((1, 7, 4), "R 4"),  # an axis too many
    ((3, 2), "N N"),  # one letter, two sizes
    ((), "... 4"),
    ((1,), ""),
]


@pytest.mark.parametrize(("shape", "pattern", "sizes"), FITS)
def test_a_fitting_shape_gives_the_letters_sizes(shape, pattern, sizes):
    assert check_shape(shape, pattern, name="x", function="f") == sizes


@pytest.mark.parametrize(("shape", "pattern"), DOES_NOT_FIT)
def test_another_shape_is_refused_and_both_are_named(shape, pattern):
    with pytest.raises(ShapeError, match="nms: bbox has the wrong shape") as error:
        check_shape(shape, pattern, name="bbox", function="nms")
    assert str(shape) in str(error.value)
    assert ", ".join(pattern.split()) in str(error.value)


@pytest.mark.parametrize("value", [3, np.int64(3), (3, 3), [3, np.int32(3)], np.array([3, 3])])
def test_pair_takes_a_number_or_two(value):
    assert pair(value, name="ksize", function="f") == (3, 3)
    assert all(type(x) is int for x in pair(value, name="ksize", function="f"))


@pytest.mark.parametrize("value", [(1, 2, 3), "33", 1.5, (1.5, 2), None, ()])
def test_pair_refuses_what_would_have_to_be_guessed(value):
    with pytest.raises(DtypeError, match="conv: stride must be a number or a pair"):
        pair(value, name="stride", function="conv")
