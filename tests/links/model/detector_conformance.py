"""What every detector promises, as plain check functions: each takes a detector and raises AssertionError if it lies.

A detector joins by appearing in the list of test_detector_conformance.py. The photos are made here, from a fixed seed.
"""

import io
import pathlib
import threading

import numpy as np
import pytest
from PIL import Image

import cvzoo.functions as F
from cvzoo.config.switches import switches, using_config
from cvzoo.errors.exceptions import CvzooError, DtypeError, ImageError, ShapeError, ValueRangeError
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.detector import AbstractDetector


def make_photos(n=3):
    """n photos of different sizes, (3, H, W) float32 of whole numbers: blobs of colour on noise."""
    rng = np.random.default_rng(7)
    photos = []
    for height, width in [(120, 160), (97, 61), (64, 200), (150, 150), (33, 47), (90, 90)][:n]:
        img = rng.integers(0, 60, (3, height, width)).astype(np.float32)
        y, x = height // 4, width // 3
        img[:, y : 3 * y, x : 2 * x] += rng.integers(60, 190, (3, 1, 1))
        photos.append(img)
    return photos


def let_boxes_through(detector):
    """Set thresholds at which a network of any weights finds something to compare, but not everything."""
    detector.score_thresh, detector.nms_thresh, detector.limit = 0.002, 0.45, 50


def predicted(detector):
    """The arrays of a prediction that finds something."""
    let_boxes_through(detector)
    return [array for arrays in detector.predict(make_photos(2)) for array in arrays]


def loss(detector):
    """A scalar that depends on all outputs of a detector that looks once."""
    (img,) = make_photos(1)
    views = img, np.ascontiguousarray(img[:, ::-1]), np.ascontiguousarray(img[:, :, ::-1])
    outputs = detector.forward(np.stack([detector.prepare(view) for view in views]))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    rng = np.random.default_rng(3)
    total = 0
    for y in outputs:
        total = total + F.sum(y * rng.standard_normal(y.shape, np.float32))
    return total


def assert_same(one, other):
    """Two results have the same bits."""
    assert len(one.bboxes) == len(other.bboxes)
    for name in ("bboxes", "labels", "scores"):
        for a, b in zip(one.__getattribute__(name), other.__getattribute__(name)):
            np.testing.assert_array_equal(a, b, err_msg=name)


def as_file(img, kind="PNG", **options):
    """The bytes of an image file."""
    buffer = io.BytesIO()
    pil = img if isinstance(img, Image.Image) else Image.fromarray(img.astype(np.uint8).transpose(1, 2, 0))
    pil.save(buffer, kind, **options)
    return buffer.getvalue()


# --- the checks ---------------------------------------------------------------------------------------------------
def check_result_types(detector):
    photos = make_photos()
    result = detector.predict(photos)
    assert isinstance(result, Detections)
    bboxes, labels, scores = result
    assert len(bboxes) == len(labels) == len(scores) == len(photos)
    assert all(isinstance(each, list) for each in result)
    assert sum(map(len, bboxes)), "no box to check: let_boxes_through did not suffice"
    for img, bbox, label, score in zip(photos, bboxes, labels, scores):
        n = len(bbox)
        assert (bbox.shape, bbox.dtype) == ((n, 4), np.float32)
        assert (label.shape, label.dtype) == ((n,), np.int32)
        assert (score.shape, score.dtype) == ((n,), np.float32)
        assert np.isfinite(bbox).all()
        assert np.isfinite(score).all()
        assert (bbox[:, :2] < img.shape[1:]).all(), "a box lies wholly outside"
        assert (bbox[:, 2:] > 0).all(), "a box lies wholly outside"
        assert (bbox[:, :2] < bbox[:, 2:]).all(), "an empty box"
        assert (score > detector.score_thresh).all()
        assert (np.diff(score) <= 0).all(), "not the best first"
        assert (label >= 0).all()
        assert (label < detector.n_fg_class).all()


def check_clip(detector):
    photos = make_photos()
    free = detector.predict(photos)
    detector.clip = True
    try:
        cut = detector.predict(photos)
    finally:
        detector.clip = False
    for img, bbox, whole in zip(photos, cut.bboxes, free.bboxes):
        assert (bbox[:, :2] >= 0).all()
        assert (bbox[:, 2:] <= img.shape[1:]).all()
        np.testing.assert_array_equal(bbox, np.clip(whole, 0, np.array(img.shape[1:] * 2, np.float32)))


