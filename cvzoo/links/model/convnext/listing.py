"""ConvNeXt in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.convnext.convnext import ConvNeXt, ConvNeXtConfig
from cvzoo.links.model.convnext.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("ConvNeXt", ConvNeXt, ConvNeXtConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(ConvNeXt, size), records) for size, records in WEIGHTS.items())
