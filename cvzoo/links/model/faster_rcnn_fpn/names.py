"""torchvision's, detectron2's and ChainerCV's names in a two-stage detector on a pyramid, and cvzoo's."""

import dataclasses
import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, with_n_anchor
from cvzoo.links.model.faster_rcnn_fpn.weights import (
    MOBILENET_V3_LARGE_FPN,
    RESNET50_FPN,
    RESNET50_FPN_V2,
    chainercv_config,
    detectron2_config,
)
from cvzoo.links.model.mobilenet_v3.extractor import network_plan
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS as MOBILENET_WEIGHTS
from cvzoo.links.model.mobilenet_v3.weights import extractor_places
from cvzoo.links.model.pretrained.detector import DetectorFiles, DetectorSource, detector_source, networks_of_file
from cvzoo.links.model.pretrained.names import Arrays, Names, counted_batches, foreground_rows, place_of, yx_rows
from cvzoo.links.model.resnet.weights import CHAINERCV_RULES, backbone_names, depth_of, resnet_place, without_first_bias
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.weights.record import Weights

_REGIONS = "regions/"
_ROI_SIZE = 7  # cells of a region along a side
# of torchvision's modules
_TORCHVISION = (
    (r"fpn\.inner_blocks\.(\d+)\.0", r"regions/fpn/inner/\1"),
    (r"fpn\.layer_blocks\.(\d+)\.0", r"regions/fpn/outer/\1"),
    (r"rpn\.head\.conv\.(\d+)\.0", r"regions/rpn/convs/\1/conv"),
    (r"rpn\.head\.cls_logits", r"regions/rpn/conf"),
    (r"rpn\.head\.bbox_pred", r"regions/rpn/loc"),
    (r"roi_heads\.box_head\.fc6", r"regions/box_head/fcs/0/conv"),
    (r"roi_heads\.box_head\.fc7", r"regions/box_head/fcs/1/conv"),
    (r"roi_heads\.box_head\.(\d+)\.0", r"regions/box_head/convs/\1/conv"),
    (r"roi_heads\.box_head\.(\d+)\.1", r"regions/box_head/convs/\1/bn"),
    (r"roi_heads\.box_predictor\.cls_score", r"regions/box_head/conf"),
    (r"roi_heads\.box_predictor\.bbox_pred", r"regions/box_head/loc"),
    (r"roi_heads\.mask_head\.(\d+)\.0", r"mask_head/convs/\1/conv"),
    (r"roi_heads\.mask_head\.(\d+)\.1", r"mask_head/convs/\1/bn"),
    (r"roi_heads\.mask_predictor\.conv5_mask", r"mask_head/up"),
    (r"roi_heads\.mask_predictor\.mask_fcn_logits", r"mask_head/out"),
    (r"roi_heads\.keypoint_predictor\.kps_score_lowres", r"point_head/out"),
)
# names of torchvision before version 0.13, and one whose index begins with 1
_OLDER = (
    (r"^backbone\.fpn\.", r"fpn."),
    (r"^(fpn\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)$", r"\1.0.\2"),
    (r"^rpn\.head\.conv\.(weight|bias)$", r"rpn.head.conv.0.0.\1"),
    (r"roi_heads\.mask_head\.mask_fcn(\d+)", lambda m: f"roi_heads.mask_head.{int(m[1]) - 1}.0"),
)
_BODY = r"backbone\.bottom_up\."
_DETECTRON2 = (
    (_BODY + r"stem\.conv1", r"regions/extractor/conv1/conv"),
    (_BODY + r"stem\.conv1\.norm", r"regions/extractor/conv1/bn"),
    (_BODY + r"(res\d)\.(\d+)\.(conv\d|shortcut)", r"regions/extractor/\1/\2/\3/conv"),
    (_BODY + r"(res\d)\.(\d+)\.(conv\d|shortcut)\.norm", r"regions/extractor/\1/\2/\3/bn"),
    (r"proposal_generator\.rpn_head\.conv", r"regions/rpn/convs/0/conv"),
    (r"proposal_generator\.rpn_head\.objectness_logits", r"regions/rpn/conf"),
    (r"proposal_generator\.rpn_head\.anchor_deltas", r"regions/rpn/loc"),
    (r"roi_heads\.box_predictor\.cls_score", r"regions/box_head/conf"),
    (r"roi_heads\.box_predictor\.bbox_pred", r"regions/box_head/loc"),
    (r"roi_heads\.mask_head\.deconv", r"mask_head/up"),
    (r"roi_heads\.mask_head\.predictor", r"mask_head/out"),
    (r"roi_heads\.keypoint_head\.score_lowres", r"point_head/out"),
)
# indices from 1, or from level 2 of the maps
_DETECTRON2_COUNTED = (
    (r"backbone\.fpn_lateral(\d+)", "regions/fpn/inner/{}", 2),
    (r"backbone\.fpn_output(\d+)", "regions/fpn/outer/{}", 2),
    (r"roi_heads\.box_head\.fc(\d+)", "regions/box_head/fcs/{}/conv", 1),
    (r"roi_heads\.mask_head\.mask_fcn(\d+)", "mask_head/convs/{}/conv", 1),
    (r"roi_heads\.keypoint_head\.conv_fcn(\d+)", "point_head/convs/{}/conv", 1),
)
_CHAINERCV = (
    (r"^extractor/base/", "regions/extractor/"),
    (r"^extractor/(inner|outer)/(\d)/([Wb])$", r"regions/fpn/\1/\2/\3"),
    (r"^rpn/conv/([Wb])$", r"regions/rpn/convs/0/conv/\1"),
    (r"^rpn/(loc|conf)/([Wb])$", r"regions/rpn/\1/\2"),
    (r"^bbox_head/fc([12])/([Wb])$", lambda m: f"regions/box_head/fcs/{int(m[1]) - 1}/conv/{m[2]}"),
    (r"^bbox_head/(loc|conf)/([Wb])$", r"regions/box_head/\1/\2"),
    (r"^mask_head/conv([1-4])/conv/([Wb])$", lambda m: f"mask_head/convs/{int(m[1]) - 1}/conv/{m[2]}"),
    (r"^mask_head/conv5/([Wb])$", r"mask_head/up/\1"),
    (r"^mask_head/seg/([Wb])$", r"mask_head/out/\1"),
)


