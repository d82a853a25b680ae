"""Detection in NumPy against plain loops."""

import numpy as np
import pytest

from cvzoo.backends.detection import Coder, Scoring, frame, unpacked_boxes
from cvzoo.backends.numpy import backend

RNG = np.random.default_rng(0)
WHOLE = frame((100, 200))[None]


def sigmoid(x):
    return 1 / (1 + np.exp(-np.float64(x)))


def softmax(x):
    e = np.exp(np.float64(x))
    return (e / e.sum(axis=-1, keepdims=True))[..., 1:]


SCORES = {
    Scoring.NONE: lambda conf, center: np.float64(conf),
    Scoring.SIGMOID: lambda conf, center: sigmoid(conf),
    Scoring.SIGMOID_FLOAT64: lambda conf, center: sigmoid(conf),
    Scoring.SOFTMAX: lambda conf, center: softmax(conf),
    Scoring.CENTERNESS: lambda conf, center: np.sqrt(sigmoid(conf) * sigmoid(center)),
}


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("limit", [None, 1, 7, 1000])
@pytest.mark.parametrize("scoring", Scoring)
def test_what_is_selected_are_the_best_of_each_part(scoring, limit, per_class):
    n_row, n_class, above = 40, 3, 0.4
    conf = RNG.normal(size=(2, n_row, n_class + (scoring is Scoring.SOFTMAX))).astype(np.float32)
    center = RNG.normal(size=(2, n_row, 1)).astype(np.float32)
    parts, step = [(0, 30 * n_class), (30 * n_class, 10 * n_class)], 1
    if per_class:
        parts, step = [(label, n_row) for label in range(n_class)], n_class
    options = {"n_class": n_class, "limit": limit, "above": above, "step": step, "scoring": scoring}
    selected = backend.select_best(conf, parts, **options, center=center)
    for i in range(2):
        score = SCORES[scoring](conf[i], center[i]).ravel()
        want = []
        for start, count in parts:
            pairs = [pair for pair in range(start, start + count * step, step) if score[pair] > above]
            want += sorted(pairs, key=lambda pair: -score[pair])[:limit]
        assert selected.pairs[i].tolist() == sorted(want)
        np.testing.assert_allclose(selected.scores[i], score[sorted(want)], rtol=1e-6)


def test_of_equal_scores_the_first_are_selected_and_nan_never():
    score = np.float32([[[0.9], [0.5], [np.nan], [0.9], [0.7], [0.5]]])
    selected = backend.select_best(score, [(0, 6)], n_class=1, limit=4, above=0.1)
    assert selected.pairs[0].tolist() == [0, 1, 3, 4]


def test_only_rows_that_count_are_selected():
    conf = np.zeros((2, 3, 2), np.float32)
    options = {"n_class": 1, "limit": None, "above": 0.1, "scoring": Scoring.SOFTMAX}
    selected = backend.select_best(conf, [(0, 3)], **options, counts=np.array([1, 3], np.int32))
    assert [pair.tolist() for pair in selected.pairs] == [[0], [0, 1, 2]]


def decoded(boxes, frames=WHOLE, label=None, **options):
    """The boxes as candidates, the first the best."""
    boxes = np.float32(boxes)[None]
    n_class = 1 if label is None else max(label) + 1
    score = np.zeros((1, boxes.shape[1], n_class), np.float32)
    for k in range(boxes.shape[1]):
        score[0, k, 0 if label is None else label[k]] = 1 - k / 16
    selected = backend.select_best(score, [(0, score.size)], n_class=n_class, limit=None, above=0.0)
    return backend.decode_boxes(selected, boxes, boxes[0], frames=frames, coder=Coder.BOXES, **options)


def test_boxes_are_cut_moved_and_scaled_into_their_image():
    frames = frame((100, 50), cut=(40, 40), offset=(10, 0), divisor=(0.5, 1), factor=(1, 2))[None]
    ((bbox, label, score),) = backend.candidate_boxes(decoded([[-5, 10, 20, 60]], frames))
    np.testing.assert_array_equal(bbox, [[(0 - 10) / 0.5, 20, (20 - 10) / 0.5, 80]])
    assert (bbox.dtype, label.dtype, score.dtype) == (np.float32, np.int32, np.float32)


def test_what_is_not_finite_or_too_small_is_left_out():
    boxes = [[0, 0, 5, 5], [0, np.nan, 5, 5], [0, 0, 5, 0.5], [np.inf, 0, 5, 5], [1, 1, 3, 3]]
    ((bbox, _, _),) = backend.candidate_boxes(decoded(boxes, min_side=1))
    np.testing.assert_array_equal(bbox, [boxes[0], boxes[4]])
    ((bbox, _, _),) = backend.candidate_boxes(decoded(boxes, frame((9, 9), min_side=4)[None]))
    np.testing.assert_array_equal(bbox, [boxes[0]])


def test_boxes_remove_others_of_their_class_only():
    boxes = [[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 9, 10], [50, 50, 60, 60]]
    found = decoded(boxes, label=(0, 1, 0, 1))
    kept, counts = backend.kept_boxes(backend.nms(found, iou_thresh=0.5, limit=None))
    np.testing.assert_array_equal(kept, np.float32([[boxes[0], boxes[1], boxes[3]]]))
    assert counts.tolist() == [3]
    kept, _ = backend.kept_boxes(backend.nms(found, iou_thresh=0.5, limit=None, classwise=False))
    np.testing.assert_array_equal(kept, np.float32([[boxes[0], boxes[3]]]))
    kept, _ = backend.kept_boxes(backend.nms(found, iou_thresh=0.5, limit=2, n_best=2))
    np.testing.assert_array_equal(kept, np.float32([boxes[:2]]))


def test_finished_boxes_are_packed_and_what_lies_beside_the_image_is_dropped():
    kept = backend.nms(decoded([[-50, 0, -1, 9], [90, 190, 110, 210], [5, 5, 9, 9]]), iou_thresh=0.5, limit=None)
    for cut, corner in ((False, [90, 190, 110, 210]), (True, [90, 190, 100, 200])):
        (found,) = unpacked_boxes(backend.finish_boxes(kept, frames=WHOLE, cut=cut))
        np.testing.assert_array_equal(found[0], [corner, [5, 5, 9, 9]])
        assert found[1].tolist() == [0, 0]
        np.testing.assert_array_equal(found[2], np.float32([15 / 16, 14 / 16]))
