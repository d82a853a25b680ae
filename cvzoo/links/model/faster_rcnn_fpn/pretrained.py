"""What a file of weights gives to a two-stage detector, whoever wrote it."""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import stored_detector
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.faster_rcnn_fpn.chainercv_names import (
    chainercv_settings,
    from_chainercv,
    is_chainercv_region_network,
)
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings, with_n_anchor
from cvzoo.links.model.faster_rcnn_fpn.detectron2_names import from_detectron2, is_detectron2_region_network
from cvzoo.links.model.faster_rcnn_fpn.detectron2_weights import detectron2_settings
from cvzoo.links.model.faster_rcnn_fpn.torchvision_names import (
    from_torchvision,
    is_mobilenet,
    is_torchvision_region_network,
)
from cvzoo.links.model.faster_rcnn_fpn.weights import MOBILENET_V3_LARGE_FPN, RESNET50_FPN, RESNET50_FPN_V2
from cvzoo.links.model.mobilenet_v3.names import mobilenet_v3_names
from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS as MOBILENET_WEIGHTS
from cvzoo.links.model.pretrained.names import counted_batches
from cvzoo.links.model.pretrained.path import pretrained_path
from cvzoo.links.model.resnet.names import depth_of, is_torchvision_resnet
from cvzoo.links.model.resnet.names import from_torchvision as resnet_from_torchvision
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.links.model.take_whole import take_backbone, take_whole, telling_what_is_lacking
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.record import Weights
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import read_arrays

_BACKBONE = "regions/extractor/"
_CLASSIFIER = ("regions/fc/", "regions/fc6/", "regions/fc7/")


@dataclasses.dataclass
class RegionSource:
    """What a detector is built with, and what fills it.

    settings, n_fg_class, label_names: of the model
    file_settings, file_n_fg_class: of the file, None or 0 if it does not tell
    is_sure: the file states its settings; else its names tell them, as far as they can
    is_asked: the caller gave the settings
    arrays: by our names; None: there is no file
    path: of the file
    presets, limit: thresholds that the file has
    extra: what the file says of heads beyond boxes, as JSON has it
    is_detectron2: detectron2 wrote the file
    """

    settings: FasterRCNNFPNSettings
    n_fg_class: int
    label_names: tuple[str, ...] | None
    file_settings: FasterRCNNFPNSettings | None = None
    file_n_fg_class: int = 0
    is_sure: bool = False
    is_asked: bool = False
    arrays: Mapping[str, np.ndarray] | None = None
    path: str = ""
    presets: Mapping[str, Preset] | None = None
    limit: int | None = None
    extra: Mapping[str, Any] | None = None
    is_detectron2: bool = False

    def take(
        self, model: Chain, make: Callable[[int, FasterRCNNFPNSettings, Mapping[str, np.ndarray]], Chain]
    ) -> LoadReport | None:
        """What did not fit, after the file's numbers were taken over, see `take_whole`; None without a file.

        make: from classes, settings and a file's arrays, the model that would have just these arrays
        Raises WeightsMismatchError where the file is not what it should be: the network of its own settings, or,
        unless it states them, of those that were asked for, with the file's classes and number of anchors. A
        backbone's file fills the backbone, all of it.
        """
        if self.arrays is None:
            return None
        arrays = self.arrays
        if not any(name.startswith("regions/rpn/") for name in arrays):
            arrays = {name: array for name, array in arrays.items() if not name.startswith(_CLASSIFIER)}
            return take_backbone(model, arrays, path=self.path, backbone=_BACKBONE, beside=())
        owns, n = [], self.file_n_fg_class
        if n and self.file_settings is not None:
            owns.append(lambda: make(n, self.file_settings, arrays))
        if n and not self.is_sure and "regions/rpn/conf/b" in arrays:
            n_anchor = max(len(arrays["regions/rpn/conf/b"]), 1)
            asked = with_n_anchor(self.settings, n_anchor) if self.is_asked else self.settings
            owns.append(lambda: make(n, asked, arrays))
        return take_whole(model, arrays, path=self.path, owns=owns)


def region_source(
    pretrained_model: str | os.PathLike | None,
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNSettings]],
    *,
    architecture: str,
    n_fg_class: int | None,
    label_names: Sequence[str] | None,
    settings: FasterRCNNFPNSettings | None,
) -> RegionSource:
    """All that a constructor's arguments lead to; nothing is built yet.

    weights: name -> (record, settings)
    architecture: what files that cvzoo saved call such a model
    Raises ValueRangeError for an unknown name, no file, or names that are not as many as the classes.
    """
    n_fg_class = len(label_names) if n_fg_class is None and label_names is not None else n_fg_class
    found = RegionSource(FasterRCNNFPNSettings(), 0, None)
    if pretrained_model is not None:
        found = _read(pretrained_model, weights, architecture, n_fg_class, settings)
        found.file_settings, found.file_n_fg_class = found.settings, found.n_fg_class
        found.is_asked = settings is not None
    found.settings = found.settings if settings is None else settings
    if label_names is None and n_fg_class in (None, found.n_fg_class):
        label_names = found.label_names
    n_fg_class = found.n_fg_class if n_fg_class is None else n_fg_class
    if isinstance(n_fg_class, bool) or not isinstance(n_fg_class, int) or n_fg_class < 1:
        raise ValueRangeError(
            f"{architecture}: n_fg_class must be a positive integer", got=repr(n_fg_class if n_fg_class else None)
        )
    if label_names is not None and len(label_names) != n_fg_class:
        raise ValueRangeError("label_names must be one a class", expected=n_fg_class, got=len(label_names))
    found.n_fg_class = n_fg_class
    found.label_names = None if label_names is None else tuple(label_names)
    return found