def torchvision_place(module: str, *, normed: bool = False, body: Mapping[str, str] | None = None) -> str | None:
    """cvzoo's path of a module of torchvision's network, or None.

    normed: the pyramid's convolutions are normalized, which adds a level to their names
    body: of a MobileNet, its modules' paths; None for a ResNet
    """
    if body is not None and module in body:
        return body[module]
    if module.startswith("backbone.body."):
        place = resnet_place(module.removeprefix("backbone.body."))
        return None if place is None else f"regions/{place}"
    if normed:
        match = re.fullmatch(r"fpn\.(inner|layer)_blocks\.(\d+)\.([01])", module)
        if match:
            kind = "inner" if match[1] == "inner" else "outer"
            return f"regions/fpn/{kind}/{match[2]}/{'conv' if match[3] == '0' else 'bn'}"
        if re.fullmatch(r"roi_heads\.box_head\.\d+", module):  # after convolutions and a flattening
            return "regions/box_head/fcs/0/conv"
    match = re.fullmatch(r"roi_heads\.keypoint_head\.(\d+)", module)
    if match:  # relus have indices, too
        return f"point_head/convs/{int(match[1]) // 2}/conv"
    return place_of(module, _TORCHVISION)


def detectron2_place(module: str) -> str | None:
    """cvzoo's path of a module of detectron2's network, or None."""
    for pattern, place, first in _DETECTRON2_COUNTED:
        match = re.fullmatch(pattern, module)
        if match:
            return place.format(int(match[1]) - first)
    return place_of(module, _DETECTRON2)


def count_classes(named: Arrays) -> int | None:
    """The number of classes of such a network's arrays by cvzoo's names; None if they do not determine it."""
    return len(named["regions/box_head/conf/b"]) - 1 if "regions/box_head/conf/b" in named else None


def _as_windows(named: Arrays) -> dict[str, np.ndarray]:
    """The weights of fully connected layers as those of convolutions."""
    return {name: _as_window(name, array) for name, array in named.items()}


def _as_window(name: str, array: np.ndarray) -> np.ndarray:
    if not re.fullmatch(r"regions/box_head/fcs/\d+/conv/W", name) or array.ndim != 2:
        return array
    size = _ROI_SIZE if "/fcs/0/" in name else 1
    if array.shape[1] % size**2:
        return array  # fails later, with an error that names it
    return array.reshape(len(array), -1, size, size)


