"""Results as tables of pandas, and the choice of instances by score and class."""

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.errors.exceptions import MissingExtraError, ValueRangeError
from cvzoo.typing.aliases import Array, Label, Score
from cvzoo.visualizations.colors import check_class_name

if TYPE_CHECKING:
    from cvzoo.links.model.detections import Detections


def data_frame(records: Sequence[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame with a row per record. Raises MissingExtraError without pandas."""
    try:
        pandas = importlib.import_module("pandas")  # what cvzoo itself never needs
    except ImportError as error:
        raise MissingExtraError("to_df needs pandas", hint="pip install pandas") from error
    return pandas.DataFrame.from_records(list(records))


def chosen_rows(detections: "Detections", score: float, classes: Sequence[int | str] | None) -> list[Array]:
    """The indices of each image's instances that score above `score` and have one of the classes; None: any class.

    Raises ValueRangeError for a class name that the model lacks.
    """
    wanted = None if classes is None else [label_of(each, detections.label_names) for each in classes]

    def rows(label: Label, scores: Score) -> Array:
        chosen = scores > score
        return np.flatnonzero(chosen if wanted is None else chosen & np.isin(label, wanted))

    return [rows(*each) for each in zip(detections.labels, detections.scores)]


def label_of(each: int | str, label_names: Sequence[str] | None) -> int:
    """The label of a class name, or the label itself. Raises ValueRangeError, with the most similar name."""
    if not isinstance(each, str):
        return int(each)
    if label_names is None:
        raise ValueRangeError(f"there is no class {each!r}", expected="numbers: the model has no class names")
    check_class_name(each, label_names)
    return label_names.index(each)
