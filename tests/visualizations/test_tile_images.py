import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.visualizations import tile_images


def test_images_stand_in_rows_with_half_of_the_padding_before_them():
    imgs = np.arange(3, dtype=np.float32)[:, None, None, None] + np.zeros((3, 1, 2, 2), np.float32) + 1
    tile = tile_images(imgs, 2, pad=(2, 1), fill=9)
    assert tile.shape == (1, 8, 6)
    assert tile[0].tolist() == [
        [9, 9, 9, 9, 9, 9],
        [1, 1, 9, 2, 2, 9],
        [1, 1, 9, 2, 2, 9],
        [9, 9, 9, 9, 9, 9],
        [9, 9, 9, 9, 9, 9],
        [3, 3, 9, 9, 9, 9],
        [3, 3, 9, 9, 9, 9],
        [9, 9, 9, 9, 9, 9],
    ]


def test_there_are_no_more_columns_than_images_and_a_fill_for_each_channel():
    tile = tile_images(np.zeros((1, 3, 1, 1), np.uint8), 5, pad=2, fill=(1, 2, 3))
    assert tile.shape == (3, 3, 3)
    assert tile.dtype == np.uint8
    assert tile[:, 0, 0].tolist() == [1, 2, 3]


def test_what_is_no_batch_and_no_column_is_refused():
    with pytest.raises(ShapeError, match=r"imgs must be \(B, C, H, W\)"):
        tile_images(np.zeros((0, 3, 4, 4)), 2)
    with pytest.raises(ValueRangeError, match="n_col must be positive"):
        tile_images(np.zeros((1, 3, 4, 4)), 0)
    with pytest.raises(ShapeError, match="fill must be a number or one for each channel"):
        tile_images(np.zeros((1, 3, 4, 4)), 1, fill=(1, 2))
