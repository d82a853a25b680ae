"""The DeepLabs in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusXception65
from cvzoo.links.model.deeplab.weights import V3_PLUS_RECORDS, V3_RECORDS
from cvzoo.links.model.short_side_preparation import short_side_preprocessing
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _v3_settings(model: DeepLabV3) -> dict[str, Any]:
    return {"backbone": model.kind, "n_class": model.n_class, "width": model.width, "short": model.short}


def _v3_build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> DeepLabV3:
    return DeepLabV3(
        settings["backbone"],
        settings["n_class"],
        label_names=label_names,
        width=settings["width"],
        short=settings["short"],
    )


def _v3_plus_settings(model: DeepLabV3plusXception65) -> dict[str, Any]:
    return {
        "n_class": model.n_class,
        "min_input_size": list(model.min_input_size),
        "scales": list(model.scales),
        "flip": model.flip,
        "width": model.width,
        "middle_blocks": model.middle_blocks,
    }


def _v3_plus_build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> DeepLabV3plusXception65:
    return DeepLabV3plusXception65(
        settings["n_class"],
        None,
        tuple(settings["min_input_size"]),
        tuple(settings["scales"]),
        settings["flip"],
        label_names=label_names,
        width=settings["width"],
        middle_blocks=settings["middle_blocks"],
    )


def _v3_plus_preprocessing(model: DeepLabV3plusXception65) -> dict[str, Any]:
    return {"channels": "RGB", "formula": "x / 127.5 - 1", "padded_to_at_least": list(model.min_input_size)}


ARCHITECTURES = (
    HandWritten("DeepLabV3", DeepLabV3, _v3_settings, short_side_preprocessing, _v3_build),
    HandWritten(
        "DeepLabV3plusXception65",
        DeepLabV3plusXception65,
        _v3_plus_settings,
        _v3_plus_preprocessing,
        _v3_plus_build,
    ),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    of_v3 = ((functools.partial(DeepLabV3, backbone), records) for backbone, records in V3_RECORDS.items())
    return trained_members([*of_v3, (DeepLabV3plusXception65, V3_PLUS_RECORDS)], "segmentation")
