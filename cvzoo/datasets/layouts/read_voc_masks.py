"""Reads instance masks from VOC's label maps of objects, leniently."""

import dataclasses
import pathlib

import numpy as np

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.errors.exceptions import ImageError
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_label import read_label

FOLDER = "SegmentationObject"
_BACKGROUND, _IGNORED = 0, 255


def with_masks(image: AnnotatedImage, path: pathlib.Path, findings: list[Finding]) -> AnnotatedImage:
    """The image whose objects have their masks as run-length encoding.

    path: of the label map, whose pixels are the numbers of the objects in the XML, from 1; those of 255, on contours,
        are of no object
    A map that cannot be read, and a number that no object has, are findings.
    """
    try:
        numbers = read_label(path)
    except (ImageError, OSError) as error:
        words = str(error).splitlines()[0].removeprefix(f"{path}: ")
        findings.append(Finding(Fault.MASK_MALFORMED, f"{FOLDER}/{path.name}: {words}", image.name))
        return image
    objects = list(image.objects)
    for number in np.unique(numbers).tolist():
        if number in (_BACKGROUND, _IGNORED):
            continue
        if not 1 <= number <= len(objects):
            words = f"{FOLDER}/{path.name} has an object {number}, and the .xml file {len(objects)} objects"
            findings.append(Finding(Fault.MASK_MALFORMED, words, image.name))
            continue
        (rle,) = RLEs.from_masks((numbers == number)[None]).to_coco()
        objects[number - 1] = dataclasses.replace(objects[number - 1], rle=rle)
    return dataclasses.replace(image, objects=tuple(objects))
