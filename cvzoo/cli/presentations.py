"""Which models `cvzoo predict` knows how to show: a list of real objects."""

from cvzoo.cli.predict_boxes import BOXES
from cvzoo.cli.predict_classes import CLASSES
from cvzoo.cli.presentation import Presentation
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.chain import Chain

PRESENTATIONS = (BOXES, CLASSES)


def presentation_of(model: Chain) -> Presentation:
    """How what the model says of photos is shown. Raises UnsupportedError if nobody knows."""
    for each in PRESENTATIONS:
        if isinstance(model, each.model_class):
            return each
    raise UnsupportedError(f"cvzoo predict does not know how to show what a {type(model).__name__} says")
