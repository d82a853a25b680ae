"""The CIFAR ResNets in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.cifar_resnet.cifar_resnet import MEAN, STD, CIFARResNet
from cvzoo.links.model.cifar_resnet.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: CIFARResNet) -> dict[str, Any]:
    return {"n_layer": model.n_layer, "n_class": model.n_class}


def _preprocessing(model: CIFARResNet) -> dict[str, Any]:
    mean, std = ([round(float(v), 4) for v in values] for values in (MEAN, STD))
    return {"channels": "RGB", "mean": mean, "std": std, "interpolation": "bilinear, antialiased", "stretched_to": 32}


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> CIFARResNet:
    return CIFARResNet(settings["n_layer"], settings["n_class"], label_names=label_names)


ARCHITECTURES = (HandWritten("CIFARResNet", CIFARResNet, _settings, _preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(CIFARResNet, n_layer), records) for n_layer, records in WEIGHTS.items())
    return trained_members(makers, "classification")
