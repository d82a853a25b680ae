"""The DenseNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.densenet.densenet import DenseNet, DenseNetConfig
from cvzoo.links.model.densenet.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("DenseNet", DenseNet, DenseNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(DenseNet, n_layer), records) for n_layer, records in WEIGHTS.items())
