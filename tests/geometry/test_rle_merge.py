"""Unions and intersections of run-length encoded masks against dense ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import ShapeError
from cvzoo.geometry import RLEs, merge_rles

MASKS = hnp.arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 6)))


@given(MASKS, st.data())
def test_groups_are_merged_as_dense_masks_are(masks, data):
    group = np.sort(data.draw(hnp.arrays(np.int64, len(masks), elements=st.integers(0, 3))))
    rles = RLEs.from_masks(masks)
    for intersect, dense in ((False, np.any), (True, np.all)):
        expected = np.stack([dense(masks[group == each], axis=0) for each in np.unique(group)])
        assert merge_rles(rles, group=group, intersect=intersect) == RLEs.from_masks(expected)
        assert merge_rles(rles, intersect=intersect) == RLEs.from_masks(dense(masks, axis=0)[None])


def test_groups_may_be_of_different_sizes_but_not_their_masks():
    a, b = RLEs.from_masks(np.ones((2, 3, 3), bool)), RLEs.from_masks(np.zeros((1, 2, 5), bool))
    rles = RLEs.concatenate([a, b])
    assert merge_rles(rles, group=[0, 0, 7]).area().tolist() == [9, 0]
    with pytest.raises(ShapeError, match="mask 2"):
        merge_rles(rles)


@pytest.mark.parametrize("group", [[0], [1, 0], [[0, 0]]])
def test_a_group_is_one_number_a_mask_and_does_not_fall(group):
    with pytest.raises(ShapeError, match="group"):
        merge_rles(RLEs.from_masks(np.ones((2, 3, 3), bool)), group=group)


def test_nothing_merges_to_nothing():
    assert len(merge_rles(RLEs.from_masks(np.ones((0, 3, 3), bool)))) == 0
