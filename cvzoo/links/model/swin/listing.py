"""Swin Transformers in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.swin.swin import SwinConfig, SwinTransformer
from cvzoo.links.model.swin.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("SwinTransformer", SwinTransformer, SwinConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(SwinTransformer, size), records) for size, records in WEIGHTS.items())
