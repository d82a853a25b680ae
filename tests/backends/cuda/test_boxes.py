"""Bounds that a GPU's kernels, which know no subnormal numbers, understand."""

import numpy as np
import pytest

from cvzoo.backends.cuda.boxes import decode_selected
from cvzoo.backends.cuda.selection import select_best
from cvzoo.backends.detection import ANY_SIDE, Coder, frame, just_below

TINY = np.finfo(np.float32).tiny


@pytest.mark.parametrize("score", [0.0, -0.0, 0.05, 0.7, 1.0, -3.0, float(TINY)])
def test_what_lies_below_a_score_is_less_and_nothing_that_kernels_take_for_zero(score):
    below = just_below(score)
    assert below < score
    assert below == np.nextafter(np.float32(score), np.float32(-np.inf)) or abs(score) <= TINY
    assert score > 0 or abs(below) >= TINY


def test_boxes_without_a_side_are_dropped(fake_gpu):
    with fake_gpu() as machine:
        cupy = machine.cupy
        boxes = np.array([[[1, 1, 3, 4], [2, 2, 2, 5], [2, 2, 5, 2], [4, 4, 4.001, 5]]], np.float32)
        score = cupy.asarray(np.array([[0.9, 0.8, 0.7, 0.6]], np.float32))
        found = decode_selected(
            select_best(score, [(0, 4)], limit=4, above=0.0),
            cupy.asarray(boxes),
            score,
            frames=cupy.asarray(frame((8, 8))[None]),
            n_class=1,
            coder=Coder.BOXES,
            min_side=ANY_SIDE,
        )
        np.testing.assert_array_equal(np.isfinite(found.score.get()[0]), [True, False, False, True])


def test_a_score_of_zero_is_at_least_zero(fake_gpu):
    with fake_gpu() as machine:
        score = machine.cupy.asarray(np.array([[0.0, -1.0, 0.5]], np.float32))
        selected = select_best(score, [(0, 3)], limit=3, above=just_below(0.0))
        assert selected.taken.get().tolist() == [[2]]
