import numpy as np
import pytest

from cvzoo.config.randomness import random_generator, set_seed
from cvzoo.datasets import MixUpSoftLabelDataset, SequenceDataset, SiameseDataset, TransformDataset, TupleDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.iterators import MultithreadIterator, SerialIterator


def labelled(labels, value=0.0):
    imgs = [np.full((3, 2, 2), value + i, np.float32) for i in range(len(labels))]
    return TupleDataset(("img", imgs), ("label", np.array(labels, np.int32)))


@pytest.fixture(autouse=True)
def _seed():
    set_seed(0)


@pytest.mark.parametrize(("pos_ratio", "share"), [(1, 1.0), (0, 0.0), (0.25, 0.25)])
def test_pairs_are_of_one_class_as_often_as_wished(pos_ratio, share):
    dataset = labelled([0, 0, 1, 2, 2, 2])
    pairs = SiameseDataset(dataset, dataset, pos_ratio, length=2000)
    assert pairs.keys == ("img_0", "label_0", "img_1", "label_1")
    same = np.mean([pair[1] == pair[3] for pair in pairs])
    assert abs(same - share) < 0.04


def test_pairs_without_a_ratio_are_of_any_two_examples():
    pairs = SiameseDataset(labelled([0, 1]), labelled([5, 6, 7], 10))
    assert len(pairs) == 2
    assert {(int(pairs[0][1]), int(pairs[0][3])) for _ in range(200)} == {(a, b) for a in (0, 1) for b in (5, 6, 7)}
    img_0, label_0, img_1, label_1 = pairs[1]
    assert (img_0[0, 0, 0], img_1[0, 0, 0]) == (label_0, label_1 + 5)


def test_labels_are_read_without_photos():
    class NoPhotos(list):
        def __getitem__(self, index):
            raise AssertionError("an image was read")

    part = TupleDataset(("img", NoPhotos([0, 0])), ("label", np.array([0, 1], np.int32)))
    SiameseDataset(part, part, 0.5)


IMPOSSIBLE = [
    (lambda: SiameseDataset(labelled([0, 1]), labelled([2]), 0.5), ValueRangeError, "no class in common"),
    (lambda: SiameseDataset(labelled([0]), labelled([0, 0]), 0.5), ValueRangeError, "only one class"),
    (lambda: SiameseDataset(labelled([0]), labelled([]), None), ValueRangeError, "empty"),
    (lambda: SiameseDataset(labelled([0]), labelled([0]), 2), ValueRangeError, "pos_ratio"),
    (lambda: SiameseDataset(labelled([0]), labelled([0]), 1, labels_0=[0, 1]), ShapeError, "one integer per example"),
    (lambda: MixUpSoftLabelDataset([], 2, alpha=0), ValueRangeError, "alpha"),
    (lambda: MixUpSoftLabelDataset([(np.zeros(1), 0, np.zeros(2), 1)], 2)[0], ShapeError, "sizes"),
    (lambda: MixUpSoftLabelDataset([(np.zeros(1), 0, np.zeros(1), 2)], 2)[0], ValueRangeError, "out of range"),
]


@pytest.mark.parametrize(("act", "error", "text"), IMPOSSIBLE)
def test_impossible_wishes_are_explained(act, error, text):
    with pytest.raises(error, match=text):
        act()


def test_mixtures_share_photo_and_label_alike():
    pairs = SiameseDataset(labelled([0, 1, 2]), labelled([0, 1, 2], 10))
    mixed = MixUpSoftLabelDataset(pairs, 3)
    assert (len(mixed), mixed.keys) == (3, ("img", "label"))
    for _ in range(20):
        img, label = mixed[0]
        assert (img.dtype, label.dtype, label.shape) == (np.float32, np.float32, (3,))
        assert label.sum() == pytest.approx(1, abs=1e-6)
        assert 0 <= img[0, 0, 0] <= 12
    set_seed(3)
    first = mixed[0]
    set_seed(3)
    np.testing.assert_array_equal(mixed[0][0], first[0])


def test_iterators_make_random_pairs_repeatable():
    mixed = MixUpSoftLabelDataset(SiameseDataset(labelled([0, 1, 2, 3]), labelled([0, 1, 2])), 4)
    one = SerialIterator(mixed, 2, seed=1)
    with MultithreadIterator(mixed, 2, n_threads=2, seed=1) as two:
        for _ in range(6):
            for mine, its in zip(next(one), next(two)):
                np.testing.assert_array_equal(mine[0], its[0])
                np.testing.assert_array_equal(mine[1], its[1])


def test_a_transform_whose_keys_are_found_by_a_look_at_it_draws_as_any_other():
    def jitter(example):
        return example[0] + random_generator().random(), example[1]

    named = TransformDataset(labelled([0, 1, 2]), ("img", "label"), jitter)
    nameless = TransformDataset(labelled([0, 1, 2]), jitter)
    for one, two in zip(next(SerialIterator(named, 3, seed=1)), next(SerialIterator(nameless, 3, seed=1))):
        np.testing.assert_array_equal(one[0], two[0])
    rows = SequenceDataset(named)
    np.testing.assert_array_equal(
        next(SerialIterator(rows, 3, seed=1))[0][0], next(SerialIterator(named, 3, seed=1))[0][0]
    )
