"""A ResNet's settings as JSON has them, and a ResNet from them."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.resnet.prepare import MEAN, STD
from cvzoo.links.model.resnet.resnet import ResNet


def resnet_settings(model: ResNet) -> dict[str, Any]:
    """What the model was built with."""
    return dict(model.settings)


def resnet_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> ResNet:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    return ResNet(
        settings["n_layer"],
        settings["n_class"],
        label_names=label_names,
        base_channels=settings["base_channels"],
        arch=settings["arch"],
        stem=settings["stem"],
        norm=settings["norm"],
        eps=settings["eps"],
        insize=settings["insize"],
        short=settings["short"],
    )


def resnet_preprocessing(model: ResNet) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    how = {"stretched_to": model.insize} if model.stem == "cifar" else {"short_side": model.short, "crop": model.insize}
    return {
        "channels": "RGB",
        "mean": [round(float(v), 4) for v in MEAN],
        "std": [round(float(v), 4) for v in STD],
        "interpolation": "bilinear, antialiased",
        **how,
    }
