import numpy as np
import pytest

from cvzoo.datasets import RenderedDocuments, assert_is_bbox_dataset
from cvzoo.errors.exceptions import ValueRangeError


def test_it_is_a_data_set_like_the_others():
    dataset = RenderedDocuments(6, seed=1, size=500)
    assert len(dataset) == 6
    assert dataset.label_names == ("text",)
    assert_is_bbox_dataset(dataset, 1)


def test_an_example_depends_on_seed_and_index_alone():
    some, all_ = RenderedDocuments(3, seed=5), RenderedDocuments(90, seed=5)
    all_[0]
    for mine, its in zip(some[2][:3], all_[2][:3]):
        np.testing.assert_array_equal(mine, its)
    assert some[2][3] == all_[2][3]
    assert not np.array_equal(some[1][1], some[2][1])
    assert not np.array_equal(RenderedDocuments(3, seed=6)[2][1], some[2][1])


def test_size_is_the_longer_side():
    assert max(RenderedDocuments(1, size=640)[0][0].shape) == 640


@pytest.mark.parametrize(("n", "seed", "size"), [(-1, 0, None), (1, -1, None), (1, 0, 10)])
def test_numbers_out_of_range_are_told(n, seed, size):
    with pytest.raises(ValueRangeError, match="out of range"):
        RenderedDocuments(n, seed, size=size)
