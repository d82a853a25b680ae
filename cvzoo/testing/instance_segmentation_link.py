"""Requirements on an instance segmentation network."""

from typing import Any

import numpy as np

from cvzoo.geometry.rle import RLEs
from cvzoo.testing.contract import Arrays, Contract, keep, require
from cvzoo.testing.detection_link import require_objects
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules, low_thresholds


def assert_is_instance_segmentation_link(link: Any, n_fg_class: int) -> None:
    """Asserts that the link segments instances as evaluators expect; an AssertionError names the violated rule.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and returns `masks, labels, scores`,
        lists with one entry per image: (R, H, W) bool or run-length masks (`RLEs`); (R,) int32; (R,) float32
    n_fg_class: number of classes without background

    Tested are also copies and weights files of a `Link`; all kinds of sources of an `AbstractInstanceSegmenter`.
    """
    contract = Contract(link, n_fg_class, masks_per_image)
    with low_thresholds(link):
        keep(contract, (_result,))
        keep_predict_rules(contract)


def masks_per_image(result: Any) -> list[Arrays]:
    """Dense masks, labels and scores of each image, and boxes where the result has some."""
    masks, labels, scores = result
    lengths = [len(masks), len(labels), len(scores)]
    require(len(set(lengths)) == 1, "masks, labels and scores", "one entry per image each", lengths)
    dense = [each.to_masks() if isinstance(each, RLEs) else each for each in masks]
    boxes = [[bbox] for bbox in result.bboxes] if hasattr(result, "bboxes") else [[]] * len(dense)
    return [[mask, label, score, *more] for mask, label, score, more in zip(dense, labels, scores, boxes)]


def _result(contract: Contract) -> None:
    """predict returns masks of the size of each image, labels and scores, by descending score."""
    images = seeded_images()
    predictions = contract.predict(images)
    require(len(predictions) == len(images), "entries", len(images), len(predictions))
    for i, (img, (mask, label, score, *_)) in enumerate(zip(images, predictions)):
        require(isinstance(mask, np.ndarray), f"image {i}: mask", "a NumPy array or RLEs", type(mask).__name__)
        right = mask.ndim == 3 and mask.shape[1:] == img.shape[1:] and mask.dtype == bool
        require(right, f"image {i}: mask", f"(R, {img.shape[1]}, {img.shape[2]}) bool", f"{mask.shape} {mask.dtype}")
        require_objects(label, score, len(mask), contract.n_class, f"image {i}")
