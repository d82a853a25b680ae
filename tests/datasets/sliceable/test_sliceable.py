import functools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.concatenated_dataset import ConcatenatedDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.sliceable.sub_dataset import (
    SubDataset,
    get_cross_validation_datasets,
    get_cross_validation_datasets_random,
    split_dataset,
    split_dataset_n,
    split_dataset_n_random,
    split_dataset_random,
)
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.datasets.sliceable.tuple_dataset import TupleDataset
from cvzoo.errors.exceptions import DtypeError, ExampleError, ExampleIndexError, ShapeError, ValueRangeError


class Counted(GetterDataset):
    """img is 100 + i, bbox 200 + i, label 300 + i; bbox and label come from one getter. Says which getters ran."""

    def __init__(self, n=10):
        super().__init__()
        self.n = n
        self.calls = []
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label"), self._get_annotation)

    def __len__(self):
        return self.n

    def name(self, index):
        return f"{index}.jpg"

    def _get_img(self, i):
        self.calls.append(f"img {i}")
        return 100 + i

    def _get_annotation(self, i):
        self.calls.append(f"annotation {i}")
        return 200 + i, 300 + i


@pytest.fixture
def dataset():
    return Counted()


def test_an_example_is_a_tuple_in_the_order_of_the_keys(dataset):
    assert dataset.keys == ("img", "bbox", "label")
    assert dataset[3] == (103, 203, 303)
    assert dataset[-1] == (109, 209, 309)
    assert dataset[np.int64(2)] == dataset.get_example(2)


def test_a_getter_of_two_keys_runs_once_an_example(dataset):
    dataset[3]
    assert dataset.calls == ["img 3", "annotation 3"]


def test_slices_and_lists_of_examples_give_lists(dataset):
    assert dataset[2:4] == [dataset[2], dataset[3]]
    assert dataset[[4, -10]] == [dataset[4], dataset[0]]
    assert dataset[np.arange(10) > 8] == [dataset[9]]
    assert len(list(dataset)) == 10


def test_a_view_reads_nothing_until_asked_and_only_what_its_keys_need(dataset):
    view = dataset.slice[:100, ("label", "bbox")]
    assert dataset.calls == []
    assert (len(view), view.keys, view[5]) == (10, ("label", "bbox"), (305, 205))
    assert dataset.calls == ["annotation 5"]


ROWS = [
    (slice(2, 8, 3), [2, 5]),
    (slice(None, None, -1), list(range(9, -1, -1))),
    ([7, 1, 1, -1], [7, 1, 1, 9]),
    (np.array([3], np.uint8), [3]),
    ([True] * 2 + [False] * 8, [0, 1]),
    (range(4, 0, -2), [4, 2]),
    ([], []),
    (slice(5, 5), []),
]


@pytest.mark.parametrize(("rows", "expected"), ROWS, ids=str)
def test_rows_are_chosen_by_slices_integers_and_booleans(dataset, rows, expected):
    assert [label - 300 for label in dataset.slice[rows, "label"]] == expected


KEYS = [
    ("label", "label", 301),
    (0, "img", 101),
    (-1, "label", 301),
    (("label",), ("label",), (301,)),
    ((0, "bbox"), ("img", "bbox"), (101, 201)),
    ((True, False, True), ("img", "label"), (101, 301)),
    ((), (), ()),
    (slice(1, None), ("bbox", "label"), (201, 301)),
]


@pytest.mark.parametrize(("keys", "names", "example"), KEYS, ids=str)
def test_keys_are_chosen_by_names_numbers_and_booleans(dataset, keys, names, example):
    view = dataset.slice[:, keys]
    assert (view.keys, view[1]) == (names, example)


@given(st.data())
def test_a_view_of_a_view_is_what_lists_say(data):
    dataset, rows = Counted(), list(range(10))
    view = dataset.slice[:]
    part = st.one_of(st.none(), st.integers(-12, 12))
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            step = data.draw(st.sampled_from([None, 1, 2, 3, -1, -2]))
            chosen = slice(data.draw(part), data.draw(part), step)
            rows = rows[chosen]
        else:
            mask = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
            chosen, rows = mask, [row for row, kept in zip(rows, mask) if kept]
        view = view.slice[chosen]
    assert [example[2] - 300 for example in view] == rows
    assert view._dataset is dataset


