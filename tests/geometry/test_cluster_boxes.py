"""Boxes grouped by shape."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.fit_anchors import cluster_boxes

KINDS = np.array([[10, 10], [12, 90], [80, 15], [100, 110]], "f")


def _side(seed=0):
    random = np.random.default_rng(seed)
    return (KINDS.repeat(50, axis=0) * random.uniform(0.9, 1.1, (200, 2))).astype("f")


@pytest.mark.parametrize("seed", range(5))
def test_clear_groups_are_found_small_to_large(seed):
    middle = cluster_boxes(_side(), 4, seed=seed)
    np.testing.assert_allclose(middle, KINDS[np.argsort(KINDS.prod(1), kind="stable")], rtol=0.05)
    assert middle.dtype == np.float32


def test_the_same_seed_gives_the_same_bits():
    side = np.random.default_rng(0).uniform(5, 100, (300, 2))
    np.testing.assert_array_equal(cluster_boxes(side, 7, seed=3), cluster_boxes(side, 7, seed=3))


def test_as_many_groups_as_shapes_are_the_shapes():
    side = np.array([[2, 3], [2, 3], [5, 1], [1e6, 1e6], [1e6, 1e6 + 1]], "f")
    middle = cluster_boxes(side, 4)
    assert {tuple(row) for row in middle.tolist()} == {tuple(row) for row in side.tolist()}
    np.testing.assert_allclose(cluster_boxes(side[:2], 1), side[:1])


def test_bad_calls_teach():
    with pytest.raises(ShapeError):
        cluster_boxes(np.ones((3, 4)), 1)
    with pytest.raises(ValueRangeError, match="positive"):
        cluster_boxes(np.array([[1.0, 0.0]]), 1)
    for n in (0, 2):
        with pytest.raises(ValueRangeError, match="1 to 1"):
            cluster_boxes(np.ones((3, 2)), n)
