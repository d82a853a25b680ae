"""PSPNet in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.pspnet.pspnet import PSPNet, PSPNetConfig
from cvzoo.links.model.pspnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("PSPNet", PSPNet, PSPNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(PSPNet, n_layer), records) for n_layer, records in RECORDS.items())
    return trained_members(makers, "segmentation")
