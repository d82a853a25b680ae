"""Padding as four numbers."""

import pytest

from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.shapes.sizes import conv_out_size, end_pad, pads

CASES = {2: (2, 2, 2, 2), (1, 3): (1, 1, 3, 3), (0, 1, 2, 3): (0, 1, 2, 3)}


@pytest.mark.parametrize("pad", CASES, ids=str)
def test_one_two_or_four_numbers_are_taken(pad):
    assert pads(pad, function="f") == CASES[pad]
    assert pads(pad if isinstance(pad, int) else list(pad), function="f") == CASES[pad]


@pytest.mark.parametrize("pad", [(1, 2, 3), (), "same", None, 1.5, ("a", "b"), (1.5, 2)], ids=str)
def test_anything_else_is_refused(pad):
    with pytest.raises(DtypeError, match="f: pad must be a number"):
        pads(pad, function="f")


@pytest.mark.parametrize("pad", [-1, (0, -1), (0, 0, -2, 0)], ids=str)
def test_negative_padding_is_refused(pad):
    with pytest.raises(ValueRangeError, match="negative"):
        pads(pad, function="f")


@pytest.mark.parametrize("size", range(3, 12))
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilate", [1, 2])
def test_the_end_s_padding_is_what_cover_all_needs(size, stride, dilate):
    end = end_pad(size, 2, stride, 1, 0, dilate)
    assert 0 <= end < stride
    covered = conv_out_size(size, 2, stride, 1, 0, dilate, cover_all=True)
    assert conv_out_size(size, 2, stride, 1, end, dilate) == covered