def test_a_single_key_stays_single_through_views(dataset):
    view = dataset.slice[2:, "img"].slice[1:]
    assert (view.keys, view[0], view.slice[0:1, "img"][0]) == ("img", 103, 103)


BAD = [
    (lambda d: d[10], ExampleIndexError, "index 10 is out of range"),
    (lambda d: d[-11], IndexError, "index -11 is out of range"),
    (lambda d: d["img"], DtypeError, "integer"),
    (lambda d: d[1.0], DtypeError, "integer"),
    (lambda d: d.slice[3], ShapeError, "dataset[i] for a single example"),
    (lambda d: d.slice[[10]], ExampleIndexError, "index 10"),
    (lambda d: d.slice[[True]], ShapeError, "one value per example"),
    (lambda d: d.slice[[0.5]], DtypeError, "float64"),
    (lambda d: d.slice[:, "lable"], ValueRangeError, "img, bbox, label"),
    (lambda d: d.slice[:, 1.5], DtypeError, "names or indices"),
    (lambda d: d.slice[:, 3], ValueRangeError, "the data set has no key"),
    (lambda d: d.slice[:, (True,)], ShapeError, "one value per key"),
    (lambda d: d.slice[:, 0, 1], ValueRangeError, "rows and keys"),
    (lambda d: d.add_getter("img", len), ValueRangeError, "not exist yet"),
    (lambda d: TransformDataset(d, ("img",), 3), DtypeError, "callable"),
    (lambda d: TransformDataset(d, ("a", "b"), lambda e: e)[0], ShapeError, "a tuple of a, b"),
    (lambda d: ConcatenatedDataset(), ValueRangeError, "at least one data set"),
    (lambda d: ConcatenatedDataset(d, d.slice[:, ("img",)]), ShapeError, "common ones"),
    (lambda d: TupleDataset(), ValueRangeError, "at least one data set"),
    (lambda d: TupleDataset(d, [1]), ShapeError, "different lengths"),
    (lambda d: TupleDataset(d, ("img", [0] * 10)), ValueRangeError, "duplicate keys"),
    (lambda d: SubDataset(d, 3, 11), ValueRangeError, "0 .. 10"),
    (lambda d: SubDataset(d, 0, 2, [1, 0]), ShapeError, "every example"),
    (lambda d: get_cross_validation_datasets(d, 1), ValueRangeError, "2 .. 10"),
]


@pytest.mark.parametrize(("act", "error", "text"), BAD)
def test_bad_use_is_explained(dataset, act, error, text):
    with pytest.raises(error) as caught:
        act(dataset)
    assert text in str(caught.value)


def test_a_getter_that_gives_too_few_values_is_named():
    class Short(Counted):
        def __init__(self):
            super().__init__()
            self.add_getter(("a", "b"), lambda i: (1,))

    with pytest.raises(ShapeError, match="Short"):
        Short()[0]


def test_keys_can_be_set_to_what_is_wanted(dataset):
    dataset.keys = ("label", "img")
    assert dataset[0] == (300, 100)
    dataset.keys = "bbox"
    assert (dataset[0], dataset.slice[1:2][0]) == (200, 201)


def test_a_transform_is_applied_to_whole_examples(dataset):
    doubled = TransformDataset(dataset, ("img", "label"), lambda example: (example[0] * 2, example[2]))
    assert (doubled.keys, doubled[1], doubled.slice[:, "label"][1]) == (("img", "label"), (202, 301), 301)
    single = TransformDataset(dataset, "sum", sum)
    assert (single.keys, single[0], single.slice[2:3][0]) == ("sum", 600, 606)


def unpacks_two(example):
    one, two = example
    return one, two


class UnpacksTwo:
    def __call__(self, example):
        return unpacks_two(example)


