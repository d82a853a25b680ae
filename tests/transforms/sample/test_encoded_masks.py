"""Run-length encoded masks in a sample become what dense ones become."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvzoo.transforms as T
from cvzoo.errors import ShapeError
from cvzoo.geometry import RLEs

SIZE = (40, 56)
TRANSFORMS = [
    T.Resize((30, 70)),
    T.ResizeContain((50, 50)),
    T.Letterbox((64, 64)),
    T.RandomCrop((20, 30)),
    T.RandomExpand(max_ratio=2),
    T.RandomCropWithBboxConstraints(),
    T.RandomFlip(x_random=True, y_random=True),
    T.RandomRotate(),
    T.Compose([T.RandomExpand(max_ratio=2), T.RandomSizedCrop(), T.Resize((33, 33)), T.RandomFlip(x_random=True)]),
]


def make_samples(seed, *, has_bbox, n=3, size=SIZE):
    """The same photo with dense masks and with encoded ones."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((n, *size), bool)
    for each in mask:
        top, left = rng.integers(0, 20, 2)
        each[top : top + rng.integers(1, 20), left : left + rng.integers(1, 30)] = True
        each &= rng.random(size) < 0.8
        each[top, left] = True
    encoded = RLEs.from_masks(mask)
    bbox = encoded.to_bbox() if has_bbox else None
    img = rng.integers(0, 256, (3, *size)).astype(np.uint8)
    dense = T.Sample(img=img, bbox=bbox, label=np.arange(n, dtype=np.int32), mask=mask)
    return dense, dataclasses.replace(dense, mask=encoded)


def assert_same(dense, encoded):
    assert isinstance(dense.mask, np.ndarray)
    assert isinstance(encoded.mask, RLEs)
    assert encoded.mask == RLEs.from_masks(dense.mask)
    np.testing.assert_array_equal(dense.img, encoded.img)
    np.testing.assert_array_equal(dense.label, encoded.label)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: type(transform).__name__)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), has_bbox=st.booleans())
def test_encoded_masks_follow_as_dense_ones_do(transform, seed, has_bbox):
    changed = [transform(each, rng=np.random.default_rng(seed)) for each in make_samples(seed, has_bbox=has_bbox)]
    assert_same(*changed)


@pytest.mark.parametrize("has_bbox", [True, False])
def test_mixed_photos_keep_their_encoded_masks(has_bbox):
    pairs = [make_samples(seed, has_bbox=has_bbox, size=(40 + seed, 56)) for seed in range(4)]
    for mix in (
        lambda each: T.mosaic(each, (50, 60), rng=np.random.default_rng(0)),
        lambda each: T.mix_up(*each[:2], rng=np.random.default_rng(0)),
        lambda each: T.copy_paste(*each[:2], prob=0.9, rng=np.random.default_rng(0)),
    ):
        dense, encoded = (mix([pair[index] for pair in pairs]) for index in (0, 1))
        assert_same(dense, encoded)
        assert len(encoded.mask)


def test_dense_and_encoded_masks_together_become_dense():
    (dense, _), (_, encoded) = (make_samples(seed, has_bbox=True) for seed in (0, 1))
    mixed = T.mix_up(dense, encoded, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(mixed.mask, np.concatenate([dense.mask, encoded.mask.to_masks()]))


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: type(transform).__name__)
def test_no_masks_at_all_are_taken(transform):
    dense, encoded = (transform(each, rng=np.random.default_rng(0)) for each in make_samples(0, has_bbox=True, n=0))
    assert dense.mask.shape == (0, *dense.size)
    assert len(encoded.mask) == 0
    mixed = T.mix_up(dense, encoded, rng=np.random.default_rng(0))
    assert mixed.mask.shape == (0, *dense.size)


def test_encoded_masks_of_another_size_or_number_are_refused():
    img = np.zeros((3, *SIZE), np.uint8)
    masks = RLEs.concatenate([RLEs.from_masks(np.ones((1, *size), bool)) for size in (SIZE, (9, 8))])
    with pytest.raises(ShapeError, match=r"mask has a different size(.|\n)*9, 8"):
        T.Sample(img=img, mask=masks)
    with pytest.raises(ShapeError, match="numbers of instances"):
        T.Sample(img=img, mask=masks[:1], bbox=np.zeros((2, 4), np.float32))
