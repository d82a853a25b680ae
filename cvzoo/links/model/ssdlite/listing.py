"""SSDLite in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.ssdlite.config import SSDLiteConfig
from cvzoo.links.model.ssdlite.published import SSDLite320MobileNetV3Large
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ssdlite.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("SSDLite", SSDLite, SSDLiteConfig, key="settings"),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(SSDLite320MobileNetV3Large, WEIGHTS)])