@pytest.mark.parametrize(
    ("transform", "name"),
    [(unpacks_two, "unpacks_two"), (UnpacksTwo(), "UnpacksTwo"), (functools.partial(unpacks_two), "unpacks_two")],
)
def test_a_transform_that_fails_is_named_with_the_example_and_its_values(transform, name):
    data = TupleDataset(("img", np.zeros(3)), ("bbox", np.zeros(3)), ("label", np.zeros(3)))
    with pytest.raises(ExampleError) as caught:
        TransformDataset(data, ("img", "bbox"), transform)[2]
    first, second = str(caught.value).splitlines()
    assert first == f"the transform {name} failed on example 2: ValueError: too many values to unpack (expected 2)"
    assert second.endswith("an example of img, bbox, label")
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ExampleError, match="failed on example 0"):
        TransformDataset(data, transform).keys  # noqa: B018


def test_a_transform_without_keys_keeps_names_where_they_fit(dataset):
    assert TransformDataset(dataset, lambda e: e).keys == dataset.keys
    assert TransformDataset(dataset, lambda e: e[:2]).keys == ("value_0", "value_1")
    assert TransformDataset([3, 4], lambda e: e + 1)[1] == 5
    assert dataset.calls == ["img 0", "annotation 0"] * 2


def test_concatenated_examples_follow_each_other(dataset):
    both = ConcatenatedDataset(dataset, Counted(0), Counted(3))
    assert len(both) == 13
    assert both[9] == dataset[9]
    assert both[10] == (100, 200, 300)
    assert both.slice[-1:, "label"][0] == 302
    assert [both.name(i) for i in (9, 10, 12)] == ["9.jpg", "0.jpg", "2.jpg"]
    assert ConcatenatedDataset([1, 2], [3])[2] == 3


def test_parts_stand_side_by_side(dataset):
    joined = TupleDataset(dataset, ("weight", np.arange(10) / 2), list("abcdefghij"))
    assert joined.keys == ("img", "bbox", "label", "weight", "value_2")
    assert joined[4] == (104, 204, 304, 2.0, "e")
    dataset.calls.clear()
    assert joined.slice[4:5, ("value_2", "label")][0] == ("e", 304)
    assert dataset.calls == ["annotation 4"]
    assert TupleDataset([1], [2])[0] == (1, 2)


def test_splits_hold_every_example_once(dataset):
    first, rest = split_dataset_random(dataset, 4, seed=0)
    assert sorted([e[2] for e in first] + [e[2] for e in rest]) == list(range(300, 310))
    assert first[:] == split_dataset_random(dataset, 4, seed=0)[0][:]
    assert first[:] != split_dataset_random(dataset, 4, seed=1)[0][:]
    assert split_dataset(dataset, 2)[0].slice[:, "img"][:] == [100, 101]
    assert SubDataset(dataset, 1, 3, np.arange(10)[::-1]).name(0) == "8.jpg"


def test_equal_parts_leave_a_rest_out():
    parts = split_dataset_n(list(range(11)), 3)
    assert [part[:] for part in parts] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    drawn = [part[:] for part in split_dataset_n_random(list(range(11)), 3, seed=0)]
    assert [len(part) for part in drawn] == [3, 3, 3]
    assert len({each for part in drawn for each in part}) == 9
    assert drawn == [part[:] for part in split_dataset_n_random(list(range(11)), 3, seed=0)]
    with pytest.raises(ValueRangeError, match="n must be positive"):
        split_dataset_n([1, 2], 0)


def test_folds_test_every_example_once(dataset):
    for folds in (get_cross_validation_datasets(dataset, 3), get_cross_validation_datasets_random(dataset, 3, seed=2)):
        assert sorted(len(test) for _, test in folds) == [3, 3, 4]
        assert sorted(e[2] for _, test in folds for e in test) == list(range(300, 310))
        for train, test in folds:
            assert not {e[2] for e in train} & {e[2] for e in test}


def test_names_and_pickles_pass_through_views(dataset):
    view = TransformDataset(SubDataset(dataset, 2, 8), sorted).slice[1:]
    assert view.name(0) == "3.jpg"
    again = pickle.loads(pickle.dumps(dataset.slice[3:, "img"]))
    assert again[0] == 103


def test_the_interface_cannot_be_made():
    with pytest.raises(TypeError):
        AbstractSliceableDataset()