def _from_torchvision(named: dict[str, np.ndarray], n_fg_class: int | None) -> dict[str, np.ndarray]:
    rows = foreground_rows(len(named["regions/box_head/conf/b"]), n_fg_class)
    named = _as_windows(named)
    for leaf in ("W", "b"):
        rpn, loc, conf, mask = (f"{head}/{leaf}" for head in _LAST)
        named[rpn] = yx_rows(named[rpn])
        named[loc] = yx_rows(_of_classes(named[loc], rows))
        named[conf] = named[conf][np.append(0, rows)]
        if mask in named:
            named[mask] = named[mask][rows]
    return named


def _from_detectron2(named: dict[str, np.ndarray], n_fg_class: int | None) -> dict[str, np.ndarray]:
    """Converts from BGR to RGB, and from the background as the last class to the first."""
    named = _as_windows(named)
    for name in [name for name in named if name.endswith("/bn/gamma")]:
        # early files have normalizations that were folded into scale and shift
        path, gamma = name.removesuffix("gamma"), named[name]
        named.setdefault(f"{path}avg_mean", np.zeros_like(gamma))
        named.setdefault(f"{path}avg_var", np.ones_like(gamma))
    stem = "regions/extractor/conv1/conv/W"
    named[stem] = np.ascontiguousarray(named[stem][:, ::-1])
    for leaf in ("W", "b"):
        rpn, loc, conf, _ = (f"{head}/{leaf}" for head in _LAST)
        named[rpn], named[loc] = yx_rows(named[rpn]), yx_rows(named[loc])
        named[conf] = np.roll(named[conf], 1, axis=0)
    return named


