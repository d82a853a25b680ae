"""Writes instance masks as Pascal VOC does, as label maps of objects and of classes."""

import pathlib
from collections.abc import Mapping

import numpy as np
from PIL import Image

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs
from cvzoo.labels.class_colors import voc_color
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.typing.aliases import Array, Size

MAX_OBJECTS = 254  # of an image, and of classes; 255 means ignored
_PALETTE = [value for label in range(256) for value in voc_color(label)]


def has_mask(each: AnnotatedObject) -> bool:
    """Whether the object has a class, a box and a mask; the quadrilateral of a line of text is none."""
    is_whole = each.name is not None and each.bbox is not None
    return is_whole and (each.rle is not None or (bool(each.polygons) and "text" not in each.extra))


class VOCMasks:
    """Writes SegmentationObject, SegmentationClass and ImageSets/Segmentation of all images with masks.

    A pixel of SegmentationObject is the number of the object in the image's XML, from 1; one of SegmentationClass the
    number of its class in classes.txt, from 1, or VOC's own if all names are VOC's; 0 is background. Where masks
    overlap, the pixel is the smaller object's.
    annotated: the data set, whose classes and splits are known; folder: where they are written
    """

    def __init__(self, annotated: AnnotatedSet, folder: pathlib.Path):
        self._annotated, self._folder = annotated, folder
        self._stems: dict[str, list[str]] = {split: [] for split in annotated.splits or ("all",)}
        self._numbers: dict[str, int] | None = None  # of the classes, once there is a mask

    def add(self, image: AnnotatedImage, stem: str) -> None:
        """Writes the masks of an image, if it has any. stem: the name of its copy without the extension"""
        if image.size is None or not any(map(has_mask, image.objects)):
            return
        if self._numbers is None:
            self._numbers = self._begin()
        for part, pixels in zip(("SegmentationObject", "SegmentationClass"), _label_maps(image, self._numbers)):
            pil = Image.fromarray(pixels)
            pil.putpalette(_PALETTE)
            pil.save(self._folder / part / f"{stem}.png")
        for split, lines in self._stems.items():
            if split in image.splits or not self._annotated.splits:
                lines.append(f"{stem}\n")

    def close(self) -> None:
        """Writes the lists."""
        for split, lines in self._stems.items() if self._numbers is not None else ():
            path = self._folder / f"ImageSets/Segmentation/{split}.txt"
            path.write_text("".join(lines), encoding="utf-8")

    def _begin(self) -> dict[str, int]:
        for part in ("SegmentationObject", "SegmentationClass", "ImageSets/Segmentation"):
            (self._folder / part).mkdir(parents=True)
        classes = self._annotated.used_names()
        order = voc_bbox_label_names if set(classes) <= set(voc_bbox_label_names) else classes
        return {name: number for number, name in enumerate(order, 1) if number <= MAX_OBJECTS}


def _label_maps(image: AnnotatedImage, numbers: Mapping[str, int]) -> tuple[Array, Array]:
    """The numbers of objects and of classes, both (H, W) uint8. numbers: of the classes"""
    size = image.size or (0, 0)
    objects, classes = np.zeros((2, *size), np.uint8)
    written = [each for each in image.objects if each.name is not None and each.bbox is not None]
    maps = []
    for number, each in enumerate(written[:MAX_OBJECTS], 1):
        label = numbers.get(each.name or "")
        if has_mask(each) and label is not None:
            mask = _mask(each, size)
            maps.append((-int(mask.sum()), number, label, mask))
    for _, number, label, mask in sorted(maps, key=lambda row: row[:2]):  # the smallest last
        objects[mask], classes[mask] = number, label
    return objects, classes


def _mask(each: AnnotatedObject, size: Size) -> Array:
    """(H, W) bool; without a pixel if the mask is of an image of another size."""
    rle = polygons_to_rle([each.polygons], size) if each.rle is None else RLEs.from_coco([each.rle])
    mask = rle.to_masks()[0]
    return mask if mask.shape == size else np.zeros(size, bool)
