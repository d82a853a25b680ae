"""Normalizing channels."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError
from cvzoo.transforms import normalize


def test_normalize_shifts_and_scales_each_channel():
    img = np.stack([np.full((2, 2), value, np.uint8) for value in (10, 20, 30)])
    result = normalize(img, mean=(10, 10, 10), std=(1, 2, 4))
    assert result.dtype == np.float32
    assert result[:, 0, 0].tolist() == [0, 5, 5]
    assert normalize(img, mean=10, std=10)[:, 0, 0].tolist() == [0, 1, 2]
    assert (img[0] == 10).all()


def test_lengths_must_fit_the_channels():
    with pytest.raises(ShapeError, match="mean must be"):
        normalize(np.zeros((3, 2, 2)), mean=(1, 2), std=1)
    with pytest.raises(ShapeError, match="std must be"):
        normalize(np.zeros((1, 2, 2)), mean=0, std=(1, 2, 3))
