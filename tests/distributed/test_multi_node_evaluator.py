"""Ranks that evaluate parts of the data report the scores of one process, to the bit."""

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
import cvzoo.links as L
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_multi_node_evaluator, scatter_dataset
from cvzoo.distributed.structures import from_plain, to_plain
from cvzoo.errors import DtypeError, FileFormatError
from cvzoo.evaluations import (
    ClassificationEvaluator,
    DetectionCOCOEvaluator,
    DetectionVOCEvaluator,
    InstanceSegmentationCOCOEvaluator,
    InstanceSegmentationVOCEvaluator,
    SemanticSegmentationEvaluator,
)
from cvzoo.iterators import SerialIterator
from cvzoo.training.extensions import Evaluator

NAMES = ("cat", "dog", "fox")
N = 7


class Recorded:
    """A model that gives for an image whose pixels all are i what was recorded for it."""

    def __init__(self, *lists):
        self.lists = lists

    def predict(self, imgs):
        at = [int(img[0, 0, 0]) for img in imgs]
        found = tuple([each[i] for i in at] for each in self.lists)
        return found if len(found) > 1 else found[0]


def boxes(rng, n):
    low = rng.uniform(0, 30, (n, 2))
    return np.concatenate((low, low + rng.uniform(5, 20, (n, 2))), axis=1).astype(np.float32)


def masks(bbox):
    y, x = np.mgrid[:60, :60]
    return np.array([(y >= b[0]) & (x >= b[1]) & (y < b[2]) & (x < b[3]) for b in bbox], bool).reshape(-1, 60, 60)


def problems():
    """Name -> (evaluator's class, examples, model): scores in steps of a tenth, so that many are equal."""
    rng = np.random.default_rng(2)
    imgs = [np.full((3, 4, 5), i, np.float32) for i in range(N)]
    truths, found = [], []
    for n in (3, 0, 4, 1, 5, 2, 3):
        bbox, label = boxes(rng, n), rng.integers(0, 3, n).astype(np.int32)
        moved = np.concatenate((bbox + rng.normal(0, 1, bbox.shape), boxes(rng, 2))).astype(np.float32)
        labels = np.concatenate((label, rng.integers(0, 3, 2))).astype(np.int32)
        score = np.sort(rng.integers(0, 10, n + 2) / np.float32(10))[::-1].astype(np.float32)
        truths.append((bbox, label))
        found.append((moved, labels, score))
    boxes_found, labels_found, scores_found = zip(*found)
    in_boxes = [(img, *truth) for img, truth in zip(imgs, truths)]
    in_masks = [(img, masks(bbox), label) for img, bbox, label in in_boxes]
    by_boxes, by_masks = Recorded(*zip(*found)), Recorded([masks(b) for b in boxes_found], labels_found, scores_found)
    maps = rng.integers(-1, 3, (N, 4, 5)).astype(np.int32)
    probs = rng.dirichlet(np.ones(6), N).astype(np.float32)
    return {
        "voc": (DetectionVOCEvaluator, in_boxes, by_boxes),
        "coco": (DetectionCOCOEvaluator, in_boxes, by_boxes),
        "voc masks": (InstanceSegmentationVOCEvaluator, in_masks, by_masks),
        "coco masks": (InstanceSegmentationCOCOEvaluator, in_masks, by_masks),
        "label maps": (SemanticSegmentationEvaluator, list(zip(imgs, maps)), Recorded(rng.integers(0, 3, (N, 4, 5)))),
        "classes": (ClassificationEvaluator, list(zip(imgs, rng.integers(0, 6, N).tolist())), Recorded(probs)),
    }


@on_ranks(1, 2, 3)
def test_scores_are_those_of_one_process_to_the_bit(comm):
    for name, (make, examples, model) in problems().items():
        names = {} if name == "classes" else {"label_names": NAMES}
        expected = make(SerialIterator(examples, 2, repeat=False, shuffle=False), model, **names)()
        for is_padded in (True, False):
            part = scatter_dataset(examples, comm, force_equal_length=is_padded)
            seen = TransformDataset(part, lambda example: example)
            iterator = SerialIterator(seen, 2, repeat=False, shuffle=False)
            evaluator = create_multi_node_evaluator(make(iterator, model, **names), comm)
            for _ in range(2):
                found = evaluator()
                np.testing.assert_equal(found, expected, err_msg=name)
            assert (evaluator.result is not None) == (comm.rank == 0)


@on_ranks(1, 2, 3)
def test_means_are_those_of_all_examples_without_padding(comm):
    rng = np.random.default_rng(0)
    examples = list(zip(rng.normal(size=(N, 4)).astype(np.float32), rng.integers(0, 3, N).astype(np.int32)))
    cvzoo.set_seed(0)
    model = L.Classifier(L.Linear(4, 3))
    expected = Evaluator(SerialIterator(examples, 3, repeat=False, shuffle=False), model)()
    iterator = SerialIterator(scatter_dataset(examples, comm), 2, repeat=False, shuffle=False)
    found = create_multi_node_evaluator(Evaluator(iterator, model), comm)()
    assert found.keys() == expected.keys() == {"main/loss", "main/accuracy"}
    for key, value in found.items():
        assert value == pytest.approx(expected[key], rel=1e-6)


def test_only_objects_of_known_classes_travel():
    plain = to_plain({(1, 2): {3}, "a": [None, (4.5, "b")]})
    assert from_plain(plain) == {(1, 2): {3}, "a": [None, (4.5, "b")]}
    with pytest.raises(DtypeError, match="an object of type Recorded cannot be sent"):
        to_plain([Recorded()])
    for kind in (["subprocess", "Popen"], ["cvzoo.evaluations.pairs", "np"], ["cvzoo.evaluations.absent", "A"]):
        with pytest.raises(FileFormatError, match="an object of an unknown class"):
            from_plain(["object", kind, []])
    with pytest.raises(FileFormatError, match="malformed: 'eval'"):
        from_plain(["eval", [], []])
