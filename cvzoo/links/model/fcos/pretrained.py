"""What a file of weights gives to an FCOS, whoever wrote it."""

import dataclasses
import os

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.model.detector_source import DetectorSource, saved_source
from cvzoo.links.model.fcos.config import FCOSSettings
from cvzoo.links.model.fcos.torchvision_names import from_torchvision, is_torchvision_fcos
from cvzoo.links.model.fcos.weights import WEIGHTS
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.links.model.resnet.names import depth_of, is_torchvision_resnet
from cvzoo.links.model.resnet.names import from_torchvision as resnet_from_torchvision
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import read_arrays


def read_pretrained(
    pretrained_model: str | os.PathLike, *, n_fg_class: int | None, settings: FCOSSettings | None
) -> DetectorSource:
    """What a name or a path leads to.

    pretrained_model: "coco" (the whole detector), "imagenet", "imagenet_v2" (the backbone), or the path of a file of
        torchvision (FCOS or ResNet) or cvzoo, recognised by its names
    n_fg_class, settings: of the model to be, as far as they are given
    Raises ValueRangeError for an unknown name, and what reading the file raises.
    """
    base = FCOSSettings() if settings is None else settings
    path = pretrained_path(pretrained_model, {**WEIGHTS, **_backbones(base.n_layer)})
    arrays = read_arrays(path)
    saved = saved_source(path, arrays, "FCOS", FCOSSettings)
    if saved is not None:
        return saved
    is_torchvision = is_torchvision_fcos(arrays)
    if is_torchvision:
        arrays = from_torchvision(arrays, n_fg_class=n_fg_class)
    elif is_torchvision_resnet(arrays):
        arrays = resnet_from_torchvision(arrays)
    if "head/conf/b" in arrays:
        n = len(arrays["head/conf/b"])
        names = torchvision_label_names(n) if is_torchvision or n == len(coco_bbox_label_names) else None
        built = dataclasses.replace(base, n_layer=depth_of(arrays))
        return DetectorSource(os.fspath(path), arrays, built, n, names)
    if "extractor/conv1/conv/W" in arrays:
        # statistics of ImageNet are better than those of the few photos that fit into a detector's batch
        width = len(arrays["extractor/conv1/conv/W"])
        built = dataclasses.replace(base, n_layer=depth_of(arrays), norm="frozen", base_channels=width)
        arrays = {name: array for name, array in arrays.items() if not name.startswith("fc/")}
        return DetectorSource(os.fspath(path), arrays, built, only=("extractor/",))
    return DetectorSource(os.fspath(path), arrays)


def _backbones(n_layer: int) -> dict[str, Weights]:
    # a classifier's table may hold more of each file than the record
    return {
        key: each if isinstance(each, Weights) else each.record for key, each in RESNET_WEIGHTS.get(n_layer, {}).items()
    }
