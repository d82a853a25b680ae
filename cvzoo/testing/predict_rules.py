"""Rules of `predict` that apply to all tasks."""

import contextlib
import functools
import os
import pathlib
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image

from cvzoo.backends.arrays import to_numpy
from cvzoo.config.switches import switches, using_config
from cvzoo.errors.exceptions import BackendError, CvzooError, DtypeError, ImageError, ShapeError, ValueRangeError
from cvzoo.links.link import Link
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.serializers.load_weights import load_weights
from cvzoo.serializers.npz import save_npz
from cvzoo.testing.contract import Contract, keep, require, require_raises
from cvzoo.testing.images import ODD_SIZES, encoded, same_grey_sources, same_image_sources, seeded_images

# classes whose `predict` reads images and forms batches
_PREDICTORS = (
    *(AbstractClassifier, AbstractDetector, AbstractInstanceSegmenter),
    *(AbstractKeypointDetector, AbstractSegmenter),
)


def keep_predict_rules(contract: Contract) -> None:
    """Asserts that the link obeys the rules of `predict`.

    Any object is tested with arrays, a `Link` also by copies and weights files, and one that inherits `predict` from a
    base class of this library also with all kinds of sources and invalid arguments.
    """
    keep(contract, _OF_ANY)
    if isinstance(contract.link, Link):
        keep(contract, _OF_LINKS)
    if isinstance(contract.link, _PREDICTORS):
        keep(contract, _OF_PREDICTORS)


@contextlib.contextmanager
def low_thresholds(link: object) -> Iterator[None]:
    """A block with thresholds at which random weights detect some objects, but not everything; restored afterwards."""
    if not isinstance(link, AbstractThresholds):
        yield
        return
    before = link.score_thresh, link.nms_thresh, link.limit
    link.score_thresh, link.nms_thresh, link.limit = 0.002, 0.45, 50
    try:
        yield
    finally:
        link.score_thresh, link.nms_thresh, link.limit = before


# --- of any object with predict -------------------------------------------------------------------------------------
def _no_images(contract: Contract) -> None:
    """predict([]) returns a result of no images."""
    require(len(contract.predict([])) == 0, "predict([])", "no entries", len(contract.predict([])))


def _repeated(contract: Contract) -> None:
    """Repeated predictions of the same images are bitwise equal."""
    images = seeded_images()[:2]
    first, again = contract.predict(images), contract.predict(images)
    for i, (ours, theirs) in enumerate(zip(first, again, strict=True)):
        for a, b in zip(ours, theirs, strict=True):
            require(np.array_equal(a, b), f"image {i} has a different result the second time")


def _batches(contract: Contract) -> None:
    """The prediction of an image does not depend on the other images."""
    images = seeded_images()
    alone = [contract.predict([img])[0] for img in images]
    contract.assert_same(contract.predict(images), alone, "in one batch and one by one")
    contract.assert_same(contract.predict(images[::-1]), alone[::-1], "in the reverse order")


def _unchanged(contract: Contract) -> None:
    """predict changes no image."""
    images = seeded_images()[:2]
    copies = [img.copy() for img in images]
    contract.predict(images)
    for i, (img, copy) in enumerate(zip(images, copies)):
        require(np.array_equal(img, copy), f"image {i} was changed")


def _own_results(contract: Contract) -> None:
    """A result is not overwritten by the next one."""
    img = seeded_images()[0]
    first = contract.predict([img])[0]
    copies = [array.copy() for array in first]
    contract.predict([255 - img])
    require(all(map(np.array_equal, first, copies)), "the arrays of the first result changed")


def _odd_sizes(contract: Contract) -> None:
    """Predictions of tiny and narrow images are finite."""
    for size, arrays in zip(ODD_SIZES, contract.predict(seeded_images(ODD_SIZES))):
        require(all(np.isfinite(a).all() for a in arrays), f"an image of (H, W) = {size}", "finite values")


# --- of links -------------------------------------------------------------------------------------------------------
def _parameters_unchanged(contract: Contract) -> None:
    """predict changes no parameter, no switch of the configuration, and leaves no gradient."""
    link = contract.link
    gradients = [parameter.grad for parameter in link.params()]  # of a model that has been trained
    before = {name: np.array(link_array) for name, link_array in _host_state(link).items()}
    with using_config("train", True), using_config("enable_backprop", True):
        config = dict(switches.__dict__)
        contract.predict(seeded_images()[:2])
        require(dict(switches.__dict__) == config, "the configuration changed", config, dict(switches.__dict__))
    for name, array in _host_state(link).items():
        require(np.array_equal(array, before[name]), f"{name} changed")
    unchanged = [parameter.grad is grad for parameter, grad in zip(link.params(), gradients)]
    require(all(unchanged), "the gradient of a parameter was changed")


