"""The presentations of `cvzoo predict`, one per task."""

from cvzoo.cli.predict_classes import CLASSES
from cvzoo.cli.predict_label_maps import LABEL_MAPS
from cvzoo.cli.predict_objects import BOXES, KEY_POINTS, MASKS
from cvzoo.cli.presentation import Presentation
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.chain import Chain

PRESENTATIONS = (BOXES, MASKS, KEY_POINTS, LABEL_MAPS, CLASSES)


def presentation_of(model: Chain) -> Presentation:
    """The presentation of the model's task. Raises UnsupportedError if there is none."""
    for each in PRESENTATIONS:
        if isinstance(model, each.model_class):
            return each
    raise UnsupportedError(f"cvzoo predict does not support the predictions of a {type(model).__name__}")
