"""What a file of weights gives to an SSD, whoever wrote it."""

import os
from collections.abc import Mapping

import numpy as np

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.detector_source import DetectorSource, saved_source
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.links.model.ssd.config import SSD300_SETTINGS, SSD300_TORCHVISION, SSD512_SETTINGS, SSDSettings
from cvzoo.links.model.ssd.gluon_names import from_gluon, gluon_settings, is_gluon_ssd
from cvzoo.links.model.ssd.torchvision_names import from_torchvision, is_torchvision_ssd
from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import read_arrays

_VGG16 = ("1_", "2_", "3_", "4_", "5_", "6/", "7/")  # what a classifier has of the extractor
_NAMES = {len(names): names for names in (voc_bbox_label_names, coco_bbox_label_names)}


def read_pretrained(
    pretrained_model: str | os.PathLike, records: Mapping[str, Weights], *, n_fg_class: int | None
) -> DetectorSource:
    """What a name or a path leads to.

    pretrained_model: a name in `records`, or the path of a file of ChainerCV (SSD, or its VGG16 alone), torchvision,
        gluon-cv or cvzoo, recognised by its names
    n_fg_class: of the model to be, or None
    Raises ValueRangeError for an unknown name, and what reading the file raises.
    """
    path = pretrained_path(pretrained_model, records)
    arrays = read_arrays(path)
    saved = saved_source(path, arrays, "SSD", SSDSettings)
    if saved is not None:
        return saved
    if is_torchvision_ssd(arrays):
        named = from_torchvision(arrays, n_fg_class=n_fg_class)
        n = _n_fg_class(named)
        names = _NAMES.get(n) or torchvision_label_names(n)
        return DetectorSource(os.fspath(path), named, SSD300_TORCHVISION, n, names)
    if is_gluon_ssd(arrays):
        named = from_gluon(arrays)
        n = _n_fg_class(named)
        return DetectorSource(os.fspath(path), named, gluon_settings(arrays), n, _NAMES.get(n))
    if "conv1_1/W" in arrays:
        named = {f"extractor/{name}": array for name, array in arrays.items()}
        return DetectorSource(os.fspath(path), named, only=tuple(f"extractor/conv{i}" for i in _VGG16))
    if "extractor/conv1_1/W" in arrays and "multibox/loc/0/W" in arrays:
        settings = SSD512_SETTINGS if "multibox/loc/6/W" in arrays else SSD300_SETTINGS
        n = _n_fg_class(arrays)
        return DetectorSource(os.fspath(path), arrays, settings, n, _NAMES.get(n))
    return DetectorSource(os.fspath(path), arrays)


def _n_fg_class(named: Mapping[str, np.ndarray]) -> int:
    return 4 * len(named["multibox/conf/0/b"]) // len(named["multibox/loc/0/b"]) - 1
