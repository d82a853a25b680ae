"""Data augmentation and preprocessing of training examples for Faster R-CNN."""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.links.model.check_objects import ignored_of
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.transforms.flip import flip, flip_bbox
from cvzoo.transforms.resize_bbox import resize_bbox

Item = TypeVar("Item")


def scaled_preparations(usual: ResizeShortestEdge, scales: Sequence[float]) -> list[ResizeShortestEdge]:
    """The preprocessing with other short sides. scales: these, as fractions of the usual one"""
    return [dataclasses.replace(usual, min_size=max(round(scale * usual.min_size), 1)) for scale in scales]


def drawn(items: Sequence[Item]) -> Item:
    """One of them by this thread's generator, which is not used for a single one."""
    return items[0] if len(items) == 1 else items[int(random_generator().integers(len(items)))]


class FasterRCNNTransform:
    """`transform((img, bbox, label))` is (img, bbox, label, scale, size), which `collate_images` gathers.

    The example: img (3, H, W) RGB [0, 255]; bbox (R, 4) float32; label (R,) int32; a fourth value, if there is one, is
    (R,) bool, True for instances to be dropped, such as difficult or crowded ones.
    model: its preprocessing, sizes and mean are used
    x_flip: flip images horizontally with probability 1/2, drawn from this thread's generator
    scales: short sides as fractions of the model's `min_size`, one of which is drawn for each image
    """

    def __init__(self, model: AbstractFasterRCNN, *, x_flip: bool = True, scales: Sequence[float] = (1.0,)):
        self.preparations = scaled_preparations(model.preparation, scales)
        self.x_flip = x_flip

    def __call__(self, example: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, tuple[int, int]]:
        img, bbox, label, *flags = example
        if flags:
            ignored = ignored_of(flags, len(bbox), transform="FasterRCNNTransform", values=("img", "bbox", "label"))
            bbox, label = bbox[~ignored], label[~ignored]
        before = img.shape[1:]
        img = drawn(self.preparations)(np.asarray(img, np.float32))
        after = img.shape[1:]
        bbox = resize_bbox(bbox, before, after)
        if self.x_flip and random_generator().random() < 0.5:
            img, bbox = flip(img, x_flip=True), flip_bbox(bbox, after, x_flip=True)
        scale = after[1] / before[1]
        return img, bbox.astype(np.float32), np.asarray(label, np.int32), scale, after
