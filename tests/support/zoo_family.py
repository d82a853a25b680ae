"""The rows of the zoo's table."""

from cvzoo.links.model.families import FAMILIES


def family_of(model_class):
    """The family whose files hold models of the class."""
    (family,) = (each for each in FAMILIES if model_class in {row.model_class for row in each.architectures})
    return family
