"""The check of the labels of both parts of the data."""

import warnings

import numpy as np
import pytest

from cvzoo.datasets import ClassSplits, TupleDataset
from cvzoo.errors import DatasetError
from cvzoo.training.recipes.check_labels import check_labels

NAMES = ("disc", "square")
BOTH = [[0, 1], [0]]


def splits(train, val, *flags):
    """Of detection: labels of each image; flags: of the validation set's objects."""

    def part(labels, *more):
        columns = [[np.array(each, np.int32) for each in labels], *([np.array(f, bool) for f in each] for each in more)]
        keys = ("label", "difficult")[: len(columns)]
        return TupleDataset(*zip(keys, columns))

    return ClassSplits(part(train), part(val, *flags), NAMES)


def test_nothing_is_said_of_data_with_all_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_labels(splits(BOTH, BOTH))


@pytest.mark.parametrize(("train", "val", "part"), [([[], []], BOTH, "training"), (BOTH, [[], [], []], "validation")])
def test_a_part_without_labels_is_an_error(train, val, part):
    with pytest.raises(DatasetError, match=f"the {part} set has no labels in its [23] images"):
        check_labels(splits(train, val))


def test_a_class_that_is_missing_is_named():
    with pytest.warns(RuntimeWarning, match="the validation set has no labels of square: the mean") as warned:
        check_labels(splits(BOTH, [[0], [0, 0]]))
    assert len(warned) == 1
    with pytest.warns(RuntimeWarning, match="the training set has no labels of disc: the network cannot"):
        check_labels(splits([[1]], BOTH))


def test_difficult_objects_do_not_count():
    with pytest.raises(DatasetError, match="validation set has no labels"):
        check_labels(splits(BOTH, BOTH, [[True, True], [True]]))
    with pytest.warns(RuntimeWarning, match="no labels of disc"):
        check_labels(splits(BOTH, BOTH, [[True, False], [True]]))


def test_unlabeled_pixels_are_no_class_and_classes_of_images_are_numbers():
    maps = TupleDataset(("label", [np.array([[-1, 1], [1, -1]])]))
    with pytest.warns(RuntimeWarning, match="training set has no labels of disc"):
        check_labels(ClassSplits(maps, TupleDataset(("label", [np.int32(0), np.int32(1)])), NAMES))


def test_what_takes_too_long_is_not_judged():
    times = iter(range(100))
    check_labels(splits([[], [], [], []], BOTH), seconds=2, clock=lambda: next(times))


def test_a_data_set_of_other_values_is_not_judged():
    part = TupleDataset(("img", [0, 1]))
    check_labels(ClassSplits(part, part, NAMES))
