"""Masks from two label maps: the objects' numbers, and the classes."""

import numpy as np

from cvzoo.errors.exceptions import DatasetError

_BACKGROUND, _IGNORED = 0, 255


def masks_of(classes, objects, path):
    """(mask (R, H, W) bool, label (R,) int32), an object each, in the order of their numbers.

    classes: (H, W), 0 background, 1 .. 20 classes, 255 ignored; objects: (H, W), 0 background, 255 ignored
    An object's class is the one that most of its pixels have, of those with a class: files disagree at single pixels.
    Raises DatasetError, naming the file, if the maps differ in size or an object has no class.
    """
    if classes.shape != objects.shape:
        raise DatasetError(f"{path}: not of the size of its map of classes", expected=classes.shape, got=objects.shape)
    numbers = np.unique(objects)
    numbers = numbers[(numbers != _BACKGROUND) & (numbers != _IGNORED)]
    mask = objects[None] == numbers[:, None, None]
    label = np.empty(len(numbers), np.int32)
    for r, each in enumerate(mask):
        counts = np.bincount(classes[each], minlength=256)
        counts[[_BACKGROUND, _IGNORED]] = 0
        if counts.max() == 0:
            raise DatasetError(f"{path}: object {numbers[r]} has no class")
        label[r] = counts.argmax() - 1
    return mask, label
