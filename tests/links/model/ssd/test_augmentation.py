"""Examples for training: boxes follow the photo, and flags are kept."""

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.coding import decode_bbox
from cvzoo.links.model.ssd.augmentation import SSDTransform
from cvzoo.links.model.ssd.loss import collate_multibox
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder

CODER = MultiboxCoder((4, 2), ((2,), (2,)), (16, 32), (20, 40, 60))


def example(flag=False):
    img = np.full((3, 80, 100), 30, np.float32)
    img[:, 20:60, 25:75] = 200
    return img, np.array([[20, 25, 60, 75]], np.float32), np.array([3], np.int32), np.array([flag])


def test_the_plain_one_stretches_the_photo():
    x, mb_loc, mb_label = SSDTransform(CODER, (64, 64), mean=100, augment=False)(example())
    assert (x.shape, x.dtype) == ((3, 64, 64), np.float32)
    assert (x.min(), x.max()) == (-70, 100)
    want = CODER.encode(np.array([[16, 16, 48, 48]], np.float32), np.array([3]))
    np.testing.assert_allclose(mb_loc, want[0], atol=1e-5)
    np.testing.assert_array_equal(mb_label, want[1])


def test_the_box_stays_on_the_object():
    set_seed(0)
    transform = SSDTransform(CODER, (64, 64))
    seen = 0
    for _ in range(30):
        x, mb_loc, mb_label = transform(example())
        assert (x.shape, x.dtype) == ((3, 64, 64), np.float32)
        row = np.flatnonzero(mb_label)
        assert (mb_label[row] == 4).all()
        if len(row):
            (bb,) = decode_bbox(mb_loc[row[:1]], CODER.default[row[:1]], std=(0.1, 0.1, 0.2, 0.2))
            y, left = np.clip((bb[:2] + bb[2:]) / 2, 0, 63).astype(int)
            seen += x[:, y, left].mean() > x.mean()
    assert seen >= 25


def test_flags_say_what_is_not_learned():
    transform = SSDTransform(CODER, (64, 64), augment=False)
    _, _, label = transform(example(True))
    assert set(label.tolist()) == {0, -1}
    with pytest.raises(ShapeError, match="fourth value"):
        transform((*example()[:3], np.array([1.0])))


def test_a_batch_is_three_arrays():
    transform = SSDTransform(CODER, (64, 64), augment=False)
    x, loc, label = collate_multibox([transform(example()), transform(example()[:3])])
    n = len(CODER.default)
    assert (x.shape, loc.shape, label.shape) == ((2, 3, 64, 64), (2, n, 4), (2, n))
    x, _, _ = collate_multibox([transform(example())], "cpu")
    assert x.shape == (1, 3, 64, 64)
