"""PSPNet in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.pspnet.layouts import LAYOUTS
from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.links.model.pspnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: PSPNet) -> dict[str, Any]:
    return {
        "n_layer": model.n_layer,
        "n_class": model.n_class,
        "input_size": list(model.input_size),
        "base_channels": model.base_channels,
        "aux": model.aux,
        "layout": model.layout,
        "scales": list(model.scales),
        "flip": model.flip,
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> PSPNet:
    model = PSPNet(
        settings["n_layer"],
        settings["n_class"],
        None,
        tuple(settings["input_size"]),
        label_names=label_names,
        base_channels=settings["base_channels"],
        aux=settings["aux"],
        layout=settings["layout"],
    )
    model.scales, model.flip = tuple(settings["scales"]), settings["flip"]
    return model


def _preprocessing(model: PSPNet) -> dict[str, Any]:
    return {
        "channels": "RGB",
        "mean": list(LAYOUTS[model.layout].mean),
        "std": list(LAYOUTS[model.layout].std),
        "windows": list(model.input_size),
        "stride": "two thirds of a window",
    }


ARCHITECTURES = (HandWritten("PSPNet", PSPNet, _settings, _preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(PSPNet, n_layer), records) for n_layer, records in RECORDS.items())
    return trained_members(makers, "segmentation")
