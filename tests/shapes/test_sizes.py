"""Sizes of convolutions against counting by hand, and the transposed one as the inverse."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.shapes.sizes import conv_out_size, deconv_out_size

small = st.integers(1, 6)


@given(size=st.integers(1, 40), ksize=small, stride=small, pad=st.integers(0, 5), dilate=st.integers(1, 3))
def test_the_size_is_the_number_of_places_counted(size, ksize, stride, pad, dilate):
    window = dilate * (ksize - 1) + 1
    places = len(range(0, size + 2 * pad - window + 1, stride))
    assume(places)
    assert conv_out_size(size, ksize, stride, pad, pad, dilate) == places


@given(size=st.integers(1, 40), ksize=small, stride=small, pad=st.integers(0, 5))
def test_cover_all_leaves_no_pixel_over(size, ksize, stride, pad):
    assume(size + 2 * pad >= ksize)
    places = conv_out_size(size, ksize, stride, pad, pad, cover_all=True)
    assert (places - 1) * stride + ksize >= size + 2 * pad
    assert places - conv_out_size(size, ksize, stride, pad, pad) in (0, 1)


@given(size=st.integers(1, 40), ksize=small, stride=small, dilate=st.integers(1, 3))
def test_the_transposed_convolution_gives_the_smallest_input_back(size, ksize, stride, dilate):
    out = deconv_out_size(size, ksize, stride, 0, 0, dilate)
    assert conv_out_size(out, ksize, stride, 0, 0, dilate) == size
    if out > 1 and size > 1:
        assert conv_out_size(out - 1, ksize, stride, 0, 0, dilate) == size - 1


def test_what_cannot_be_is_refused():
    with pytest.raises(ShapeError, match="does not fit in 2 pixels"):
        conv_out_size(2, 5, 1, 1, 1)
    with pytest.raises(ShapeError, match="would be empty"):
        deconv_out_size(1, 2, 1, 2, 2)
    for ksize, stride, dilate in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (3, -1, 1)):
        with pytest.raises(ValueRangeError, match="must be positive"):
            conv_out_size(5, ksize, stride, 0, 0, dilate)
        with pytest.raises(ValueRangeError, match="must be positive"):
            deconv_out_size(5, ksize, stride, 0, 0, dilate)
