"""Scores of counts under weights of images are those of copied images."""

import numpy as np
import pytest

from cvzoo.evaluations.classification.eval_classification import eval_classification
from cvzoo.evaluations.comparison.ratios import WeightedAccuracy, WeightedIoU, WeightedPanopticQuality
from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult

WEIGHTS = np.array([2, 0, 1, 3])


def test_iou():
    rng = np.random.default_rng(0)
    gt, pred = rng.integers(0, 3, (2, 4, 5, 6))
    confusions = np.stack([calc_semantic_segmentation_confusion([p], [g], n_class=4) for p, g in zip(pred, gt)])
    counts = np.stack(
        (np.diagonal(confusions, axis1=1, axis2=2), confusions.sum(axis=2), confusions.sum(axis=1)), axis=1
    )
    result = SemanticSegmentationResult((confusions * WEIGHTS[:, None, None]).sum(axis=0))
    expected = [result.miou, result.pixel_accuracy, *result.iou]
    assert WeightedIoU(counts)(WEIGHTS.astype(float)) == pytest.approx(expected, nan_ok=True)


def test_accuracy():
    rng = np.random.default_rng(0)
    probs, label = rng.random((4, 7)), np.array([0, 3, 2, 2])
    probs[2, 2] = 2
    rows = np.repeat(np.arange(4), WEIGHTS)
    expected = eval_classification(probs[rows], label[rows])
    is_top5 = np.argsort(np.argsort(-probs, axis=1), axis=1)[np.arange(4), label] < 5
    found = WeightedAccuracy(label, probs.argmax(axis=1), is_top5, 7)(WEIGHTS.astype(float))
    keys = ("accuracy", "top5_accuracy", "mean_class_accuracy")
    assert found[:3] == pytest.approx([expected[key] for key in keys])
    assert found[4:] == pytest.approx(expected["class_accuracy"], nan_ok=True)


def test_macro_f1_is_the_mean_over_classes_with_images():
    # class 0: 2 of 2 found and one more predicted; class 1: 1 of 2; class 2 is only predicted
    label, pred = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
    assert WeightedAccuracy(label, pred, label == label, 3)(np.ones(4))[3] == pytest.approx((1 + 2 / 3) / 2)


def test_panoptic_quality():
    counts = np.array([[[0.8, 0], [1, 0], [1, 0], [0, 1]], [[0.6, 0.9], [1, 1], [0, 0], [0, 0]]])
    found = WeightedPanopticQuality(counts, np.array([True, False]))(np.array([1.0, 2.0]))
    thing, stuff = (0.8 + 1.2) / (3 + 0.5), 1.8 / 2.5
    assert found == pytest.approx([(thing + stuff) / 2, thing, stuff, thing, stuff])