def check_empty_list(detector):
    result = detector.predict([])
    assert result == ([], [], [])
    assert result.to_records() == []
    assert detector.predict(iter(())) == ([], [], [])


def check_nothing_found(detector):
    detector.score_thresh = 2.0  # no score is so high
    bboxes, labels, scores = detector.predict(make_photos(2))
    for bbox, label, score in zip(bboxes, labels, scores):
        assert (bbox.shape, bbox.dtype) == ((0, 4), np.float32)
        assert (label.shape, label.dtype) == ((0,), np.int32)
        assert (score.shape, score.dtype) == ((0,), np.float32)


def check_every_kind_of_source(detector, folder):
    img = make_photos(1)[0]
    data = as_file(img)
    path = pathlib.Path(folder) / "photo.png"
    path.write_bytes(data)
    expected = detector.predict([img])
    sources = [path, str(path), data, bytearray(data), io.BytesIO(data), Image.open(path), img.astype(np.uint8)]
    sources += [np.ascontiguousarray(img.transpose(1, 2, 0)).transpose(2, 0, 1), img.astype(np.float64)]
    for source in sources:
        assert_same(detector.predict([source]), expected)
    with open(path, "rb") as file:
        assert_same(detector.predict([file]), expected)


def check_every_kind_of_iterable(detector):
    photos = make_photos()
    expected = detector.predict(photos)
    assert_same(detector.predict(tuple(photos)), expected)
    assert_same(detector.predict(img for img in photos), expected)
    same_size = np.stack([photos[0], photos[0][:, ::-1]])
    assert_same(detector.predict(same_size), detector.predict(list(same_size)))


def check_grey_rgba_and_16_bit(detector):
    grey = make_photos(1)[0][:1]
    as_rgb = np.repeat(grey, 3, axis=0)
    expected = detector.predict([as_rgb])
    flat = grey[0].astype(np.uint8)
    rgba = np.dstack([flat] * 3 + [np.full_like(flat, 255)])
    deep = Image.fromarray(flat.astype(np.uint16) * 257)
    sources = [grey, grey[0], Image.fromarray(flat), Image.fromarray(rgba), flat.astype(np.uint16) * 257]
    sources += [as_file(Image.fromarray(flat)), as_file(Image.fromarray(rgba)), as_file(deep)]
    for source in sources:
        assert_same(detector.predict([source]), expected)


def check_exif_orientation(detector):
    img = make_photos(1)[0]
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate by 270 degrees to see it upright
    turned = as_file(np.rot90(img, axes=(1, 2)), exif=exif)
    assert_same(detector.predict([turned]), detector.predict([img]))


def check_batch_invariance(detector):
    photos = make_photos(5)
    alone = [detector.predict([img]) for img in photos]
    for batch_size in (1, 2, 3, 8):
        together = detector.predict(photos, batch_size=batch_size)
        for i, each in enumerate(alone):
            assert_same(Detections(*([part[i]] for part in together)), each)
    backwards = detector.predict(photos[::-1], batch_size=4)
    for i, each in enumerate(alone[::-1]):
        assert_same(Detections(*([part[i]] for part in backwards)), each)


def check_predict_each(detector):
    photos = make_photos()
    read = []

    def source():
        for i, img in enumerate(photos):
            read.append(i)
            yield img

    results = detector.predict_each(source())
    first = next(results)
    assert read == [0], "photos are read ahead of the results"
    found = [first, *results]
    assert all(each.n_photo == 1 for each in found)
    together = detector.predict(photos)
    for i, each in enumerate(found):
        assert_same(each, Detections(*([part[i]] for part in together)))


def check_nothing_is_changed(detector):
    photos = make_photos()
    copies = [img.copy() for img in photos]
    for img in photos:
        img.flags.writeable = False
    before_state = {name: array.copy() for name, array in detector.state_arrays().items()}
    with using_config("train", True), using_config("enable_backprop", True):
        before = dict(switches.__dict__)
        detector.predict(photos)
        results = detector.predict_each(photos)
        next(results)
        assert dict(switches.__dict__) == before, "a waiting generator leaks its switches"
        list(results)
        assert dict(switches.__dict__) == before
    for img, copy in zip(photos, copies):
        np.testing.assert_array_equal(img, copy)
    for name, array in detector.state_arrays().items():
        np.testing.assert_array_equal(array, before_state[name], err_msg=name)
    assert all(parameter.grad is None for parameter in detector.params())


