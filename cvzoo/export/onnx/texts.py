"""What a file says about its model, as texts: JSON where it is more than a word."""

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
    """The version that is installed, or "from its source"."""
    try:
        return importlib.metadata.version("cvzoo")
    except importlib.metadata.PackageNotFoundError:
        return "from its source"


def texts_about(model: Chain, architecture: Architecture | None, task: str) -> dict[str, str]:
    """About the model, whatever of it is in the file."""
    texts: dict[str, Any] = {"task": task, "cvzoo_version": cvzoo_version(), "opset": str(OPSET)}
    texts["architecture"] = type(model).__name__ if architecture is None else architecture.name
    if model.label_names is not None:  # type: ignore[attr-defined]
        texts["label_names"] = list(model.label_names)  # type: ignore[attr-defined]
    if isinstance(model, KeypointRCNNFPN) and model.point_names is not None:
        texts["point_names"] = list(model.point_names)
    if architecture is not None:
        texts["preprocessing"] = preprocessing_header(model)
        texts["settings"] = architecture.settings(model)
    preparation = declared_preparation(model)
    if preparation is not None:
        texts["prepare"] = preparation.to_program()
    return _as_texts(texts)


def texts_about_boxes(model: Chain) -> dict[str, str]:
    """About the boxes, masks and points in the file: by which thresholds, and how they lie in the image.

    boxes: score_thresh, nms_thresh, limit, clip; scale: "own": each axis has its own pixels of x for one of the image;
        "width": the width's are for both
    masks: paste: how a mask is stretched over its box: "whole" or "exact" as in `MaskHeadConfig`; "resized": over the
        box rounded to whole pixels; thresh: what is inside is above it
    """
    if not isinstance(model, AbstractThresholds):
        return {}
    preparation = declared_preparation(model)
    by_width = isinstance(preparation, ResizeShortestEdge) and preparation.one_scale
    texts: dict[str, Any] = {"boxes": {**rules_of(model)._asdict(), "scale": "width" if by_width else "own"}}
    if isinstance(model, MaskRCNNFPN):
        texts["masks"] = {"paste": model.mask_settings.paste, "thresh": model.mask_thresh}
    if isinstance(model, FCISResNet101):
        texts["masks"] = {"paste": "resized", "thresh": model.binary_thresh}
    return _as_texts(texts)


def texts_about_weights(weights: Weights) -> dict[str, str]:
    """Who made the numbers, and who may use them."""
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
    return _as_texts({"weights": {name: value for name, value in fields.items() if value is not None}})


def joined_texts(own: Mapping[str, str], more: Mapping[str, Any] | None) -> dict[str, str]:
    """Both. Raises ValueRangeError if a name of `more` is one of ours, DtypeError for what is neither text nor JSON."""
    taken = [name for name in more or {} if name in OWN_NAMES]
    if taken:
        raise ValueRangeError("export_onnx: metadata must not use our own names", got=", ".join(taken))
    return {**own, **_as_texts(more or {})}


def _as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _as_text(name, value) for name, value in values.items()}


def _as_text(name: str, value: Any) -> str:
    if isinstance(name, str):
        with contextlib.suppress(TypeError, ValueError):
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    raise DtypeError("export_onnx: metadata are texts, or what JSON can hold, by name", got=f"{name!r}: {value!r}")
