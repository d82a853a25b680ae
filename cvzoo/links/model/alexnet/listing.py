"""AlexNet in listings and in files."""

from cvzoo.links.model.alexnet.alexnet import AlexNet, AlexNetConfig
from cvzoo.links.model.alexnet.weights import WEIGHTS
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("AlexNet", AlexNet, AlexNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members([(AlexNet, WEIGHTS)])
