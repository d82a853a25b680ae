"""A RetinaNet's settings as JSON has them, and a RetinaNet from them."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.retinanet.fit import MEAN, MULTIPLE, STD
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.stored import stored_retinanet


def retinanet_settings(model: RetinaNet) -> dict[str, Any]:
    """n_fg_class, and the fields of `RetinaNetSettings`."""
    return {"n_fg_class": model.n_fg_class, "settings": dataclasses.asdict(model.settings)}


def retinanet_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> RetinaNet:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    stored = stored_retinanet(settings)
    return RetinaNet(stored.n_fg_class, label_names=label_names, settings=stored.settings)


def retinanet_preprocessing(model: RetinaNet) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    s = model.settings
    return {
        "channels": "RGB",
        "mean": [round(float(v), 4) for v in MEAN],
        "std": [round(float(v), 4) for v in STD],
        "short_side": s.min_size,
        "long_side_at_most": s.max_size,
        "interpolation": "bilinear, antialiased" if s.antialias else "bilinear",
        "padded_to_multiples_of": MULTIPLE,
    }
