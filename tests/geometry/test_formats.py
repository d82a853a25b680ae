"""Every door opens both ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import ShapeError
from cvzoo.geometry import (
    from_cxcywh,
    from_normalized,
    from_xywh,
    from_xyxy,
    to_cxcywh,
    to_normalized,
    to_xywh,
    to_xyxy,
)

BBOX = np.array([[10, 20, 30, 60]], np.float32)

DOORS = [
    (from_xyxy, to_xyxy, [20, 10, 60, 30]),
    (from_xywh, to_xywh, [20, 10, 40, 20]),
    (from_cxcywh, to_cxcywh, [40, 20, 40, 20]),
    (
        lambda bbox: from_normalized(bbox, (40, 80)),
        lambda bbox: to_normalized(bbox, (40, 80)),
        [0.25, 0.25, 0.75, 0.75],
    ),
]
ids = ["xyxy", "xywh", "cxcywh", "normalized"]


@pytest.mark.parametrize(("inward", "outward", "foreign"), DOORS, ids=ids)
def test_doors_convert(inward, outward, foreign):
    foreign = np.array([foreign], np.float32)
    np.testing.assert_array_equal(outward(BBOX), foreign)
    np.testing.assert_array_equal(inward(foreign), BBOX)


@pytest.mark.parametrize(("inward", "outward", "foreign"), DOORS, ids=ids)
@given(bbox=hnp.arrays(np.float64, st.tuples(st.integers(0, 5), st.just(4)), elements=st.floats(-1e4, 1e4)))
def test_doors_are_inverse(inward, outward, foreign, bbox):
    np.testing.assert_allclose(inward(outward(bbox)), bbox, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(outward(inward(bbox)), bbox, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("door", [each for pair in DOORS for each in pair[:2]])
def test_doors_give_new_float_arrays(door):
    result = door(np.array([[1, 2, 3, 4]]))
    assert result.dtype == np.float32
    bbox = BBOX.copy()
    door(bbox)[:] = 0
    np.testing.assert_array_equal(bbox, BBOX)
    assert door(np.zeros((0, 4), np.float32)).shape == (0, 4)
    with pytest.raises(ShapeError, match=r"\(R, 4\)"):
        door(np.zeros((3, 3)))
