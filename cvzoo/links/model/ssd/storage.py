"""An SSD's settings as JSON has them, and an SSD from them."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.ssd.settings import SSDSettings
from cvzoo.links.model.ssd.ssd import SSD


def ssd_settings(model: SSD) -> dict[str, Any]:
    """n_fg_class, and the fields of `SSDSettings`."""
    return {"n_fg_class": model.n_fg_class, "settings": dataclasses.asdict(model.settings)}


def ssd_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> SSD:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    built = SSDSettings(**settings["settings"])
    return SSD(int(settings["n_fg_class"]), label_names=label_names, settings=built)


def ssd_preprocessing(model: SSD) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    return {
        "channels": "RGB",
        "mean": list(model.settings.mean),
        "std": [1.0, 1.0, 1.0],
        "size": [model.insize, model.insize],
        "interpolation": "bilinear",
    }
