"""Which class of a ground truth each class of a model is."""

import sys
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ConfigError

# VOC's words for classes that COCO has, too; darknet's names of COCO's classes use them
_OTHER_NAMES = {
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "sofa": "couch",
    "tvmonitor": "tv",
}


def match_classes(model: Sequence[str] | None, n_class: int, truth: Sequence[str]) -> np.ndarray:
    """As `places_of_classes`; says on standard error which classes of the model are left out."""
    found = places_of_classes(model, n_class, truth)
    missing = [name for name, place in zip(model or (), found) if place < 0]
    if missing:
        print(
            f"note: classes of the model that the ground truth does not have are left out: {', '.join(missing[:20])}",
            file=sys.stderr,
        )
    return found


def places_of_classes(model: Sequence[str] | None, n_class: int, truth: Sequence[str]) -> np.ndarray:
    """(n_class,) int64: the place among the ground truth's classes for each label of a model; -1 where it has none.

    model: names in order of label; None: its labels are the ground truth's classes in their order
    truth: the ground truth's names. Case and underscores do not matter, and VOC's words are COCO's.
    Raises ConfigError if there is no way to tell which class is which.
    """
    if model is None:
        if len(truth) != n_class:
            raise ConfigError(
                f"the model has {n_class} classes without names, the ground truth has {len(truth)}",
                hint="--names FILE",
            )
        return np.arange(n_class)
    mine, others = [_plain(name) for name in model], [_plain(name) for name in truth]
    if mine == others:  # the same list, in which a name may stand for two classes
        return np.arange(n_class)
    known = {name: place for place, name in reversed(list(enumerate(others)))}
    found = np.array([known.get(name, -1) for name in mine], np.int64)
    if (found < 0).all():
        raise ConfigError(
            "the model and the ground truth share no class",
            expected=", ".join(list(truth)[:20]),
            got=", ".join(model[:20]),
        )
    return found


def _plain(name):
    plain = name.lower().replace("_", " ").strip()
    return _OTHER_NAMES.get(plain, plain)
