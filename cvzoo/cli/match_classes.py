"""Maps the classes of a model to those of a ground truth, by name."""

import sys
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ConfigError
from cvzoo.reporting.counted import counted

# VOC's names of COCO's classes, which darknet's list of COCO's classes uses, too
_OTHER_NAMES = {
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "sofa": "couch",
    "tvmonitor": "tv",
}


def match_classes(model: Sequence[str] | None, n_class: int, truth: Sequence[str]) -> np.ndarray:
    """Like `class_indices`, with a note on standard error about classes that the ground truth lacks."""
    indices = class_indices(model, n_class, truth)
    missing = [name for name, index in zip(model or (), indices) if index < 0]
    if missing:
        print(
            f"note: classes of the model that the ground truth does not have are ignored: {', '.join(missing[:20])}",
            file=sys.stderr,
        )
    return indices


def class_indices(model: Sequence[str] | None, n_class: int, truth: Sequence[str]) -> np.ndarray:
    """(n_class,) int64: the index of the ground truth's class for each label of a model; -1 if it has none.

    model: class names in the order of labels; None: the same classes as the ground truth
    truth: the ground truth's class names. Case and underscores are ignored, and VOC's names match COCO's.
    Raises ConfigError if no classes match.
    """
    if model is None:
        if len(truth) != n_class:
            raise ConfigError(
                f"the model has {counted(n_class, 'class', 'classes')} without names, the ground truth has "
                f"{len(truth)}",
                hint="--names FILE",
            )
        return np.arange(n_class)
    own, others = [_plain(name) for name in model], [_plain(name) for name in truth]
    if own == others:  # the same list, even if it contains a name twice
        return np.arange(n_class)
    known = {name: index for index, name in reversed(list(enumerate(others)))}
    indices = np.array([known.get(name, -1) for name in own], np.int64)
    if (indices < 0).all():
        raise ConfigError(
            "the model and the ground truth have no class in common",
            expected=", ".join(list(truth)[:20]),
            got=", ".join(model[:20]),
        )
    return indices


def _plain(name: str) -> str:
    plain = name.lower().replace("_", " ").strip()
    return _OTHER_NAMES.get(plain, plain)
