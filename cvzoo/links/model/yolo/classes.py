"""How many classes a YOLO network has and what they are called, and how large a photo it sees."""

import os
from collections.abc import Mapping, Sequence

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.label_names import VOC_LABEL_NAMES
from cvzoo.weights.record import Weights


def choose_classes(
    n_fg_class: int | None,
    pretrained_model: str | os.PathLike | None,
    label_names: Sequence[str] | None,
    records: Mapping[str, Weights],
) -> tuple[int, tuple[str, ...] | None]:
    """(number of classes, their names or None), from what was given: the names, the number, the record, else VOC.

    Raises ValueRangeError if two of them do not agree.
    """
    record = records.get(pretrained_model) if isinstance(pretrained_model, str) else None
    if record is not None:
        if n_fg_class not in (None, len(record.label_names)):
            raise ValueRangeError(
                f"pretrained_model={pretrained_model!r} has {len(record.label_names)} classes", got=n_fg_class
            )
        n_fg_class = len(record.label_names)
        label_names = record.label_names if label_names is None else label_names
    if n_fg_class is None:
        n_fg_class = len(VOC_LABEL_NAMES) if label_names is None else len(label_names)
    if isinstance(n_fg_class, bool) or not isinstance(n_fg_class, int) or n_fg_class < 1:
        raise ValueRangeError("n_fg_class must be a positive integer", got=repr(n_fg_class))
    if label_names is None and n_fg_class == len(VOC_LABEL_NAMES):
        label_names = VOC_LABEL_NAMES
    if label_names is not None and len(label_names) != n_fg_class:
        raise ValueRangeError("label_names must be one a class", expected=n_fg_class, got=len(label_names))
    return n_fg_class, None if label_names is None else tuple(label_names)


def checked_insize(insize: int) -> int:
    """The number itself. Raises ValueRangeError unless it is a positive multiple of 32."""
    if isinstance(insize, bool) or not isinstance(insize, int) or insize < 32 or insize % 32:
        raise ValueRangeError("insize must be a multiple of 32", got=repr(insize))
    return insize
