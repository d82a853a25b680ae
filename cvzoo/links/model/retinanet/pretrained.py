"""What a file of weights gives to a RetinaNet, whoever wrote it."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import stored_detector
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.pretrained.names import counted_batches
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.links.model.resnet.names import depth_of, is_torchvision_resnet
from cvzoo.links.model.resnet.names import from_torchvision as resnet_from_torchvision
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.links.model.retinanet.config import RetinaNetSettings, with_n_anchor
from cvzoo.links.model.retinanet.torchvision_names import (
    from_torchvision,
    is_torchvision_retinanet,
)
from cvzoo.links.model.retinanet.weights import RESNET50_FPN, RESNET50_FPN_V2, WEIGHTS
from cvzoo.links.model.take_whole import take_backbone, take_whole, telling_what_is_lacking
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import read_arrays


class Pretrained(NamedTuple):
    """What is in a file.

    path: of it
    arrays: by our names
    settings: how the network in it is built, None if it does not say
    n_fg_class: its classes, None if it is no detector
    label_names: their names, or None
    presets, limit: its thresholds; None if it does not say
    is_sure: the settings are written in the file; else its names tell them, as far as they can
    """

    path: str
    arrays: Mapping[str, np.ndarray]
    settings: RetinaNetSettings | None
    n_fg_class: int | None
    label_names: tuple[str, ...] | None
    presets: Mapping[str, Preset] | None = None
    limit: int | None = None
    is_sure: bool = False


def read_pretrained(
    pretrained_model: str | os.PathLike,
    *,
    n_fg_class: int | None,
    settings: RetinaNetSettings | None,
    default: RetinaNetSettings | None = None,
) -> Pretrained:
    """What a name or a path leads to.

    pretrained_model: "coco", "coco_v2" (all of the detector), "imagenet", "imagenet_v2" (the backbone), or the path of
        a file of torchvision (RetinaNet or ResNet) or of cvzoo
    n_fg_class, settings: of the model to be, as far as they are given
    default: what is built on a backbone; None: `RetinaNetSettings()` with normalizations that stay
    Raises ValueRangeError for an unknown name, WeightsMismatchError if the file lacks what tells how it is built, and
    what reading the file raises.
    """
    chosen = default if settings is None else settings
    backbones = RESNET_WEIGHTS.get(50 if chosen is None else chosen.n_layer, {})
    records = {name: record for name, (record, _) in WEIGHTS.items()} | backbones
    path = pretrained_path(pretrained_model, records)
    header = read_model_header(path)
    arrays = read_arrays(path)
    if header is not None and header.architecture == "RetinaNet":
        return _from_header(os.fspath(path), arrays, header.settings, header.label_names)
    if is_torchvision_retinanet(arrays):
        with telling_what_is_lacking(path):
            return _from_torchvision(os.fspath(path), arrays, n_fg_class)
    if is_torchvision_resnet(arrays):
        arrays = resnet_from_torchvision(arrays)
    if "extractor/conv1/conv/W" in arrays and "fpn/inner/0/W" not in arrays:
        # statistics of ImageNet are better than those of the few photos that fit into a detector's batch
        base = RetinaNetSettings(norm="frozen") if default is None else default
        # an eps of 0 is that of some whole detectors alone
        settings_of = dataclasses.replace(
            base, n_layer=depth_of(arrays), base_channels=_width(arrays), bn_eps=base.bn_eps or 1e-5
        )
        return Pretrained(os.fspath(path), arrays, settings_of, None, None)
    if "conf_head/out/b" in arrays and "loc_head/out/b" in arrays:
        return Pretrained(os.fspath(path), arrays, None, *_classes(arrays))
    return Pretrained(os.fspath(path), arrays, None, None, None)


def _from_header(path: str, arrays: Mapping, settings: Mapping, label_names: tuple[str, ...] | None) -> Pretrained:
    try:
        stored = stored_detector(settings, RetinaNetSettings)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"{path}: its settings make no RetinaNet: {str(error)[:200]}") from error
    n = stored.n_fg_class
    return Pretrained(path, arrays, stored.config, n, label_names, stored.presets, stored.limit, is_sure=True)


def _from_torchvision(path: str, arrays: Mapping[str, np.ndarray], n_fg_class: int | None) -> Pretrained:
    is_v2 = "head.classification_head.conv.0.1.weight" in arrays
    built = RESNET50_FPN_V2 if is_v2 else RESNET50_FPN
    if counted_batches(arrays, "backbone.body."):
        built = dataclasses.replace(built, norm="batch", bn_eps=1e-5)
    n_anchor = arrays["head.regression_head.bbox_reg.bias"].size // 4
    named = from_torchvision(arrays, n_anchor=n_anchor, n_fg_class=n_fg_class)
    built = dataclasses.replace(built, n_layer=depth_of(named))
    n, _ = _classes(named)
    return Pretrained(path, named, built, n, torchvision_label_names(n))


def _classes(named: Mapping[str, np.ndarray]) -> tuple[int, tuple[str, ...] | None]:
    """The number of classes, and their names where the number tells that they are COCO's."""
    n = 4 * named["conf_head/out/b"].size // max(named["loc_head/out/b"].size, 1)
    return n, coco_bbox_label_names if n == len(coco_bbox_label_names) else None


def _width(arrays: Mapping[str, np.ndarray]) -> int:
    return len(arrays["extractor/conv1/conv/W"])


def take_values(
    model: Chain,
    pretrained: Pretrained,
    *,
    asked: RetinaNetSettings | None,
    make: Callable[[int, RetinaNetSettings | None], Chain],
) -> LoadReport:
    """What did not fit, after the file's numbers were taken over; of a backbone's file nothing but a backbone.

    asked: settings that the caller gave; make: from classes and settings, a model
    Raises WeightsMismatchError as `take_whole` does, where the file is not what it should be: the network of its own
    settings, or, unless it states them, of those that were asked for, with the file's classes and number of anchors.
    """
    arrays, path, n = pretrained.arrays, pretrained.path, pretrained.n_fg_class
    if "extractor/conv1/conv/W" in arrays and "fpn/inner/0/W" not in arrays:
        return take_backbone(model, arrays, path=path, backbone="extractor/", beside=("fc/",))
    if n is None:
        return take_whole(model, arrays, path=path)
    owns = []
    if pretrained.settings is not None:
        owns.append(lambda: make(n, pretrained.settings))
    elif asked is None:
        owns.append(lambda: make(n, None))
    if asked is not None and not pretrained.is_sure:
        n_anchor = max(np.size(arrays["loc_head/out/b"]) // 4, 1)
        owns.append(lambda: make(n, with_n_anchor(asked, n_anchor)))
    return take_whole(model, arrays, path=path, owns=owns)
