"""Requirements on a detector."""

from typing import Any

import numpy as np

from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.testing.contract import Arrays, Contract, keep, require
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules, low_thresholds


def assert_is_detection_link(link: Any, n_fg_class: int) -> None:
    """Asserts that the link is a detector as evaluators expect; an AssertionError names the violated rule.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and gives `bboxes, labels, scores`,
        lists with one array per image: (R, 4) float32 `y_min, x_min, y_max, x_max` in pixels; (R,) int32; (R,) float32
    n_fg_class: number of classes without background

    Tested are images of several sizes, alone and in batches; copies and weights files of a `Link`; all kinds of sources
    of a subclass of `AbstractDetector`. Thresholds are lowered during the test so that boxes are detected.
    """
    contract = Contract(link, n_fg_class, boxes_per_image)
    with low_thresholds(link):
        keep(contract, (_result, _clip))
        keep_predict_rules(contract)


def boxes_per_image(result: Any) -> list[Arrays]:
    """bbox, label and score of each image."""
    require(isinstance(result, tuple) and len(result) == 3, "a result", "bboxes, labels, scores", type(result).__name__)
    lengths = [len(each) for each in result]
    require(len(set(lengths)) == 1, "bboxes, labels and scores", "one entry per image each", lengths)
    return [list(each) for each in zip(*result)]


def require_objects(label: np.ndarray, score: np.ndarray, n: int, n_fg_class: int, where: str) -> None:
    """Asserts that labels and scores are valid for n objects, by descending score."""
    for name, array, dtype in (("label", label, np.int32), ("score", score, np.float32)):
        require(isinstance(array, np.ndarray), f"{where}: {name}", "a NumPy array", type(array).__name__)
        require(
            array.shape == (n,) and array.dtype == dtype, f"{where}: {name}", f"({n},) {np.dtype(dtype)}", _of(array)
        )
    require(((label >= 0) & (label < n_fg_class)).all(), f"{where}: a label", f"0 .. {n_fg_class - 1}", label.tolist())
    require(np.isfinite(score).all(), f"{where}: a score is not finite")
    require((np.diff(score) <= 0).all(), f"{where}: scores", "descending order", score[:10].tolist())


def _result(contract: Contract) -> None:
    """predict returns boxes in pixels of each image, labels and scores, by descending score."""
    images = seeded_images()
    predictions = contract.predict(images)
    require(len(predictions) == len(images), "entries", len(images), len(predictions))
    for i, (img, (bbox, label, score)) in enumerate(zip(images, predictions)):
        where = f"image {i}"
        require(isinstance(bbox, np.ndarray), f"{where}: bbox", "a NumPy array", type(bbox).__name__)
        valid = bbox.ndim == 2 and bbox.shape[1] == 4 and bbox.dtype == np.float32
        require(valid, f"{where}: bbox", "(R, 4) float32", _of(bbox))
        require(np.isfinite(bbox).all(), f"{where}: a box is not finite")
        require((bbox[:, :2] < bbox[:, 2:]).all(), f"{where}: a box is empty", "y_min < y_max, x_min < x_max")
        inside = (bbox[:, :2] < img.shape[1:]).all() and (bbox[:, 2:] > 0).all()
        require(inside, f"{where}: a box is outside of the image", f"(H, W) = {img.shape[1:]}")
        require_objects(label, score, len(bbox), contract.n_class, where)
        if isinstance(contract.link, AbstractThresholds):
            require((score > contract.link.score_thresh).all(), f"{where}: a score", f"> {contract.link.score_thresh}")


def _clip(contract: Contract) -> None:
    """`clip` clips the same boxes to the image."""
    if not isinstance(contract.link, AbstractDetector):
        return
    images = seeded_images()[:3]
    free, before = contract.predict(images), contract.link.clip
    contract.link.clip = True
    try:
        cut = contract.predict(images)
    finally:
        contract.link.clip = before
    for img, (bbox, *_), (whole, *_) in zip(images, cut, free):
        require(np.array_equal(bbox, np.clip(whole, 0, np.array(img.shape[1:] * 2, np.float32))), "clipped boxes")


def _of(array: np.ndarray) -> str:
    return f"{array.shape} {array.dtype}"
