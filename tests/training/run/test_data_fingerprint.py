"""Fingerprints of data sets: the same data give the same, other data give others, in little time."""

import json

import numpy as np
import pytest

from cvzoo.config.randomness import get_random_state, random_generator
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.datasets.sliceable.tuple_dataset import TupleDataset
from cvzoo.training.run.data_fingerprint import data_fingerprint, same_data


def fingerprint(dataset):
    """Of all examples, however slow the machine is."""
    return data_fingerprint(dataset, clock=lambda: 0.0)


def arrays(n=30, change=None):
    xs = np.arange(n * 4, dtype=np.float32).reshape(n, 4)
    if change is not None:
        xs[change] += 1
    return TupleDataset(("img", xs), ("label", np.arange(n, dtype=np.int32)))


class Photos(GetterDataset):
    """Photos that are files; reading one is counted."""

    def __init__(self, folder, n=25):
        super().__init__()
        self.paths = [folder / f"{i}.jpg" for i in range(n)]
        for i, path in enumerate(self.paths):
            path.write_bytes(b"x" * (i + 1))
        self.bboxes = [np.full((i % 3, 4), i, np.float32) for i in range(n)]
        self.read = 0
        self.label_names = ("a", "b")
        self.add_getter("img", self._img)
        self.add_getter("bbox", self.bboxes.__getitem__)
        self.name_examples(self.paths.__getitem__)

    def __len__(self):
        return len(self.paths)

    def _img(self, i):
        self.read += 1
        return np.zeros((3, 2, 2), np.float32)


def test_equal_data_have_equal_fingerprints_that_json_can_hold():
    one, other = fingerprint(arrays()), fingerprint(arrays())
    assert one == other == json.loads(json.dumps(one))
    assert same_data(one, other) is True
    assert one["n_example"] == 30
    assert one["keys"] == ["img", "label"]
    assert list(one["content"]) == ["10", "1"]


@pytest.mark.parametrize(
    "other",
    [
        arrays(change=29),
        arrays(29),
        TupleDataset(("img", np.arange(120.0).reshape(30, 4)), ("label", np.arange(30, dtype=np.int32))),  # float64
        TupleDataset(("photo", arrays().slice[:, "img"]), ("label", np.arange(30, dtype=np.int32))),
        [(np.zeros(4), 1)] * 30,
        [],
    ],
)
def test_other_data_have_others(other):
    assert same_data(fingerprint(arrays()), fingerprint(other)) is False


def test_photos_that_are_files_are_not_read(tmp_path):
    dataset = Photos(tmp_path)
    found = fingerprint(dataset)
    assert dataset.read == 0
    assert len(found["files"]) == 64
    assert found["label_names"] == ["a", "b"]
    assert set(found["content"]) == {"10", "1"}


def test_a_photo_of_another_size_is_noticed_and_another_folder_is_not(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    one, moved, changed = (Photos(folder) for folder in folders)
    changed.paths[7].write_bytes(b"other")
    assert same_data(fingerprint(one), fingerprint(moved)) is True
    assert same_data(fingerprint(one), fingerprint(changed)) is False


def test_a_changed_box_is_noticed(tmp_path):
    dataset = Photos(tmp_path)
    before = fingerprint(dataset)
    dataset.bboxes[23][0, 0] += 1
    assert same_data(before, fingerprint(dataset)) is False


def test_what_takes_too_long_is_looked_at_in_part():
    reads = []

    def slow(x):
        reads.append(0)  # the clock of this test: a read takes a second
        return x

    dataset = TransformDataset(np.arange(1000), "value", slow)
    found = data_fingerprint(dataset, seconds=50, clock=lambda: float(len(reads)))
    assert list(found["content"]) == ["100"]
    assert len(reads) == 10
    more = data_fingerprint(dataset, seconds=101, clock=lambda: float(len(reads)))
    assert list(more["content"]) == ["100", "10"]
    assert len(reads) == 10 + 100
    finer = fingerprint(np.arange(1000))
    assert same_data({**finer, "keys": ["value"]}, found) is True  # by what both have looked at
    other = fingerprint(np.arange(1000) * 2)
    assert same_data({**other, "keys": ["value"]}, found) is False


def test_fingerprints_without_common_content_cannot_be_compared():
    one = fingerprint(arrays())
    other = {**one, "content": {"1000": "0"}}
    assert same_data(one, other) is None
    assert same_data({**one, "content": {}}, {**one, "content": {}}) is True


def test_random_transforms_draw_the_same_and_leave_no_trace():
    dataset = TransformDataset(np.zeros(20), "value", lambda x: x + random_generator().random())
    before = get_random_state()
    one = fingerprint(dataset)
    assert get_random_state() == before
    random_generator().random(7)
    assert fingerprint(dataset) == one


def test_no_two_values_look_alike():
    values = ["1", 1, 1.0, b"1", ["1"], {"1": 1}, None, True, np.int32(1), np.int64(1), np.ones(1), [["1"]]]
    digests = {fingerprint([value])["content"]["1"] for value in values}
    assert len(digests) == len(values)
    assert fingerprint([{"a": 1, "b": 2}]) == fingerprint([{"b": 2, "a": 1}])


def test_every_name_is_asked_for_once():
    class Named(GetterDataset):
        def __init__(self):
            super().__init__()
            self.asked = []
            self.add_getter("label", int)
            self.name_examples(self.named)

        def __len__(self):
            return 1000

        def named(self, i):
            self.asked.append(i)
            return i

    dataset = Named()
    data_fingerprint(dataset, seconds=0, clock=lambda: 0.0)
    assert dataset.asked == list(range(1000))
