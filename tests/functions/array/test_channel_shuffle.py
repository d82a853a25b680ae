"""Mixed channels."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("memory", ["rows", "channels last", "a view"])
def test_channels_come_in_turn_from_each_group(groups, memory, backend):
    x = np.random.default_rng(0).random((2, 6, 3, 5), "float32")
    if memory == "channels last":
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    elif memory == "a view":
        x = x[:, :, ::2, 1:]
    y = F.channel_shuffle(x, groups).array
    turns = [g * (6 // groups) + i for i in range(6 // groups) for g in range(groups)]
    np.testing.assert_array_equal(y, x[:, turns])


def test_shuffling_back_gives_the_same(backend):
    x = np.random.default_rng(0).random((1, 12, 2, 2), "float32")
    np.testing.assert_array_equal(F.channel_shuffle(F.channel_shuffle(x, 3), 4).array, x)


def test_gradients_go_back_to_their_channels(backend):
    x = np.random.default_rng(0).normal(size=(2, 6, 2, 3))
    check_backward(lambda x: F.channel_shuffle(x, 2), x)
    check_double_backward(lambda x: F.channel_shuffle(x, 3) ** 2, x, rtol=1e-3, atol=1e-4)


def test_bad_input_is_told():
    x = np.zeros((1, 6, 2, 2), "float32")
    with pytest.raises(ShapeError, match="split"):
        F.channel_shuffle(x, 4)
    with pytest.raises(ShapeError, match="split"):
        F.channel_shuffle(x[0], 2)
    with pytest.raises(ValueRangeError, match="groups"):
        F.channel_shuffle(x, 0)