def _copies(contract: Contract) -> None:
    """A copy predicts the same, and changes of its parameters do not affect the original."""
    images = seeded_images()[:2]
    before = contract.predict(images)
    twin = contract.link.copy("copy")
    contract.assert_same(contract.predict(images, link=twin), before, "a copy and the original")
    for parameter in twin.params():
        parameter.array[...] = 0
    contract.assert_same(contract.predict(images), before, "before and after the copy's parameters were set to 0")


def _weights_in_files(contract: Contract) -> None:
    """Weights are saved as .npz without pickle, and loaded again."""
    images = seeded_images()[:2]
    before = contract.predict(images)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.npz")
        save_npz(path, contract.link)
        with np.load(path, allow_pickle=False) as arrays:
            require(all(arrays[name].dtype != object for name in arrays), "the file contains a pickle")
        twin = contract.link.copy("copy")
        for parameter in twin.params():
            parameter.array[...] = 0
        load_weights(path, twin)
        contract.assert_same(contract.predict(images, link=twin), before, "from the file and before")


def _devices(contract: Contract) -> None:
    """A device that does not exist raises an error, and changes nothing."""
    images = seeded_images()[:1]
    before = contract.predict(images)
    require_raises(BackendError, lambda: contract.link.to_device("gpu:99"), "a device that does not exist")
    contract.assert_same(contract.predict(images), before, "before and after")


# --- of links whose predict is this library's -----------------------------------------------------------------------
def _sources(contract: Contract) -> None:
    """Predictions of paths, files, bytes, PIL images and arrays of other types equal those of the float32 array."""
    img = seeded_images()[0]
    expected = contract.predict([img])
    for name, source in same_image_sources(img).items():
        contract.assert_same(contract.predict([source]), expected, name)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "image.png"
        path.write_bytes(encoded(img))
        for source in (path, str(path)):
            contract.assert_same(contract.predict([source]), expected, "a path")
    expected = contract.predict([np.repeat(img[:1], 3, axis=0)])
    for name, source in same_grey_sources(img).items():
        contract.assert_same(contract.predict([source]), expected, name)


def _iterables(contract: Contract) -> None:
    """Tuples, generators and (B, 3, H, W) arrays are accepted as lists of images."""
    images = seeded_images()[:3]
    expected = contract.predict(images)
    contract.assert_same(contract.predict(tuple(images)), expected, "a tuple")
    contract.assert_same(contract.predict(img for img in images), expected, "a generator")
    contract.assert_same(contract.predict(iter(())), [], "an empty iterator")
    same_size = np.stack([images[0], images[0][:, ::-1]])
    contract.assert_same(contract.predict(same_size), contract.predict(list(same_size)), "an array of images")


def _batch_sizes(contract: Contract) -> None:
    """Predictions do not depend on the batch size."""
    images = seeded_images()[:3]
    images.insert(1, images[0][:, ::-1].copy())  # images of one size share a batch
    expected = contract.predict(images)
    for batch_size in (2, 3):
        contract.assert_same(contract.predict(images, batch_size=batch_size), expected, f"batch_size={batch_size}")


def _refusals(contract: Contract) -> None:
    """Arguments that are no lists of images raise errors that name them."""
    img, predict = seeded_images()[0], contract.link.predict
    for single in ("image.png", pathlib.Path("image.png"), b"bytes", Image.new("RGB", (4, 4)), img):
        require_raises(
            (DtypeError, ShapeError),
            functools.partial(predict, single),
            f"a single {type(single).__name__}",
            "several",
        )
    require_raises((DtypeError, ShapeError), lambda: predict(5), "a number")
    for batch_size in (0, -1, 1.5, None, True):
        require_raises(
            ValueRangeError,
            functools.partial(predict, [img], batch_size=batch_size),
            f"batch_size={batch_size}",
            "batch_size",
        )
    for bad in (np.full((3, 8, 8), np.nan, np.float32), img.transpose(1, 2, 0), np.zeros((3, 0, 5)), object()):
        require_raises(CvzooError, functools.partial(predict, [bad]), f"{type(bad).__name__} that is no image")
    with tempfile.TemporaryDirectory() as folder:
        nowhere, broken = pathlib.Path(folder) / "nowhere.png", pathlib.Path(folder) / "broken.png"
        require_raises(FileNotFoundError, lambda: predict([nowhere]), "a missing file", "nowhere")
        broken.write_bytes(encoded(img)[:100])
        require_raises(ImageError, lambda: predict([img, broken]), "a damaged file", "broken")


