"""A ResNet's settings as JSON has them, and a ResNet from them."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.resnet.resnet import ResNet


def resnet_settings(model: ResNet) -> dict[str, Any]:
    """What the model was built with."""
    return dict(model.settings)


def resnet_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> ResNet:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    if "preparation" not in settings:  # files of before there were groups, gates and other preparations
        plain = {"pool": "padded", "groups": 1, "base_width": 64, "se": 0}
        how = PhotoPreparation(settings["short"], settings["insize"])
        settings = {**settings, **plain, "preparation": how.to_json()}
    how = PhotoPreparation.from_json(settings["preparation"])
    return ResNet(
        settings["n_layer"],
        settings["n_class"],
        label_names=label_names,
        base_channels=settings["base_channels"],
        arch=settings["arch"],
        stem=settings["stem"],
        pool=settings["pool"],
        groups=settings["groups"],
        base_width=settings["base_width"],
        se=settings["se"],
        norm=settings["norm"],
        eps=settings["eps"],
        preparation=how,
        insize=how.crop,
        short=how.short,
    )


def resnet_preprocessing(model: ResNet) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    how = model.preparation.to_json()
    if model.stem == "cifar":
        del how["short"]
        how["stretched_to"] = how.pop("crop")
    return {"channels": "RGB", **how}
