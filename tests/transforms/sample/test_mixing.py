"""Several photos in one: mosaic, mix-up, cut-mix, copy-paste."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cvzoo.transforms as T
from cvzoo.errors import ShapeError, ValueRangeError

SEEDS = st.integers(0, 10**6)


def rectangle(value, size=(40, 50), dtype=np.uint8, box=(10, 12, 30, 36)):
    """A photo of one rectangle; box, mask, point and map say where."""
    top, left, bottom, right = box
    mask = np.zeros((1, *size), bool)
    mask[0, top:bottom, left:right] = True
    return T.Sample(
        img=np.where(mask, value, value // 10).astype(dtype).repeat(3, axis=0),
        bbox=np.array([box], np.float32),
        label=np.array([value], np.int32),
        mask=mask,
        point=np.array([[[(top + bottom) / 2, (left + right) / 2]]], np.float32),
        label_map=np.where(mask[0], value, 0).astype(np.int32),
        area=np.array([mask.sum()], np.float32),
    )


@given(SEEDS)
def test_a_mosaic_holds_four_photos_and_their_boxes(seed):
    samples = [rectangle(value) for value in (50, 100, 150, 200)]
    sample, param = T.mosaic(samples, (60, 70), fill=7, return_param=True, rng=np.random.default_rng(seed))
    y, x = param["center"]
    assert sample.img.shape == (3, 60, 70)
    assert sample.img.dtype == np.uint8
    # the corners of the photos that meet
    assert [sample.img[0, y - 1, x - 1], sample.img[0, y - 1, x]] == [5, 10]
    assert [sample.img[0, y, x - 1], sample.img[0, y, x]] == [15, 20]
    for bb, label, mask in zip(sample.bbox, sample.label, sample.mask):
        top, left, bottom, right = bb.astype(int)
        assert (sample.img[:, top:bottom, left:right] == label).all()
        assert (sample.label_map[top:bottom, left:right] == label).all()
        assert mask[top:bottom, left:right].all()
        assert mask.sum() == (bottom - top) * (right - left)
    assert (sample.img == 50).sum() + (sample.img == 100).sum() + (sample.img == 150).sum() + (
        sample.img == 200
    ).sum() == 3 * sample.mask.sum()


def test_a_field_that_not_all_photos_know_is_unknown():
    samples = [rectangle(50)] * 3 + [T.Sample(img=rectangle(50).img, bbox=rectangle(50).bbox)]
    sample = T.mosaic(samples, (80, 100), center_range=(0.5, 0.5))
    assert len(sample.bbox) == 4
    assert sample.label is None
    assert sample.label_map is None


@given(SEEDS)
def test_mix_up_blends_and_weighs(seed):
    a, b = rectangle(100), rectangle(200, size=(30, 60), box=(1, 1, 9, 9))
    sample, param = T.mix_up(a, b, return_param=True, rng=np.random.default_rng(seed))
    ratio = param["ratio"]
    assert sample.img.shape == (3, 40, 60)
    np.testing.assert_allclose(sample.img[0, 5, 5], ratio * 10 + (1 - ratio) * 200, atol=0.51)
    np.testing.assert_allclose(sample.img[0, 35, 55], 0)
    assert sample.label.tolist() == [100, 200]
    np.testing.assert_allclose(sample.weight, [ratio, 1 - ratio], atol=1e-6)
    np.testing.assert_array_equal(sample.bbox, np.concatenate([a.bbox, b.bbox]))
    assert sample.mask.shape == (2, 40, 60)


@given(SEEDS)
def test_cut_mix_counts_the_pixels_that_stay(seed):
    a, b = (T.Sample(img=np.full((1, 40, 50), value, np.float32), label=np.int32(value)) for value in (1, 2))
    sample, param = T.cut_mix(a, b, return_param=True, rng=np.random.default_rng(seed))
    assert (sample.img == 1).mean() == pytest.approx(param["ratio"])
    assert (sample.img[:, param["y_slice"], param["x_slice"]] == 2).all()
    assert (a.img == 1).all()


@given(SEEDS, st.floats(0, 1))
def test_pasted_masks_do_not_overlap_and_boxes_hold_them(seed, prob):
    rng = np.random.default_rng(seed)
    samples = []
    for value in (100, 200):
        top, left = (int(each) for each in rng.integers(0, 20, 2))
        samples.append(rectangle(value, box=(top, left, top + 15, left + 18)))
    sample, param = T.copy_paste(*samples, prob=prob, return_param=True, rng=rng)
    assert sample.mask.sum(axis=0).max() <= 1
    for bb, mask, label, area in zip(sample.bbox, sample.mask, sample.label, sample.area):
        y, x = mask.nonzero()
        assert bb.tolist() == [y.min(), x.min(), y.max() + 1, x.max() + 1]
        assert (sample.img[:, mask] == label).all()
        assert (sample.label_map[mask] == label).all()
        assert area == mask.sum()
    assert (200 in sample.label) == (len(param["index"]) == 1)


def test_what_is_hidden_is_dropped_and_its_points_cannot_be_seen():
    below, top = rectangle(100), rectangle(200)
    assert T.copy_paste(below, top, prob=1).label.tolist() == [200]
    half = rectangle(200, box=(10, 12, 30, 30))
    sample = T.copy_paste(below, half, prob=1)
    assert sample.label.tolist() == [100, 200]
    assert sample.bbox[0].tolist() == [10, 30, 30, 36]
    assert not sample.visible[0, 0]


def test_pasting_from_a_larger_photo_cuts_it():
    sample = T.copy_paste(rectangle(100), rectangle(200, size=(90, 90), box=(35, 45, 60, 60)), prob=1)
    assert sample.img.shape == (3, 40, 50)
    assert sample.bbox[1].tolist() == [35, 45, 40, 50]


def test_bad_samples_are_refused():
    sample = rectangle(100)
    gray = T.Sample(img=sample.img[:1], mask=sample.mask)
    with pytest.raises(ShapeError, match="four samples"):
        T.mosaic([sample] * 3, (9, 9))
    with pytest.raises(ShapeError, match=r"\(2, 2\)"):
        T.mosaic([sample] * 4, (1, 9))
    with pytest.raises(ShapeError, match="masks"):
        T.copy_paste(sample, T.Sample(img=sample.img))
    for function in (T.mix_up, T.cut_mix, T.copy_paste):
        with pytest.raises(ShapeError, match="channels"):
            function(sample, gray)
    with pytest.raises(ShapeError, match="same size"):
        T.cut_mix(sample, rectangle(100, size=(41, 50)))
    with pytest.raises(ValueRangeError, match="alpha"):
        T.mix_up(sample, sample, alpha=0)
