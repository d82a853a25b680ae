"""Metadata of an ONNX file: text by name, JSON for values that are not text."""

import contextlib
import importlib.metadata
import json
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.export.onnx.boxes.add_boxes import rules_of
from cvzoo.export.onnx.model_proto import OPSET
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.image_batches import declared_preparation, preprocessing_header
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.weights.record import Weights

OWN_NAMES = frozenset(
    (
        "architecture",
        "boxes",
        "cvzoo_version",
        "label_names",
        "masks",
        "opset",
        "point_names",
        "prepare",
        "preprocessing",
        "settings",
        "size_step",
        "task",
        "weights",
    )
)


def cvzoo_version() -> str:
    """The installed version, or "from its source"."""
    try:
        return importlib.metadata.version("cvzoo")
    except importlib.metadata.PackageNotFoundError:
        return "from its source"


def model_metadata(model: Chain, architecture: Architecture | None, task: str) -> dict[str, str]:
    """Metadata about the model itself: task, architecture, labels, preprocessing."""
    metadata: dict[str, Any] = {"task": task, "cvzoo_version": cvzoo_version(), "opset": str(OPSET)}
    metadata["architecture"] = type(model).__name__ if architecture is None else architecture.name
    if model.label_names is not None:  # type: ignore[attr-defined]
        metadata["label_names"] = list(model.label_names)  # type: ignore[attr-defined]
    if isinstance(model, KeypointRCNNFPN) and model.point_names is not None:
        metadata["point_names"] = list(model.point_names)
    if architecture is not None:
        metadata["preprocessing"] = preprocessing_header(model)
        metadata["settings"] = architecture.settings(model)
    preparation = declared_preparation(model)
    if preparation is not None:
        metadata["prepare"] = preparation.to_program()
    return _encoded(metadata)


def box_metadata(model: Chain) -> dict[str, str]:
    """Metadata about boxes, masks and keypoints in the file: thresholds, and how they map to the original image.

    boxes: score_thresh, nms_thresh, limit, clip; scale: "own": pixels of x per image pixel differ between the axes;
        "width": the width's scale is for both
    masks: paste: how a mask is resized to its box: "whole" or "exact" as in `MaskHeadConfig`; "resized": to the box
        rounded to integer pixels; thresh: the foreground is above it
    """
    if not isinstance(model, AbstractThresholds):
        return {}
    preparation = declared_preparation(model)
    by_width = isinstance(preparation, ResizeShortestEdge) and preparation.one_scale
    metadata: dict[str, object] = {"boxes": {**rules_of(model)._asdict(), "scale": "width" if by_width else "own"}}
    if isinstance(model, MaskRCNNFPN):
        metadata["masks"] = {"paste": model.mask_settings.paste, "thresh": model.mask_thresh}
    if isinstance(model, FCISResNet101):
        metadata["masks"] = {"paste": "resized", "thresh": model.binary_thresh}
    return _encoded(metadata)


def weights_metadata(weights: Weights) -> dict[str, str]:
    """Metadata about the pretrained weights: source, licence, scores."""
    fields = {
        "name": weights.name,
        "licence": weights.licence,
        "source": weights.source,
        "url": weights.url,
        "sha256": weights.sha256,
        "data": weights.data,
        "data_licence": weights.data_licence,
        "score": dict(weights.score),
    }
    return _encoded({"weights": {name: value for name, value in fields.items() if value is not None}})


def joined_metadata(own: Mapping[str, str], more: Mapping[str, object] | None) -> dict[str, str]:
    """Both. Raises ValueRangeError for reserved names in `more`, DtypeError for what is neither text nor JSON."""
    taken = [name for name in more or {} if name in OWN_NAMES]
    if taken:
        raise ValueRangeError("export_onnx: metadata must not use reserved names", got=", ".join(taken))
    return {**own, **_encoded(more or {})}


def _encoded(values: Mapping[str, object]) -> dict[str, str]:
    return {name: _encoded_value(name, value) for name, value in values.items()}


def _encoded_value(name: str, value: object) -> str:
    if isinstance(name, str):
        with contextlib.suppress(TypeError, ValueError):
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    raise DtypeError(
        "export_onnx: metadata must be text or values that JSON can hold, by name", got=f"{name!r}: {value!r}"
    )
