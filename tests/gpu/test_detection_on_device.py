"""Boxes, regions, photos and predictions on a real GPU, against the CPU."""

import copy
import pathlib

import numpy as np
import pytest
from neighbour import module_at
from on_device import assert_near, put

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.prepare import prepare_images
from cvzoo.backends.cuda.selection import Candidates, nms_batch, select_best, sort_candidates
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.image_plan import Resampling
from cvzoo.backends.transfer import download, upload
from cvzoo.config.switches import using_config
from cvzoo.geometry.best_pairs import best_pairs
from cvzoo.geometry.nms import classwise_nms

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

TESTS = pathlib.Path(__file__).parents[1]
predict, roi, prepare = (
    module_at(TESTS / f"{path}.py")
    for path in ("links/model/test_predict_on_gpu", "functions/roi/test_on_device", "backends/cuda/test_prepare")
)


@pytest.mark.parametrize("limit", [1, 300, 5000])
@pytest.mark.parametrize("values", [0, 7, 1], ids=["distinct", "ties", "all equal"])
def test_the_best_of_many_scores(values, limit):
    rng = np.random.default_rng(0)
    score = rng.normal(size=(2, 400_000)).astype(np.float32)
    if values:
        score = rng.integers(1, values + 1, score.shape).astype(np.float32)
    selected = select_best(cupy().asarray(score), [(0, 300_000), (300_000, 100_000)], limit=limit, above=0.05)
    places = 0xFFFFFFFF - (selected.keys.get() & np.uint64(0xFFFFFFFF)).astype(np.int64)
    for photo in range(2):
        for part, (start, count) in enumerate(((0, 300_000), (300_000, 100_000))):
            want = best_pairs(score[photo, start : start + count, None], limit, above=0.05)
            assert int(selected.taken[photo, part]) == len(want)
            np.testing.assert_array_equal(places[photo, part, : len(want)], want)


@pytest.mark.parametrize("n", [1, 64, 1000, 5000])
def test_boxes_that_stay(n):
    rng = np.random.default_rng(n)
    corner, side = rng.integers(0, 600, (2, n, 2)), rng.integers(0, 120, (2, n, 2))
    bbox = np.concatenate([corner, corner + side], axis=2).astype(np.float32)
    label, score = rng.integers(0, 3, (2, n)).astype(np.int32), rng.integers(0, 99, (2, n)).astype(np.float32)
    found = sort_candidates(Candidates(*map(cupy().asarray, (bbox, label, score))))
    kept = nms_batch(found, iou_thresh=0.5, limit=None)
    for i in range(2):
        own = found.indices[i].get()[kept.rows[i].get()[: int(kept.counts[i])]]
        assert own.tolist() == classwise_nms(bbox[i], label[i], score[i], iou_thresh=0.5).tolist()


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("name", roi.CASES)
def test_regions_and_their_gradients(name, deterministic):
    function, group, options = roi.CASES[name]
    x, rois, indices = roi.draw(group, np.float32, n=200)
    gy = np.random.default_rng(1).normal(size=(200, 5, 3, 4)).astype(np.float32)
    want = roi.there_and_back(function, group, x, rois, indices, options, gy)
    there = [put(cupy(), each) for each in (x, rois, indices, gy)]
    with using_config("deterministic", deterministic):
        got = roi.there_and_back(function, group, *there[:3], options, there[3])
        for one, two in zip(got, want):
            assert_near(one, two, 1e-4)
        if deterministic:
            again = roi.there_and_back(function, group, *there[:3], options, there[3])
            assert all(one.get().tobytes() == two.get().tobytes() for one, two in zip(got, again))


def test_regions_of_half_floats():
    x, rois, indices = roi.draw(1, np.float16, n=50)
    want = F.roi_average_align_2d(x.astype(np.float32), rois, indices, 7, 0.25, 2).array
    got = F.roi_average_align_2d(Variable(put(cupy(), x)), rois, indices, 7, 0.25, 2).array
    np.testing.assert_allclose(got.get().astype(np.float32), want, rtol=0, atol=5e-3)


@pytest.mark.parametrize("how", Resampling)
def test_photos_are_prepared(how):
    for old, new in (((480, 640), (224, 299)), ((97, 61), (300, 200)), ((2000, 3000), (64, 96))):
        photo = prepare.draw(old)
        x = prepare_images([photo], [prepare.plan_of(old, new, how)])
        exact = how in (Resampling.PILLOW, Resampling.PILLOW_CUBIC, Resampling.CORNERS)
        want = prepare.resized_on_cpu(photo, new, how)
        np.testing.assert_allclose(x.get()[0], want, rtol=0, atol=0 if exact else 5e-3)


def test_buffers_in_use_are_not_written_over():
    rows = [np.full(1 << 20, k, np.float32) for k in range(20)]
    there = [upload([row])[0] for row in rows]
    for k, row in enumerate(download(there)):
        assert (row == k).all()


def there(model, photos, **options):
    model = copy.deepcopy(model)
    model.to_device("gpu:0")
    return model.predict(photos, **options)


@pytest.fixture
def photos():
    return [predict.seeded_photo(size, k).astype(np.uint8) for k, size in enumerate(((60, 90), (60, 90), (75, 50)))]


@pytest.mark.parametrize("name", predict.detectors.MAKERS)
def test_a_detector_finds_the_same(name, photos):
    model = predict.detectors._made(name)
    predict.detectors.conformance.let_boxes_through(model)
    predict.assert_same_boxes(there(model, photos), model.predict(photos), 1e-3)


@pytest.mark.parametrize("name", predict.instances.MODELS)
def test_a_model_of_instances_finds_the_same(name, photos):
    model = predict.instances._made(name)
    predict.instances.conformance.let_instances_through(model)
    predict.assert_same_boxes(there(model, photos), model.predict(photos), 1e-3)


@pytest.mark.parametrize("name", predict.segmenters.SEGMENTERS)
def test_a_segmenter_says_the_same(name, photos):
    model = predict.segmenters._made(name)
    got, want = (call(photos, with_probs=True) for call in (lambda *a, **k: there(model, *a, **k), model.predict))
    for one, two in zip(got.probs, want.probs):
        np.testing.assert_allclose(one, two, rtol=0, atol=2e-3)


@pytest.mark.parametrize("name", predict.classifiers.CLASSIFIERS)
def test_a_classifier_says_the_same(name, photos):
    model = predict.classifiers._made(name)
    np.testing.assert_allclose(there(model, photos).probs, model.predict(photos).probs, rtol=0, atol=2e-3)
