"""The YOLO networks in listings and in files."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS, YOLO_V3_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.links.model.zoo_member import ZooMember


def _settings_v2(model: YOLOv2) -> dict[str, Any]:
    return {
        "n_fg_class": model.n_fg_class,
        "anchors": [list(anchor) for anchor in model.heads[0].anchors],
        "insize": model.insize,
        "base_channels": model.base_channels,
    }


def _settings_v2_tiny(model: YOLOv2Tiny) -> dict[str, Any]:
    return {
        "n_fg_class": model.n_fg_class,
        "anchors": [list(anchor) for anchor in model.heads[0].anchors],
        "insize": model.insize,
        "base_channels": model.base_channels,
        "mid_channels": model.mid_channels,
    }


def _settings_v3(model: YOLOv3) -> dict[str, Any]:
    return {
        "n_fg_class": model.n_fg_class,
        "anchors": [[list(anchor) for anchor in head.anchors] for head in model.heads],
        "insize": model.insize,
        "base_channels": model.base_channels,
        "blocks": list(model.blocks),
    }


def _preprocessing(model: YOLOv2 | YOLOv2Tiny | YOLOv3) -> dict[str, Any]:
    return {
        "channels": "RGB",
        "mean": [0.0, 0.0, 0.0],
        "std": [255.0, 255.0, 255.0],
        "letterbox": [model.insize, model.insize],
        "fill": 127.5,
        "interpolation": "bilinear, corners on corners",
    }


def _build_v2(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> YOLOv2:
    return YOLOv2(
        settings["n_fg_class"],
        label_names=label_names,
        anchors=settings["anchors"],
        insize=settings["insize"],
        base_channels=settings["base_channels"],
    )


def _build_v2_tiny(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> YOLOv2Tiny:
    return YOLOv2Tiny(
        settings["n_fg_class"],
        label_names=label_names,
        anchors=settings["anchors"],
        insize=settings["insize"],
        base_channels=settings["base_channels"],
        mid_channels=settings["mid_channels"],
    )


def _build_v3(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> YOLOv3:
    return YOLOv3(
        settings["n_fg_class"],
        label_names=label_names,
        anchors=settings["anchors"],
        insize=settings["insize"],
        base_channels=settings["base_channels"],
        blocks=settings["blocks"],
    )


ARCHITECTURES = (
    HandWritten("YOLOv2", YOLOv2, _settings_v2, _preprocessing, _build_v2).with_thresholds(),
    HandWritten("YOLOv2Tiny", YOLOv2Tiny, _settings_v2_tiny, _preprocessing, _build_v2_tiny).with_thresholds(),
    HandWritten("YOLOv3", YOLOv3, _settings_v3, _preprocessing, _build_v3).with_thresholds(),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members(((YOLOv2, YOLO_V2_WEIGHTS), (YOLOv2Tiny, YOLO_V2_TINY_WEIGHTS), (YOLOv3, YOLO_V3_WEIGHTS)))