def _read(
    pretrained_model: str | os.PathLike,
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNSettings]],
    architecture: str,
    n_fg_class: int | None,
    settings: FasterRCNNFPNSettings | None,
) -> RegionSource:
    records = {name: record for name, (record, _) in weights.items()}
    if settings is not None and settings.backbone == "mobilenet_v3_large":
        records |= {name: each.record for name, each in MOBILENET_WEIGHTS["large"].items() if "timm" not in name}
    else:
        records |= RESNET_WEIGHTS.get(50 if settings is None else settings.n_layer, {})
    path = pretrained_path(pretrained_model, records)
    published = weights[pretrained_model] if isinstance(pretrained_model, str) and pretrained_model in weights else None
    header, arrays = read_model_header(path), read_arrays(path)
    if header is not None and header.architecture == architecture:
        return _from_header(os.fspath(path), arrays, header.settings, header.label_names)
    with telling_what_is_lacking(path):
        if is_torchvision_region_network(arrays):
            return _from_torchvision(os.fspath(path), arrays, n_fg_class, published)
        if is_detectron2_region_network(arrays):
            return _from_detectron2(os.fspath(path), arrays)
        if is_chainercv_region_network(arrays):
            named = from_chainercv(arrays)
            built = chainercv_settings(depth_of(_backbone(named)))
            return RegionSource(built, *_classes(named), arrays=named, path=os.fspath(path))
    if "features.16.0.weight" in arrays and "features.15.block.0.0.weight" in arrays:
        built = MOBILENET_V3_LARGE_FPN if settings is None else settings
        arrays = mobilenet_v3_names(network_plan("large", width=built.width))["torchvision"](arrays)
        return RegionSource(built, 0, None, arrays=_with_prefix(arrays), path=os.fspath(path))
    if is_torchvision_resnet(arrays):
        arrays = resnet_from_torchvision(arrays)
    if "extractor/conv1/conv/W" in arrays and "fpn/inner/0/W" not in arrays:
        # statistics of ImageNet are better than those of the few photos that fit into a detector's batch
        width = len(arrays["extractor/conv1/conv/W"])
        built = FasterRCNNFPNSettings(n_layer=depth_of(arrays), norm="frozen", base_channels=width)
        return RegionSource(built, 0, None, arrays=_with_prefix(arrays), path=os.fspath(path))
    built = FasterRCNNFPNSettings() if settings is None else settings
    known = _classes(arrays) if "regions/box_head/conf/b" in arrays else (n_fg_class or 0, None)
    return RegionSource(built, *known, arrays=arrays, path=os.fspath(path))


def _from_header(path: str, arrays: Mapping, settings: Mapping, label_names: tuple[str, ...] | None) -> RegionSource:
    try:
        stored = stored_detector(settings, FasterRCNNFPNSettings)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"{path}: its settings make no such detector: {str(error)[:200]}") from error
    return RegionSource(
        stored.config,
        stored.n_fg_class,
        label_names,
        arrays=arrays,
        path=path,
        presets=stored.presets,
        limit=stored.limit,
        extra=settings,
        is_sure=True,
    )


def _from_torchvision(
    path: str,
    arrays: Mapping[str, np.ndarray],
    n_fg_class: int | None,
    published: tuple[Weights, FasterRCNNFPNSettings] | None,
) -> RegionSource:
    named = from_torchvision(arrays, n_fg_class=n_fg_class)
    built = torchvision_settings(arrays, named) if published is None else published[1]
    n, names = _classes(named)
    return RegionSource(built, n, names or torchvision_label_names(n), arrays=named, path=path)


def torchvision_settings(arrays: Mapping[str, np.ndarray], named: Mapping[str, np.ndarray]) -> FasterRCNNFPNSettings:
    """How torchvision builds the detector of a file, its arrays by torchvision's names and by ours."""
    if is_mobilenet(arrays):
        built = MOBILENET_V3_LARGE_FPN
    else:
        is_v2 = "regions/fpn/inner/0/bn/gamma" in named
        built = dataclasses.replace(RESNET50_FPN_V2 if is_v2 else RESNET50_FPN, n_layer=depth_of(_backbone(named)))
    if counted_batches(arrays, "backbone.body."):
        built = dataclasses.replace(built, norm="batch", bn_eps=1e-5)
    return built


def _from_detectron2(path: str, arrays: Mapping[str, np.ndarray]) -> RegionSource:
    named = from_detectron2(arrays)
    depth = depth_of(_backbone(named))
    second = named["regions/extractor/res2/0/conv2/conv/W"].shape
    built = detectron2_settings(depth, groups=second[0] // second[1])
    return RegionSource(built, *_classes(named), arrays=named, path=path, is_detectron2=True)


def _with_prefix(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"regions/{name}": array for name, array in arrays.items()}


def _backbone(named: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix("regions/"): array for name, array in named.items()}


def _classes(named: Mapping[str, np.ndarray]) -> tuple[int, tuple[str, ...] | None]:
    """The number of classes, and their names where the number tells that they are COCO's."""
    n = len(named["regions/box_head/conf/b"]) - 1
    if n == 1 and "point_head/out/W" in named:
        return n, ("person",)
    return n, coco_bbox_label_names if n == len(coco_bbox_label_names) else None
