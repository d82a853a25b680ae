"""Instance masks from two label maps, of objects and of classes."""

import numpy as np

from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import ClassMap, FilePath, Label, Mask

_BACKGROUND, _IGNORED = 0, 255


def masks_of(classes: ClassMap, objects: ClassMap, path: FilePath) -> tuple[Mask, Label]:
    """(mask (R, H, W) bool, label (R,) int32) of the objects, in the order of their ids.

    classes: (H, W), 0 background, 1 .. 20 classes, 255 ignored; objects: (H, W), 0 background, 255 ignored
    The class of an object is the most frequent of its pixels, since the maps disagree at single pixels.
    Raises DatasetError, naming the file, if the maps differ in size or an object has no class.
    """
    if classes.shape != objects.shape:
        raise DatasetError(
            f"{path}: the maps of objects and classes differ in size", expected=classes.shape, got=objects.shape
        )
    ids = np.unique(objects)
    ids = ids[(ids != _BACKGROUND) & (ids != _IGNORED)]
    mask = objects[None] == ids[:, None, None]
    label = np.empty(len(ids), np.int32)
    for r, each in enumerate(mask):
        counts = np.bincount(classes[each], minlength=256)
        counts[[_BACKGROUND, _IGNORED]] = 0
        if counts.max() == 0:
            raise DatasetError(f"{path}: object {ids[r]} has no class")
        label[r] = counts.argmax() - 1
    return mask, label
