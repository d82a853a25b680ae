"""Checks, before a training, that both parts of the data have labels of every class."""

import time
import warnings
from collections.abc import Callable

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import DatasetError
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.recipe import Splits

_IGNORED = ("difficult", "crowded")  # keys of flags: such objects are neither trained on nor scored


def check_labels(splits: Splits, *, seconds: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
    """Warns of classes without labels in the training or the validation set; those cannot be learned, or scored.

    seconds: approximate time limit for each part; if not all labels were read by then, nothing is said
    clock: seconds, for tests
    Raises DatasetError if a part has no labels at all: no score could be computed, and no best model chosen.
    """
    n_class = len(splits.label_names)
    parts = (
        ("training", splits.train, "the network cannot learn them"),
        ("validation", splits.val, "the mean of the scores leaves them out"),
    )
    for name, dataset, effect in parts:
        absent = _absent_labels(dataset, n_class, clock() + seconds, clock)
        if absent is None or not absent:
            continue
        if len(absent) == n_class:
            raise DatasetError(
                f"the {name} set has no labels in its {counted(len(dataset), 'image')}",
                expected="objects, classes or labeled pixels, other than difficult or crowded ones",
                hint="other images in its list; cvzoo data split makes lists in which all parts have all classes",
            )
        names = ", ".join(splits.label_names[k] for k in sorted(absent))
        warnings.warn(f"the {name} set has no labels of {names}: {effect}", RuntimeWarning, stacklevel=2)


def _absent_labels(
    dataset: AbstractSliceableDataset, n_class: int, deadline: float, clock: Callable[[], float]
) -> set[int] | None:
    """The labels that no example has; None if that is not known when the time is over."""
    keys = (dataset.keys,) if isinstance(dataset.keys, str) else tuple(dataset.keys)
    if "label" not in keys:
        return None
    wanted = tuple(keys.index(key) for key in ("label", *_IGNORED) if key in keys)
    absent = set(range(n_class))
    for i in range(len(dataset)):
        if not absent:
            break
        if clock() > deadline:
            return None
        label, *flags = (np.asarray(value) for value in dataset.get_example_by_keys(i, wanted))
        for flag in flags:
            label = label[~flag]
        absent.difference_update(np.unique(label).tolist())
    return absent