def _one_by_one(contract: Contract) -> None:
    """predict_each yields the same results, image by image, without reading ahead."""
    if not hasattr(contract.link, "predict_each"):
        return
    images, read = seeded_images()[:3], []

    def source() -> Iterator[np.ndarray]:
        for img in images:
            read.append(img)
            yield img

    results = contract.link.predict_each(source(), **contract.options)
    predictions = [contract.per_image(next(results))[0]]
    require(len(read) == 1, "images are read ahead of the results", 1, len(read))
    config = dict(switches.__dict__)
    predictions += [contract.per_image(result)[0] for result in results]
    require(dict(switches.__dict__) == config, "a suspended generator leaks its configuration")
    contract.assert_same(predictions, contract.predict(images), "one by one and in one batch")


def _threads(contract: Contract) -> None:
    """Predictions in four concurrent threads equal those in one."""
    images, link = seeded_images()[:3], contract.link
    expected = contract.predict(images)
    results: dict[int, Any] = {}
    for parameter in link.params():
        parameter.touch()  # drops prepared weights, so that the threads prepare them concurrently

    backend, dtype = switches.backend, switches.dtype

    def work(number: int) -> None:
        try:
            with using_config("backend", backend), using_config("dtype", dtype):  # switches are a thread's own
                results[number] = contract.predict(images, batch_size=1 + number)
        except Exception as error:  # raised by the main thread, since a thread's errors do not fail a test
            results[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results.values():
        require(not isinstance(result, Exception), "a thread failed", got=result)
        contract.assert_same(result, expected, "in a thread and alone")


def _presets(contract: Contract) -> None:
    """Presets set the thresholds, `using_preset` restores them, and an unknown name raises an error."""
    link = contract.link
    if not isinstance(link, AbstractThresholds):
        return
    before = link.nms_thresh, link.score_thresh
    try:
        link.use_preset("visualize")
        shown = link.nms_thresh, link.score_thresh
        with link.using_preset("evaluate"):
            require(link.score_thresh < shown[1], "the threshold for evaluation is not lower", f"below {shown[1]}")
        require((link.nms_thresh, link.score_thresh) == shown, "using_preset did not restore the thresholds", shown)
        require_raises(ValueRangeError, lambda: link.use_preset("nonsense"), "an unknown preset", "preset")
    finally:
        link.nms_thresh, link.score_thresh = before


def _nothing_found(contract: Contract) -> None:
    """Without detections, arrays are empty and have the same number of axes."""
    link = contract.link
    if not isinstance(link, AbstractThresholds):
        return
    images = seeded_images()[:2]
    some, before = contract.predict(images), link.score_thresh
    link.score_thresh = 2.0
    try:
        none = contract.predict(images)
    finally:
        link.score_thresh = before
    for empty, full in zip(none, some):
        for a, b in zip(empty, full):
            require((len(a), a.ndim, a.dtype) == (0, b.ndim, b.dtype), "no detections", (0, b.ndim, b.dtype), a.shape)


def _pictures(contract: Contract) -> None:
    """A result can be drawn, saved as an image, and displayed in a notebook."""
    images = seeded_images()[:1]
    result = contract.link.predict(images)
    if not hasattr(result, "draw"):
        return
    drawn, (channels, height, width) = result.draw(0).shape, images[0].shape
    # lines of text are above the image, and may be wider than it
    fits = drawn[0] == channels and drawn[1] >= height and drawn[2] >= width
    require(fits, "draw(0)", f"at least {images[0].shape}", drawn)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "drawing.png")
        result.save(0, path)
        with Image.open(path) as drawing:
            require(drawing.size == drawn[:0:-1], "the saved image", drawn[:0:-1], drawing.size)
    require(bool(result._repr_html_()) and bool(repr(result)), "display in a notebook", "HTML and text")
    require(isinstance(result.to_records(), list), "to_records()", "a list")


def _host_state(link: Link) -> dict[str, np.ndarray]:
    return {name: to_numpy(array) for name, array in link.state_arrays().items()}


_OF_ANY = (_no_images, _unchanged, _repeated, _batches, _own_results, _odd_sizes)
_OF_LINKS = (_parameters_unchanged, _copies, _weights_in_files, _devices)
_OF_PREDICTORS = (
    *(_sources, _iterables, _batch_sizes, _refusals, _one_by_one, _threads, _presets, _nothing_found, _pictures),
)
