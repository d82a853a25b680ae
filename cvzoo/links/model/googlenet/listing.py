"""GoogLeNet and Inception v3 in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.googlenet.config import InceptionConfig
from cvzoo.links.model.googlenet.googlenet import GoogLeNet
from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
from cvzoo.links.model.googlenet.weights import GOOGLENET, INCEPTION_V3
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    Architecture("GoogLeNet", GoogLeNet, InceptionConfig),
    Architecture("InceptionV3", InceptionV3, InceptionConfig),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members([(GoogLeNet, GOOGLENET), (InceptionV3, INCEPTION_V3)])
