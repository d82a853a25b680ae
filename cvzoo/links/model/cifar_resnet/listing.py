"""The CIFAR ResNets in listings and in files."""

import functools
from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.cifar_resnet.cifar_resnet import MEAN, STD, CIFARResNet, CIFARResNetConfig
from cvzoo.links.model.cifar_resnet.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _preprocessing(model: CIFARResNet) -> dict[str, Any]:
    mean, std = ([round(float(v), 4) for v in values] for values in (MEAN, STD))
    return {"channels": "RGB", "mean": mean, "std": std, "interpolation": "bilinear, antialiased", "stretched_to": 32}


ARCHITECTURES = (Architecture("CIFARResNet", CIFARResNet, CIFARResNetConfig, _preprocessing),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(CIFARResNet, n_layer), records) for n_layer, records in WEIGHTS.items())
    return trained_members(makers, "classification")
