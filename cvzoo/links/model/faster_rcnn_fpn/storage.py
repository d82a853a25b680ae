"""A two-stage detector's settings as JSON has them, and a detector from them."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.stored import stored_region_network


def region_network_settings(model: Any) -> dict[str, Any]:
    """n_fg_class, and the fields of `FasterRCNNFPNSettings`."""
    return {"n_fg_class": model.n_fg_class, "settings": dataclasses.asdict(model.settings)}


def faster_rcnn_fpn_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> FasterRCNNFPN:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    stored = stored_region_network(settings)
    return FasterRCNNFPN(stored.n_fg_class, label_names=label_names, settings=stored.settings)


def region_network_preprocessing(model: Any) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    s = model.settings
    return {
        "channels": "RGB",
        "mean": list(s.mean),
        "std": list(s.std),
        "short_side": s.min_size,
        "long_side_at_most": s.max_size,
        "interpolation": "bilinear, antialiased" if s.antialias else "bilinear",
        "padded_to_multiples_of": 32,
    }
