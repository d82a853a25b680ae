"""Checks, before a training, that the images and labels of both parts of the data can be read and fit together."""

import time
from collections.abc import Callable

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import CvzooError, DatasetError
from cvzoo.iterators.fetch import example_name
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.recipe import Splits

_SHOWN = 5  # faults of a message


def check_examples(
    splits: Splits,
    *,
    seconds: float = 20.0,
    step: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Reads images with classes or label maps, of both parts, and raises one error with all faults that were found.

    seconds: approximate time limit for each part; of more images that many are examined which fit, at random
    step: called after each example; clock: seconds, for tests
    Faults: an image or label map that cannot be read, a label map of another size than its image, a label that is no
    class, a class without training images.
    Raises DatasetError.
    """
    faults: list[str] = []
    for dataset in (splits.train, splits.val):
        if not {"img", "label"} <= set(dataset.keys):
            return
        deadline = clock() + seconds
        for i in np.random.default_rng(0).permutation(len(dataset)):
            fault = _fault(dataset, int(i), len(splits.label_names))
            if fault is not None:
                faults.append(fault)
            step()
            if clock() > deadline:
                break
    faults = faults or _empty_classes(splits)
    if faults:
        shown = faults if len(faults) <= _SHOWN else [*faults[:_SHOWN], f"and {len(faults) - _SHOWN} more"]
        raise DatasetError(
            f"{counted(len(faults), 'fault')} in the data: {'; '.join(shown)}",
            hint="repair these files, or remove them with their labels; --no-check does not look for faults",
        )


def _fault(dataset: AbstractSliceableDataset, i: int, n_class: int) -> str | None:
    """What is wrong with an example; None: nothing."""
    try:
        img, label = dataset.get_example_by_keys(i, [dataset.keys.index(key) for key in ("img", "label")])
    except (CvzooError, OSError) as error:
        return str(error).partition("\n")[0]
    label = np.asarray(label)
    if label.ndim == 2 and label.shape != img.shape[1:]:
        return f"{example_name(dataset, i)}: the label map is {label.shape}, the image {img.shape[1:]}"
    if label.size and label.max() >= n_class:
        return (
            f"{example_name(dataset, i)}: the label {int(label.max())} is not one of "
            f"{counted(n_class, 'class', 'classes')}"
        )
    return None


def _empty_classes(splits: Splits) -> list[str]:
    """A line for each class of whole images without training images."""
    dataset = splits.train
    key = (dataset.keys.index("label"),)
    absent = set(range(len(splits.label_names)))
    for i in range(len(dataset)):
        label = dataset.get_example_by_keys(i, key)[0]
        if not absent or np.ndim(label):
            return []
        absent.discard(int(label))
    return [f"the class {splits.label_names[k]} has no training images" for k in sorted(absent)]
