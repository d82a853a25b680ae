"""Vision Transformers in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.vit.vit import ViT, ViTConfig
from cvzoo.links.model.vit.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("ViT", ViT, ViTConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(ViT, size), records) for size, records in WEIGHTS.items())
