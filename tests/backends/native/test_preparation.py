"""Images prepared by our own kernel have the bits of NumPy's preparation."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.image_plan import ImagePlan, Resampling
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.numpy.resize import prepare_image, prepare_on_host, resize_2d
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn import resize
from cvzoo.backends.onednn.library import why_no_onednn

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
by_numpy = functools.partial(prepare_image, resize_2d=resize_2d)
sides = st.integers(1, 150)


def draw(seed, size, dtype, layout):
    image = np.random.default_rng(seed).integers(0, 256, (*size, 3)).astype(dtype)
    if layout == "planes":
        return np.ascontiguousarray(image.transpose(2, 0, 1))
    if layout == "cut":  # rows are not contiguous
        return np.concatenate([image, image], 1)[:, : size[1]].transpose(2, 0, 1)
    return image.transpose(2, 0, 1)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 1000),
    size=st.tuples(sides, sides),
    new=st.tuples(sides, sides),
    margins=st.tuples(*[st.integers(-20, 20)] * 4),
    how=st.sampled_from(Resampling),
    dtype=st.sampled_from([np.uint8, np.float32]),
    layout=st.sampled_from(["pixels", "planes", "cut"]),
    numbers=st.sampled_from(
        [{}, {"mean": (100.0, 110.5, 120.0)}, {"mean": (3.0, 2.0, 1.0), "std": (57.0, 58.0, 59.5)}]
    ),
    scale=st.sampled_from([{}, {"factor": 0.017}, {"divisor": 255.0}, {"shift": 1.5, "factor": 0.1}]),
    before=st.booleans(),
    bgr=st.booleans(),
    channels=st.sampled_from([3, 8]),
    threads=st.integers(1, 3),
)
def test_a_prepared_image_has_numpys_bits(
    seed, size, new, margins, how, dtype, layout, numbers, scale, before, bgr, channels, threads
):
    offset = tuple(max(margin, 1 - side) for margin, side in zip(margins, new))
    frame = tuple(max(side + start + more, 1) for side, start, more in zip(new, offset, margins[2:]))
    plan = ImagePlan(new, frame, how, offset=offset, fill=(1.0, 2.0, 3.0), before=before, bgr=bgr, **numbers, **scale)
    image = draw(seed, size, dtype, layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resize, "_algorithm", lambda *_: None)  # else oneDNN resizes some of these small images
        patch.setattr(resize, "_FEW", 0)
        patch.setattr("cvzoo.backends.native.preparation.threads_now", lambda: (threads, ""))
        x = onednn_backend.prepare_images([image], [plan], channels=channels)
    np.testing.assert_array_equal(x, prepare_on_host([image], [plan], np.float32, channels, by_numpy))


@pytest.mark.parametrize(
    ("size", "new"), [((480, 640), (800, 1066)), ((1200, 1600), (800, 1067)), ((600, 800), (300, 300))]
)
def test_images_of_usual_sizes_have_numpys_bits(size, new):
    image = draw(0, size, np.uint8, "pixels")
    for how in (Resampling.BILINEAR, Resampling.ANTIALIASED):
        plan = ImagePlan(new, (832, 1088), how, mean=(123.7, 116.3, 103.5), std=(58.4, 57.1, 57.4), before=True)
        x = onednn_backend.prepare_images([image], [plan])
        np.testing.assert_array_equal(x, prepare_on_host([image], [plan], np.float32, 3, by_numpy))


def test_not_a_number_stays_in_its_pixel():
    image = draw(0, (200, 200), np.float32, "planes")
    image[1, 50, 60] = np.nan
    plan = ImagePlan((300, 310), (300, 310), Resampling.BILINEAR)
    (x,) = onednn_backend.prepare_images([image], [plan])
    (want,) = prepare_on_host([image], [plan], np.float32, 3, by_numpy)
    np.testing.assert_array_equal(x, want)
    assert np.isnan(x[1]).any()
    assert not np.isnan(x[0]).any()
