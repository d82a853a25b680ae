"""What an instance segmentation network promises."""

from typing import Any

import numpy as np

from cvzoo.geometry.rle import RLEs
from cvzoo.testing.contract import Arrays, Contract, keep, require
from cvzoo.testing.detection_link import require_objects
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules, low_thresholds


def assert_is_instance_segmentation_link(link: Any, n_fg_class: int) -> None:
    """Raises AssertionError, which names the rule, unless the link finds masks as this library's evaluators want them.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and gives `masks, labels, scores`,
        lists with one entry per image: (R, H, W) bool or run-length masks (`RLEs`); (R,) int32; (R,) float32
    n_fg_class: number of classes without background

    A `Link` also copies and stores itself; one derived from `AbstractInstanceSegmenter` takes every kind of source.
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
    """predict gives masks of the size of each image, labels and scores, best first."""
    images = seeded_images()
    found = contract.predict(images)
    require(len(found) == len(images), "entries", len(images), len(found))
    for i, (img, (mask, label, score, *_)) in enumerate(zip(images, found)):
        require(isinstance(mask, np.ndarray), f"image {i}: mask", "a NumPy array or RLEs", type(mask).__name__)
        right = mask.ndim == 3 and mask.shape[1:] == img.shape[1:] and mask.dtype == bool
        require(right, f"image {i}: mask", f"(R, {img.shape[1]}, {img.shape[2]}) bool", f"{mask.shape} {mask.dtype}")
        require_objects(label, score, len(mask), contract.n_class, f"image {i}")
