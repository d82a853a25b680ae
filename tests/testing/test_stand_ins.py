import numpy as np
import pytest

import cvzoo
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.testing import ConstantStubLink, assert_is_bbox, generate_random_bbox


def test_a_stub_gives_its_output_whatever_it_is_called_with():
    output = np.arange(3, dtype=np.float32)
    assert np.array_equal(ConstantStubLink(output)(1, "two").array, output)
    first, second = ConstantStubLink((output, output + 1))()
    assert np.array_equal(second.array, output + 1)
    assert isinstance(first, cvzoo.Variable)


def test_a_stub_of_anything_but_arrays_is_refused():
    with pytest.raises(ValueRangeError, match="outputs must be arrays"):
        ConstantStubLink([1, 2])


def test_random_boxes_lie_in_their_image_and_have_the_sides_that_are_asked_for():
    bbox = generate_random_bbox(50, (30, 60), 5, 10, rng=np.random.default_rng(0))
    assert bbox.shape == (50, 4)
    assert_is_bbox(bbox, (30, 60))
    sides = bbox[:, 2:] - bbox[:, :2]
    assert sides.min() > 4.99
    assert sides.max() < 10.01
    assert np.array_equal(bbox, generate_random_bbox(50, (30, 60), 5, 10, rng=np.random.default_rng(0)))
