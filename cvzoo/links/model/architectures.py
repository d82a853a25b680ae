"""Which models can be built again from what a file says: a list of real objects."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.families import FAMILIES


def architectures() -> tuple[Architecture, ...]:
    """All kinds of models that files can hold."""
    return tuple(architecture for family in FAMILIES for architecture in family.ARCHITECTURES)
