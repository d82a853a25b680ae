"""Requirements on a keypoint detector."""

from typing import Any

import numpy as np

from cvzoo.testing.contract import Arrays, Contract, Rule, keep, require
from cvzoo.testing.detection_link import require_objects
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules, low_thresholds


def assert_is_point_link(link: Any, n_fg_class: int, n_point: int | None = None) -> None:
    """Asserts that the link detects keypoints as evaluators expect; an AssertionError names the violated rule.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and gives `points, labels, scores`,
        lists with one array per image: (R, K, 2) float32 `y, x` in pixels; (R,) int32; (R,) float32
    n_fg_class: number of classes without background; n_point: K; None: any

    Tested are also copies and weights files of a `Link`; all kinds of sources of an `AbstractKeypointDetector`.
    """
    contract = Contract(link, n_fg_class, points_per_image)
    with low_thresholds(link):
        keep(contract, (_result_of(n_point),))
        keep_predict_rules(contract)


def points_per_image(result: Any) -> list[Arrays]:
    """Points, labels and scores of each image, and boxes where the result has some."""
    points, labels, scores = result
    lengths = [len(points), len(labels), len(scores)]
    require(len(set(lengths)) == 1, "points, labels and scores", "one entry per image each", lengths)
    boxes = [[bbox] for bbox in result.bboxes] if hasattr(result, "bboxes") else [[]] * len(points)
    return [[point, label, score, *more] for point, label, score, more in zip(points, labels, scores, boxes)]


def _result_of(n_point: int | None) -> Rule:
    def result(contract: Contract) -> None:
        """predict returns points in pixels of each image, labels and scores, by descending score."""
        images = seeded_images()
        predictions = contract.predict(images)
        require(len(predictions) == len(images), "entries", len(images), len(predictions))
        for i, (point, label, score, *_) in enumerate(predictions):
            require(isinstance(point, np.ndarray), f"image {i}: point", "a NumPy array", type(point).__name__)
            right = point.ndim == 3 and point.shape[2] == 2 and n_point in (None, point.shape[1])
            wanted = f"(R, {n_point or 'K'}, 2) float32"
            require(right and point.dtype == np.float32, f"image {i}: point", wanted, f"{point.shape} {point.dtype}")
            require(np.isfinite(point).all(), f"image {i}: a point is not finite")
            require_objects(label, score, len(point), contract.n_class, f"image {i}")

    return result
