"""Samples: photo, boxes, masks, points and label map stay together whatever is drawn."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cvzoo.transforms as T
from cvzoo.errors import DtypeError, ShapeError, ValueRangeError

SEEDS = st.integers(0, 10**6)
SIZE = (60, 80)


def make_sample(seed=0, dtype=np.uint8, size=SIZE):
    """Rectangles whose boxes, masks, middles and values in photo and label map all say the same."""
    rng = np.random.default_rng(seed)
    height, width = size
    bbox, mask = [], np.zeros((4, height, width), bool)
    label_map = np.zeros(size, np.int32)
    img = np.zeros((3, *size), dtype)
    for index in range(4):
        y, x = (index // 2) * height // 2, (index % 2) * width // 2
        top, left = y + int(rng.integers(1, 8)), x + int(rng.integers(1, 8))
        bottom, right = top + int(rng.integers(9, 20)), left + int(rng.integers(9, 25))
        bbox.append((top, left, bottom, right))
        mask[index, top:bottom, left:right] = True
        label_map[top:bottom, left:right] = index + 1
        img[:, top:bottom, left:right] = 60 * (index + 1)
    bbox = np.array(bbox, np.float32)
    middle = ((bbox[:, :2] + bbox[:, 2:]) / 2)[:, None]
    return T.Sample(
        img=img,
        bbox=bbox,
        label=np.arange(4, dtype=np.int32),
        mask=mask,
        point=middle,
        visible=np.ones((4, 1), bool),
        rbbox=np.concatenate([middle[:, 0], bbox[:, 2:] - bbox[:, :2], np.zeros((4, 1))], axis=1).astype(np.float32),
        label_map=label_map,
        difficult=np.arange(4) % 2 == 0,
        area=mask.sum(axis=(1, 2)).astype(np.float32),
    )


GEOMETRIC = [
    T.Resize((45, 100)),
    T.Scale(short=50),
    T.ResizeContain((50, 50), fill=7),
    T.Letterbox((64, 64)),
    T.ResizeWithRandomInterpolation((30, 40)),
    T.CenterCrop((50, 60)),
    T.RandomCrop((40, 50)),
    T.RandomSizedCrop(scale_ratio_range=(0.3, 1)),
    T.RandomExpand(max_ratio=2, fill=(1, 2, 3)),
    T.RandomCropWithBboxConstraints(),
    T.RandomFlip(x_random=True, y_random=True),
    T.RandomRotate(),
]
ALL = [
    *GEOMETRIC,
    T.RandomTilt(20),
    T.RandomTilt(20, expand=True, fill=9),
    T.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3, hue=0.1),
    T.RandomDistort(),
    T.PCALighting(25.5),
    T.RandomErasing(prob=1),
    T.Sometimes(T.RandomExpand()),
    T.OneOf([T.RandomFlip(y_random=True), T.RandomRotate()]),
]


def name_of(transform):
    return type(transform).__name__


def mask_box(mask):
    y, x = mask.nonzero()
    return [y.min(), x.min(), y.max() + 1, x.max() + 1]


@pytest.mark.parametrize("transform", GEOMETRIC, ids=name_of)
@given(seed=SEEDS)
def test_boxes_of_changed_masks_are_changed_boxes_within_a_pixel(transform, seed):
    sample = transform(make_sample(seed), rng=np.random.default_rng(seed))
    assert len(sample.bbox) == len(sample.mask) == len(sample.label) == len(sample.area) == len(sample.difficult)
    for bb, mask in zip(sample.bbox, sample.mask):
        if (bb[2:] - bb[:2]).min() > 1:
            np.testing.assert_allclose(mask_box(mask), bb, atol=1)


@pytest.mark.slow
@pytest.mark.parametrize("transform", ALL, ids=name_of)
@given(seed=SEEDS)
def test_nothing_escapes_the_photo_and_dtypes_are_kept(transform, seed):
    before = make_sample(seed)
    sample = transform(before, rng=np.random.default_rng(seed))
    height, width = sample.size
    assert sample.pending is None
    assert sample.img.shape == (3, height, width)
    assert sample.mask.shape[1:] == sample.label_map.shape == (height, width)
    assert (sample.bbox >= -1e-3).all()
    assert (sample.bbox <= np.array([height, width] * 2) + 1e-3).all()
    seen = sample.point[sample.visible]
    assert (seen >= 0).all()
    assert (seen <= [height, width]).all()
    assert set(np.unique(sample.label_map)) <= {-1, 0, 1, 2, 3, 4}
    for field in dataclasses.fields(sample):
        if field.name not in ("pending", "crowded", "weight") and not (
            field.name == "img" and isinstance(transform, T.Letterbox)
        ):
            after, was = (vars(each)[field.name] for each in (sample, before))
            assert after.dtype == was.dtype, field.name
    assert sample.img.min() >= 0
    assert sample.img.max() <= 255
    np.testing.assert_array_equal(before.img, make_sample(seed).img)


@pytest.mark.slow
@pytest.mark.parametrize("transform", ALL, ids=name_of)
@given(seed=SEEDS)
def test_a_draw_can_be_applied_again(transform, seed):
    sample, param = transform(make_sample(seed), rng=np.random.default_rng(seed), return_param=True)
    again = transform.apply(make_sample(seed), param)
    for a, b in zip(vars(sample).values(), vars(again).values()):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("transform", GEOMETRIC, ids=name_of)
@given(seed=SEEDS)
def test_photo_masks_points_and_label_map_agree(transform, seed):
    """Where a point is seen, its mask and the label map have its instance, and the photo its value."""
    sample = transform(make_sample(seed), rng=np.random.default_rng(seed))
    for label, mask, point, visible, bb in zip(sample.label, sample.mask, sample.point, sample.visible, sample.bbox):
        y, x = np.floor(point[0]).astype(int)
        if visible[0] and (bb[2:] - bb[:2]).min() > 5:
            assert mask[y, x]
            assert sample.label_map[y, x] == label + 1
            edge = min(*(point[0] - bb[:2]), *(bb[2:] - point[0]))
            if edge > 3:
                np.testing.assert_allclose(sample.img[:, y, x], 60 * (label + 1), atol=2)


@given(SEEDS)
def test_flips_are_involutions(seed):
    sample, flip = make_sample(seed), T.RandomFlip(x_random=True, y_random=True)
    once, param = flip(sample, rng=np.random.default_rng(seed), return_param=True)
    twice = flip.apply(once, param)
    for a, b in zip(vars(twice).values(), vars(sample).values()):
        np.testing.assert_allclose(a, b) if a is not None else None


@given(SEEDS)
def test_crops_commute_with_resizes(seed):
    """Shrinking by two and cropping is cropping twice as much and shrinking, away from the edge of the crop."""
    rng = np.random.default_rng(seed)
    y, x = (int(each) for each in rng.integers(0, 10, 2))
    sample = make_sample(seed, np.float32)
    first = T.resize_sample(
        T.crop_sample(sample, y_slice=slice(2 * y, 2 * y + 40), x_slice=slice(2 * x, 2 * x + 60)), (20, 30)
    )
    second = T.resize_sample(sample, (30, 40))
    second = T.Compose([]).apply(T.crop_sample(second, y_slice=slice(y, y + 20), x_slice=slice(x, x + 30)), [])
    np.testing.assert_allclose(first.img[:, 2:-2, 2:-2], second.img[:, 2:-2, 2:-2], atol=0.01)
    np.testing.assert_allclose(first.bbox, second.bbox, atol=1e-4)
    np.testing.assert_array_equal(first.mask, second.mask)
    np.testing.assert_array_equal(first.label_map, second.label_map)
    np.testing.assert_allclose(first.point, second.point, atol=1e-4)
    np.testing.assert_array_equal(first.label, second.label)


@given(SEEDS, st.booleans())
def test_crops_that_are_cut_once_give_what_crops_one_by_one_give(seed, has_bbox):
    transforms = [
        T.Sometimes(T.RandomExpand(max_ratio=3, fill=(1, 2, 3))),
        T.RandomSizedCrop(),
        T.Sometimes(T.RandomExpand(max_ratio=2, fill=9)),
        T.RandomCrop((3, 3)),
    ]
    sample = make_sample(seed)
    if not has_bbox:
        sample = dataclasses.replace(sample, bbox=None)
    at_once, params = T.Compose(transforms)(sample, rng=np.random.default_rng(seed), return_param=True)
    for transform, param in zip(transforms, params):
        sample = transform.apply(sample, param)
    for a, b in zip(vars(at_once).values(), vars(sample).values()):
        np.testing.assert_array_equal(a, b)


def test_a_sample_depends_on_seed_epoch_and_index_only():
    compose = T.Compose([T.RandomExpand(), T.RandomSizedCrop(), T.RandomFlip(x_random=True), T.RandomDistort()])
    drawn = {}
    for seed, epoch, index in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0), (1, 0, 0)]:
        result = compose(make_sample(), rng=T.sample_generator(seed, epoch, index)).img
        key = (seed, epoch, index)
        if key in drawn:
            np.testing.assert_array_equal(drawn[key], result)
        drawn[key] = result
    floats = {key: T.sample_generator(*key).random() for key in drawn}
    assert len(set(floats.values())) == 4
    with pytest.raises(ValueRangeError, match="negative"):
        T.sample_generator(0, -1, 0)


def test_composes_nest_and_can_be_applied_to_another_sample():
    compose = T.Compose([T.Compose([T.RandomCrop((30, 30)), T.RandomFlip(x_random=True)]), T.Resize((10, 10))])
    assert len(compose.transforms) == 3
    sample, params = compose(make_sample(), rng=np.random.default_rng(0), return_param=True)
    depth = T.Sample(img=make_sample().img[:1].astype(np.float32))
    again = compose.apply(depth, params)
    np.testing.assert_allclose(again.img[0], sample.img[0], atol=1)
    with pytest.raises(ShapeError, match="params"):
        compose.apply(depth, params[:1])


def test_instances_are_dropped_together():
    sample = make_sample()
    cut = T.crop_sample(sample, y_slice=slice(0, 28), x_slice=slice(0, 80))
    cut = T.Compose([]).apply(cut, [])
    assert cut.label.tolist() == [0, 1]
    assert cut.difficult.tolist() == [True, False]
    masks_only = T.crop_sample(T.Sample(img=sample.img, mask=sample.mask), y_slice=slice(0, 28), x_slice=slice(0, 80))
    assert len(masks_only.mask) == 2
    turned_only = T.crop_sample(
        T.Sample(img=sample.img, rbbox=sample.rbbox), y_slice=slice(0, 28), x_slice=slice(0, 80)
    )
    assert len(turned_only.rbbox) == 2


def test_points_that_leave_become_invisible_and_stay_so():
    sample = T.Sample(img=np.zeros((3, 10, 10), np.uint8), point=np.array([[[2, 2], [8, 8]]], np.float32))
    cut = T.crop_sample(sample, y_slice=slice(0, 5), x_slice=slice(0, 5))
    assert cut.visible.tolist() == [[True, False]]
    assert T.crop_sample(cut, y_slice=slice(-5, 20), x_slice=slice(-5, 20)).visible.tolist() == [[True, False]]


def test_a_photo_alone_is_a_sample():
    for transform in ALL:
        sample = transform(T.Sample(img=make_sample().img, label=np.int32(3)), rng=np.random.default_rng(0))
        assert sample.label == 3
        assert sample.bbox is None


def test_to_float_and_normalize_end_a_pipeline():
    sample = T.Compose([T.RandomFlip(x_random=True), T.ToFloat()])(make_sample())
    assert sample.img.dtype == np.float32
    assert sample.img.flags.c_contiguous
    normal = T.Normalize(mean=(1, 2, 3), std=2)(make_sample())
    np.testing.assert_allclose(normal.img[2], (make_sample().img[2] - 3.0) / 2)


def test_a_sample_gives_the_fields_of_an_example():
    sample = make_sample()
    img, label = sample.values(("img", "label"))
    assert img is sample.img
    assert label is sample.label
    with pytest.raises(ValueRangeError, match="does not have the requested field"):
        sample.values(("img", "boxes"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bbox": np.zeros((2, 4)), "label": np.zeros(3)}, "different numbers of instances"),
        ({"mask": np.zeros((1, 9, 9), bool)}, "mask has a different size"),
        ({"label_map": np.zeros((9, 9), np.int32)}, "label_map has a different size"),
        ({"img": np.zeros((60, 80))}, r"\(C, H, W\)"),
    ],
)
def test_fields_that_disagree_are_refused(fields, message):
    with pytest.raises(ShapeError, match=message):
        T.Sample(**{"img": np.zeros((3, *SIZE)), **fields})


def test_bad_transforms_and_samples_are_refused():
    with pytest.raises(DtypeError, match="Compose takes transforms"):
        T.Compose([T.flip])
    with pytest.raises(DtypeError, match="Sample"):
        T.Resize((3, 3))(np.zeros((3, 9, 9)))
    with pytest.raises(ValueRangeError, match="prob"):
        T.Sometimes(T.RandomRotate(), 2)
    with pytest.raises(ValueRangeError, match="degrees"):
        T.RandomTilt(-1)
