"""A feature pyramid."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.model.fpn.fpn import FPN


def maps(*sizes, channels=(4, 8, 16)):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((2, c, *size), "float32") for c, size in zip(channels, sizes)]


@pytest.mark.parametrize("extra_from", ["P5", "C5", "pool"])
def test_sides_are_halved_and_rounded_up(extra_from):
    fpn = FPN((4, 8, 16), 6, n_extra=2, extra_from=extra_from)
    outs = fpn(maps((21, 13), (11, 7), (6, 4)))
    assert [y.shape for y in outs] == [(2, 6, *size) for size in [(21, 13), (11, 7), (6, 4), (3, 2), (2, 1)]]


def test_a_pooled_map_is_every_second_pixel():
    *_, p5, p6 = FPN((4, 8, 16), 6, n_extra=1, extra_from="pool")(maps((20, 20), (10, 10), (5, 5)))
    np.testing.assert_array_equal(p6.array, p5.array[:, :, ::2, ::2])


def test_a_coarse_map_is_added_to_the_finer_ones_pixel_by_pixel():
    fpn = FPN((4, 8), 6)
    for conv in fpn.outer:  # let the merged maps through
        conv.W.array[...] = np.eye(6, dtype=np.float32)[:, :, None, None] * np.float32(
            [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
        )
    fine, coarse = maps((5, 7), (3, 4), channels=(4, 8))
    p3, p4 = (y.array for y in fpn([fine, coarse]))
    lateral = fpn.inner[0](fine).array
    rows, columns = np.arange(5) * 3 // 5, np.arange(7) * 4 // 7
    np.testing.assert_allclose(p3, lateral + p4[:, :, rows[:, None], columns], atol=1e-5)


def test_gradients_reach_every_parameter():
    fpn = FPN((4, 8, 16), 6, n_extra=2, extra_from="C5")
    outs = fpn(maps((8, 8), (4, 4), (2, 2)))
    fpn.cleargrads()
    total = sum(F.sum(y) for y in outs)
    total.backward()
    assert all(np.abs(p.grad).sum() > 0 for p in fpn.params())


def test_wrong_maps_and_sources_are_told():
    with pytest.raises(ValueRangeError, match="extra_from"):
        FPN((4,), 4, extra_from="P6")
    with pytest.raises(ShapeError, match="map for each"):
        FPN((4, 8), 4)(maps((4, 4)))