def check_determinism(detector):
    photos = make_photos()
    first = detector.predict(photos)
    for _ in range(3):
        assert_same(detector.predict(photos), first)


def check_results_are_not_shared(detector):
    photos = make_photos(1)
    first = detector.predict(photos)
    kept = [part[0].copy() for part in first]
    detector.predict([255 - photos[0]])
    for part, copy in zip(first, kept):
        np.testing.assert_array_equal(part[0], copy)


def check_threads(detector):
    photos = make_photos()
    expected = detector.predict(photos)
    results, errors = {}, []
    for parameter in detector.params():
        parameter.touch()  # the threads meet a model that was never run

    def work(number):
        try:
            for _ in range(2):
                results[number] = detector.predict(photos, batch_size=1 + number)
        except Exception as error:  # an assertion in a thread would go unseen
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    for result in results.values():
        assert_same(result, expected)


def check_presets(detector):
    detector.use_preset("visualize")
    shown = detector.nms_thresh, detector.score_thresh
    with detector.using_preset("evaluate"):
        assert detector.score_thresh < shown[1], "evaluation wants more boxes"
    assert (detector.nms_thresh, detector.score_thresh) == shown
    with pytest.raises(RuntimeError), detector.using_preset("evaluate"):
        raise RuntimeError
    assert (detector.nms_thresh, detector.score_thresh) == shown
    detector.use_preset("evaluate")
    assert (detector.nms_thresh, detector.score_thresh) != shown
    with pytest.raises(ValueRangeError, match="visualize"):
        detector.use_preset("nonsense")


def check_bad_input(detector, folder):
    img = make_photos(1)[0]
    for single in ("photo.png", pathlib.Path("photo.png"), b"bytes", Image.new("RGB", (4, 4))):
        with pytest.raises(DtypeError, match="several photos"):
            detector.predict(single)
    with pytest.raises(ShapeError, match="several photos"):
        detector.predict(img)
    with pytest.raises(DtypeError):
        detector.predict(5)
    for batch_size in (0, -1, 1.5, None, True):
        with pytest.raises(ValueRangeError, match="batch_size"):
            detector.predict([img], batch_size=batch_size)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        detector.predict([pathlib.Path(folder) / "nowhere.png"])
    broken = pathlib.Path(folder) / "broken.png"
    broken.write_bytes(as_file(img)[:100])
    with pytest.raises(ImageError, match="broken"):
        detector.predict([img, broken])
    for bad in (np.full((3, 8, 8), np.nan, np.float32), img.transpose(1, 2, 0), np.zeros((3, 0, 5)), object()):
        with pytest.raises(CvzooError):
            detector.predict([bad])
    before_the_bad_one = detector.predict_each([img, broken])
    assert next(before_the_bad_one).n_photo == 1
    with pytest.raises(ImageError):
        next(before_the_bad_one)


def check_odd_sizes(detector):
    rng = np.random.default_rng(3)
    for size in ((1, 1), (1, 400), (400, 1), (2, 3)):
        img = rng.integers(0, 256, (3, *size)).astype(np.float32)
        bboxes, _, _ = detector.predict([img])
        assert np.isfinite(bboxes[0]).all()


def check_pictures(detector, folder):
    photos = make_photos(2)
    result = detector.predict(photos)
    drawn = result.draw(1)
    assert (drawn.shape, drawn.dtype) == (photos[1].shape, np.float32)
    path = pathlib.Path(folder) / "out.png"
    result.save(0, path)
    np.testing.assert_array_equal(np.asarray(Image.open(path)).transpose(2, 0, 1), result.draw(0))
    assert result._repr_png_().startswith(b"\x89PNG")
    assert result._repr_html_().count("<table>") == 2
    assert len(result.to_records()) == sum(map(len, result.bboxes))
    assert "boxes" in repr(result)


CHECKS = (
    check_result_types,
    check_clip,
    check_empty_list,
    check_nothing_found,
    check_every_kind_of_iterable,
    check_grey_rgba_and_16_bit,
    check_exif_orientation,
    check_batch_invariance,
    check_predict_each,
    check_nothing_is_changed,
    check_determinism,
    check_results_are_not_shared,
    check_threads,
    check_presets,
    check_odd_sizes,
)
CHECKS_WITH_A_FOLDER = (check_every_kind_of_source, check_bad_input, check_pictures)

assert AbstractDetector.__abstractmethods__ == {"find"}  # what a new detector has to write
