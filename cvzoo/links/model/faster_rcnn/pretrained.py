"""What a file of weights gives to a Faster R-CNN on VGG16."""

import os
from collections.abc import Mapping

import numpy as np

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.detector_source import DetectorSource
from cvzoo.links.model.faster_rcnn.weights import WEIGHTS
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.sniff import read_arrays


def read_pretrained(pretrained_model: str | os.PathLike) -> DetectorSource:
    """What a name or a path leads to: a detector of ChainerCV or of cvzoo, or a VGG16 of ChainerCV for the backbone.

    Raises ValueRangeError for an unknown name, WeightsMismatchError if the file holds neither, what reading raises.
    """
    path = os.fspath(pretrained_path(pretrained_model, WEIGHTS))
    arrays = read_arrays(path)
    if "conv1_1/conv/W" in arrays and "fc6/W" in arrays:
        return DetectorSource(path, _from_vgg16(arrays), only=("extractor/", "head/fc6/", "head/fc7/"))
    if "head/score/b" not in arrays or "extractor/conv1_1/conv/W" not in arrays:
        raise WeightsMismatchError(
            f"{path}: is no Faster R-CNN on VGG16, and no VGG16",
            expected="extractor/conv1_1/conv/W, head/score/b ...; or conv1_1/conv/W, fc6/W ...",
            got=", ".join(list(arrays)[:5]) or "no arrays",
        )
    n_fg_class = len(arrays["head/score/b"]) - 1
    header = read_model_header(path)
    names = voc_bbox_label_names if n_fg_class == len(voc_bbox_label_names) else None
    return DetectorSource(path, arrays, None, n_fg_class, names if header is None else header.label_names)


def _from_vgg16(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By our names; the last layer, which tells ImageNet's classes apart, has no place."""
    return {
        ("head/" if name.startswith("fc") else "extractor/") + name: array
        for name, array in arrays.items()
        if not name.startswith("fc8/")
    }
