"""Photos prepared on a made-up GPU are those that the CPU prepares."""

import ml_dtypes
import numpy as np
import pytest
from host_cuda import thread_order
from host_cuda.module import ORDERS

from cvzoo.backends.cuda.prepare import prepare_images
from cvzoo.backends.image_plan import ImagePlan, Resampling
from cvzoo.backends.numpy import resize as on_host
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_align_corners import resize_align_corners

SIZES = [
    ((40, 61), (20, 17)),
    ((13, 8), (31, 40)),
    ((1, 9), (5, 3)),
    ((33, 33), (33, 7)),
    ((90, 20), (7, 21)),
    ((6, 6), (1, 1)),
]


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def draw(size, dtype=np.uint8, seed=0):
    rng = np.random.default_rng([seed, *size])
    photo = rng.integers(0, 256, (3, *size)).astype(np.uint8)
    return photo if dtype == np.uint8 else photo + rng.random(photo.shape).astype(np.float32)


def resized_on_cpu(photo, size, how):
    if how in (Resampling.PILLOW, Resampling.PILLOW_CUBIC):
        cubic = how is Resampling.PILLOW_CUBIC
        return resize(photo, size, interpolation="bicubic" if cubic else "bilinear").astype(np.float32)
    photo = photo.astype(np.float32)
    if how is Resampling.PILLOW_FLOATS:
        return resize(photo, size)
    if how is Resampling.CORNERS:
        return resize_align_corners(photo, size)
    return resize_images(photo[None], size, align_corners=False, antialias=how is Resampling.ANTIALIASED).array[0]


def plan_of(old, new, how, **settings):
    return ImagePlan(
        new, settings.pop("frame", new), how, horizontal_first=rows_first(old, new) is not False, **settings
    )


@pytest.mark.parametrize("how", Resampling)
@pytest.mark.parametrize(("old", "new"), SIZES, ids=[f"{a}-{b}" for a, b in SIZES])
def test_every_resizing_is_that_of_the_cpu(machine, old, new, how):
    photo = draw(old)
    x = prepare_images([photo], [plan_of(old, new, how)])
    want = resized_on_cpu(photo, new, how)
    # eight bits to the bit; floats as far as sums of them go, of numbers up to 255
    exact = how in (Resampling.PILLOW, Resampling.PILLOW_CUBIC, Resampling.CORNERS)
    np.testing.assert_allclose(x.get()[0], want, rtol=0, atol=0 if exact else 2e-3)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_photos_may_lie_as_they_like_and_be_finer_than_eight_bits(machine, dtype, channels_last):
    photo = draw((12, 15), dtype)
    if channels_last:
        photo = np.ascontiguousarray(photo.transpose(1, 2, 0)).transpose(2, 0, 1)
    x = prepare_images([photo], [plan_of((12, 15), (7, 9), Resampling.CORNERS)])
    np.testing.assert_array_equal(x.get()[0], resize_align_corners(photo.astype(np.float32), (7, 9)))


def test_mean_and_std_may_come_before_or_after(machine):
    photo, mean, std = draw((12, 15)), (100.0, 110.0, 120.0), (50.0, 60.0, 70.0)
    column = [np.float32(three)[:, None, None] for three in (mean, std)]
    whole = (photo.astype(np.float32) - column[0]) / column[1]
    for before in (False, True):
        plan = plan_of((12, 15), (20, 21), Resampling.CORNERS, mean=mean, std=std, before=before)
        x = prepare_images([photo], [plan])
        want = resize_align_corners(whole if before else photo, (20, 21))
        want = want if before else (want - column[0]) / column[1]
        np.testing.assert_allclose(x.get()[0], want, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"offset": (-3, 4), "frame": (10, 30), "fill": (1.0, 2.0, 3.0), "factor": 0.5, "shift": 1.0},
        {"bgr": True, "before": True, "divisor": 255.0, "mean": (1.0, 2.0, 3.0), "std": (4.0, 5.0, 6.0)},
        {"mean": (1.0, 2.0, 3.0), "std": (4.0, 5.0, 6.0), "frame": (32, 32)},
    ],
)
@pytest.mark.parametrize("how", [Resampling.PILLOW, Resampling.BILINEAR, Resampling.CORNERS])
def test_a_plan_is_carried_out_as_on_the_host(machine, how, settings):
    photos = [draw((12, 15)), draw((30, 9), np.float32)]
    settings = {**settings, "before": settings.get("before", False) and how is not Resampling.PILLOW}
    plans = [plan_of(photo.shape[1:], (20, 21), how, **settings) for photo in photos]
    want = on_host.prepare_images(photos, plans, channels=4)
    got = prepare_images(photos, plans, channels=4).get()
    assert want.transpose(0, 2, 3, 1).flags.c_contiguous
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-3)


def test_a_photo_is_set_into_a_frame_or_cut_out_of(machine):
    photo = draw((10, 30))
    resized = resize_align_corners(photo, (8, 24)) * np.float32(0.5) - np.float32(2)
    plan = plan_of(
        (10, 30),
        (8, 24),
        Resampling.CORNERS,
        frame=(16, 12),
        offset=(3, -5),
        factor=0.5,
        shift=2.0,
        fill=(7.0, 8.0, 9.0),
    )
    x = prepare_images([photo], [plan])
    want = np.empty((3, 16, 12), np.float32)
    want[...] = np.float32([7, 8, 9])[:, None, None]
    want[:, 3:11] = resized[:, :, 5:17]
    np.testing.assert_array_equal(x.get()[0], want)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_sixteen_bits_are_rounded_once_and_channels_padded_with_zeros(machine, dtype):
    photo = draw((9, 9))
    plan = plan_of((9, 9), (5, 5), Resampling.CORNERS, factor=1 / 255)
    x = prepare_images([photo], [plan])
    y = prepare_images([photo], [plan], dtype=dtype, channels=8)
    assert y.shape == (1, 8, 5, 5)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
    np.testing.assert_array_equal(y.get()[:, :3], x.get().astype(dtype))
    assert not y.get()[:, 3:].astype(np.float32).any()


def test_photos_of_several_sizes_go_up_by_one_copy(machine):
    photos = [draw((9, 12)), draw((20, 7)), draw((5, 5), np.float32)]
    plans = [plan_of(each.shape[1:], (6, 6), Resampling.BILINEAR) for each in photos]
    x = prepare_images(photos, plans)
    assert machine.recorder.counts()["h2d"] == 1
    assert not machine.recorder.of("d2h")
    for photo, got in zip(photos, x.get()):
        np.testing.assert_allclose(got, resized_on_cpu(photo, (6, 6), Resampling.BILINEAR), rtol=0, atol=2e-3)


def test_no_order_of_threads_changes_a_bit(machine):
    photo, seen = draw((30, 22)), set()
    for order in ORDERS:
        with thread_order(order):
            x = prepare_images([photo], [plan_of((30, 22), (11, 13), Resampling.PILLOW_FLOATS)])
        seen.add(x.get().tobytes())
    assert len(seen) == 1


def test_photos_of_other_shapes_and_frames_that_differ_are_refused(machine):
    plan = plan_of((9, 9), (5, 5), Resampling.CORNERS)
    for photo in (np.zeros((1, 9, 9), np.uint8), np.zeros((9, 9), np.uint8), np.zeros((3, 9, 9), np.float64)):
        with pytest.raises(ShapeError, match="an image"):
            prepare_images([photo], [plan])
    with pytest.raises(ShapeError, match="one frame"):
        prepare_images([draw((9, 9))] * 2, [plan, plan_of((9, 9), (5, 6), Resampling.CORNERS)])