def _from_chainercv(named: dict[str, np.ndarray], n_fg_class: int | None) -> dict[str, np.ndarray]:
    """Drops the background's boxes and masks."""
    named = _as_windows(without_first_bias(named))
    for leaf in ("W", "b"):
        _, loc, _, mask = (f"{head}/{leaf}" for head in _LAST)
        named[loc] = _of_classes(named[loc], np.arange(1, len(named[loc]) // 4))
        if mask in named:
            named[mask] = named[mask][1:]
    return named


_LAST = ("regions/rpn/loc", "regions/box_head/loc", "regions/box_head/conf", "mask_head/out")


def _of_classes(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The four rows of each of these classes, of (4 * K, ...)."""
    return array.reshape(-1, 4, *array.shape[1:])[rows].reshape(-1, *array.shape[1:])


def torchvision_config(requested: FasterRCNNFPNConfig | None, theirs: Arrays, ours: Arrays) -> FasterRCNNFPNConfig:
    """The config of torchvision's detector from a file's arrays, by torchvision's names and by cvzoo's."""
    if _MOBILENET_MARK in theirs:
        built = MOBILENET_V3_LARGE_FPN
    else:
        built = RESNET50_FPN_V2 if "regions/fpn/inner/0/bn/gamma" in ours else RESNET50_FPN
        built = dataclasses.replace(built, n_layer=depth_of(ours, inside=_REGIONS))
    if counted_batches(theirs, "backbone.body."):
        built = dataclasses.replace(built, norm="batch", bn_eps=1e-5)
    return built


def _detectron2_config(requested: FasterRCNNFPNConfig | None, theirs: Arrays, ours: Arrays) -> FasterRCNNFPNConfig:
    second = ours["regions/extractor/res2/0/conv2/conv/W"].shape
    return detectron2_config(depth_of(ours, inside=_REGIONS), groups=second[0] // second[1])


def _on_mobilenet(base: FasterRCNNFPNConfig | None, theirs: Arrays, ours: Arrays) -> FasterRCNNFPNConfig:
    return MOBILENET_V3_LARGE_FPN if base is None else base


def _on_resnet(base: FasterRCNNFPNConfig | None, theirs: Arrays, ours: Arrays) -> FasterRCNNFPNConfig:
    # statistics of ImageNet are better than those of the few images that fit into a detector's batch
    width = len(ours["regions/extractor/conv1/conv/W"])
    return FasterRCNNFPNConfig(n_layer=depth_of(ours, inside=_REGIONS), norm="frozen", base_channels=width)


_MOBILENET_MARK = "backbone.body.0.0.weight"
_MOBILENET = network_plan("large")
_TORCHVISION_NAMES = Names(
    marks=("roi_heads.box_predictor.cls_score.weight", "rpn.head.cls_logits.weight"),
    older=_OLDER,
    modules=torchvision_place,
    finish=_from_torchvision,
    config=torchvision_config,
    label_names=torchvision_label_names,
)
_MOBILENET_BODY = extractor_places(_MOBILENET, theirs="backbone.body", ours="regions/extractor")
NAMES = {
    "torchvision, on MobileNetV3": dataclasses.replace(
        _TORCHVISION_NAMES,
        marks=(*_TORCHVISION_NAMES.marks, _MOBILENET_MARK),
        modules=functools.partial(torchvision_place, body=_MOBILENET_BODY),
    ),
    "torchvision, normalized pyramid": dataclasses.replace(
        _TORCHVISION_NAMES,
        marks=(*_TORCHVISION_NAMES.marks, "backbone.fpn.inner_blocks.0.1.weight"),
        modules=functools.partial(torchvision_place, normed=True),
    ),
    "torchvision": _TORCHVISION_NAMES,
    "detectron2": Names(
        marks=("backbone.fpn_lateral2.weight", "roi_heads.box_predictor.cls_score.weight"),
        modules=detectron2_place,
        # constants that follow from the config
        drop=("pixel_mean", "pixel_std", "proposal_generator.anchor_generator.", "anchor_generator."),
        finish=_from_detectron2,
        config=_detectron2_config,
    ),
    "chainercv": Names(
        marks=("extractor/base/conv1/conv/W", "bbox_head/conf/W"),
        rules=(*CHAINERCV_RULES, *_CHAINERCV),
        finish=_from_chainercv,
        config=lambda requested, theirs, ours: chainercv_config(depth_of(ours, inside=_REGIONS)),
    ),
    "torchvision's MobileNetV3": Names(
        marks=("features.16.0.weight", "features.15.block.0.0.weight"),
        modules=extractor_places(_MOBILENET, ours="regions/extractor"),
        drop=("classifier.",),
        only=("regions/extractor/",),
        config=_on_mobilenet,
    ),
    "cvzoo": Names(marks=("regions/box_head/conf/b",)),
    "cvzoo, without classes": Names(marks=("regions/rpn/conf/b",)),
    "cvzoo's backbone": Names(marks=("regions/extractor/conv1/conv/W",), only=("regions/extractor/",)),
    **backbone_names(_on_resnet, inside=_REGIONS),
}


def region_source(
    pretrained_model: str | os.PathLike | None,
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNConfig]],
    *,
    architecture: str,
    n_fg_class: int | None,
    label_names: Sequence[str] | None,
    config: FasterRCNNFPNConfig | None,
    known_names: Sequence[tuple[str, ...]] = (coco_bbox_label_names,),
) -> DetectorSource:
    """Resolves a constructor's arguments, see `detector_source`; its config is never None.

    weights: name -> (record, config)
    """
    records = {name: record for name, (record, _) in weights.items()}
    if config is not None and config.backbone == "mobilenet_v3_large":
        records |= {name: each.record for name, each in MOBILENET_WEIGHTS["large"].items() if "timm" not in name}
    else:
        records |= RESNET_WEIGHTS.get(50 if config is None else config.n_layer, {})
    source = detector_source(
        pretrained_model,
        records,
        DetectorFiles(architecture, NAMES, count_classes, FasterRCNNFPNConfig, known_names),
        n_fg_class=n_fg_class,
        label_names=label_names,
        config=config,
        published={name: config for name, (_, config) in weights.items()},
    )
    return source if source.config is not None else source._replace(config=FasterRCNNFPNConfig())


def region_networks_of_file(
    source: DetectorSource, make: Callable[[int, FasterRCNNFPNConfig], Chain]
) -> list[Callable[[], Chain]]:
    """As `networks_of_file`. make: from a number of classes and a config, the detector."""
    return networks_of_file(
        source,
        source.config,
        make,
        lambda config, arrays: with_n_anchor(config, max(np.size(arrays.get("regions/rpn/conf/b", ())), 1)),
    )
