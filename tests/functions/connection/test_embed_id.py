"""Rows of a table."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.connection.embed_id import embed_id

W = np.random.default_rng(0).normal(size=(4, 3))


@pytest.mark.parametrize("ids", [[1, 3, 1], [[0, 2], [2, 2]], [], 3], ids=str)
def test_rows_are_taken_and_their_gradients_added(ids):
    ids = np.array(ids, "int32")
    np.testing.assert_array_equal(embed_id(ids, W).array, W[ids])
    check_backward(lambda W: embed_id(ids, W), W)
    check_double_backward(lambda W: embed_id(ids, W), W)


def test_ignored_ids_give_zeros():
    ids = np.array([2, -1, 0])
    y = embed_id(ids, W, ignore_label=-1)
    np.testing.assert_array_equal(y.array, [W[2], [0, 0, 0], W[0]])
    check_backward(lambda W: embed_id(ids, W, -1), W)
    check_double_backward(lambda W: embed_id(ids, W, -1), W)


def test_bad_calls_teach():
    with pytest.raises(ValueRangeError, match=r"4 at \(1, 0\)"):
        embed_id(np.array([[0, 1], [4, 9]]), W)
    with pytest.raises(ValueRangeError, match="-1"):
        embed_id(np.array([-1]), W)
    with pytest.raises(DtypeError, match="int"):
        embed_id(np.array([1.0]), W)
    with pytest.raises(ShapeError, match=r"\(L, D\)"):
        embed_id(np.array([1]), W[0])
