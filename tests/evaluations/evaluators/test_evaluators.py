import math
import weakref

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.evaluations.classification.eval_classification import eval_classification
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.eval_detection_coco import eval_detection_coco
from cvzoo.evaluations.eval_keypoint_coco import eval_keypoint_coco
from cvzoo.evaluations.evaluators.classification_evaluator import ClassificationEvaluator
from cvzoo.evaluations.evaluators.detection_coco_evaluator import DetectionCOCOEvaluator
from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
from cvzoo.evaluations.evaluators.instance_segmentation_voc_evaluator import InstanceSegmentationVOCEvaluator
from cvzoo.evaluations.evaluators.keypoint_coco_evaluator import KeypointCOCOEvaluator
from cvzoo.evaluations.evaluators.panoptic_segmentation_evaluator import PanopticSegmentationEvaluator
from cvzoo.evaluations.evaluators.semantic_segmentation_evaluator import SemanticSegmentationEvaluator
from cvzoo.evaluations.voc.eval_detection_voc import eval_detection_voc
from cvzoo.reporting.reporter import Reporter

NAMES = ("cat", "dog", "fox")


class Recorded:
    """A model that gives for photo i, whose pixels all are i, what was written down for it."""

    def __init__(self, *lists):
        self.lists = lists
        self.sizes = []

    def predict(self, imgs):
        self.sizes.append(len(imgs))
        at = [int(img[0, 0, 0]) for img in imgs]
        found = tuple([each[i] for i in at] for each in self.lists)
        return found if len(found) > 1 else found[0]


def photos(n):
    return [np.full((3, 4, 5), i, np.float32) for i in range(n)]


def batches(examples, size):
    return [examples[start : start + size] for start in range(0, len(examples), size)]


def boxes(rng, n, *, with_score):
    low = rng.uniform(0, 60, (n, 2))
    bbox = np.concatenate((low, low + rng.uniform(5, 40, (n, 2))), axis=1).astype(np.float32)
    label = rng.integers(0, 3, n).astype(np.int32)
    return (bbox, label, rng.random(n).astype(np.float32)) if with_score else (bbox, label)


@pytest.fixture
def scenes():
    """Seven photos: what is there, and what was found (jittered, some lost, some made up)."""
    rng = np.random.default_rng(5)
    truths, found = [], []
    for _ in range(7):
        bbox, label = boxes(rng, int(rng.integers(0, 6)), with_score=False)
        keep = rng.random(len(bbox)) < 0.8
        more = boxes(rng, 2, with_score=True)
        jittered = bbox[keep] + rng.normal(0, 1, (int(keep.sum()), 4)).astype(np.float32)
        truths.append((bbox, label, rng.random(len(bbox)) < 0.2))
        found.append(
            (
                np.concatenate((jittered, more[0])),
                np.concatenate((label[keep], more[1])),
                np.concatenate((rng.random(int(keep.sum())).astype(np.float32), more[2])),
            )
        )
    return truths, found


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("use_07_metric", [False, True])
def test_voc_numbers_are_those_of_the_function_however_ragged_the_batches(scenes, size, use_07_metric):
    truths, found = scenes
    model = Recorded(*zip(*found))
    examples = [(img, *truth) for img, truth in zip(photos(7), truths)]
    evaluator = DetectionVOCEvaluator(batches(examples, size), model, use_07_metric=use_07_metric, label_names=NAMES)
    result = evaluator()
    expected = eval_detection_voc(*zip(*found), *zip(*truths), use_07_metric=use_07_metric)
    assert result["main/map"] == expected["map"]
    assert [result[f"main/ap/{name}"] for name in NAMES] == pytest.approx(expected["ap"], abs=0, nan_ok=True)
    assert model.sizes[-1] == (7 % size or size)
    assert evaluator.result.n_photo == 7


@pytest.mark.parametrize("size", [1, 2, 7])
def test_coco_numbers_are_those_of_the_function(scenes, size):
    truths, found = scenes
    areas = [np.prod(bbox[:, 2:] - bbox[:, :2], axis=1) * 0.8 for bbox, _, _ in truths]
    examples = [(img, bbox, label, area, crowd) for img, (bbox, label, crowd), area in zip(photos(7), truths, areas)]
    result = DetectionCOCOEvaluator(batches(examples, size), Recorded(*zip(*found)), label_names=NAMES)()
    expected = eval_detection_coco(
        *zip(*found), [t[0] for t in truths], [t[1] for t in truths], areas, [t[2] for t in truths]
    )
    for key in expected:
        if key.startswith(("map/", "mar/")):
            np.testing.assert_equal(result[f"main/{key}"], expected[key])
        if key.startswith(("ap/", "ar/")):
            np.testing.assert_equal([result[f"main/{key}/{name}"] for name in NAMES], expected[key])
    assert "main/map/iou=0.50:0.95/area=small/max_dets=100" in result


def test_coco_numbers_of_keypoints_are_those_of_the_function(scenes):
    truths, found = scenes
    parameters = COCOParameters("keypoints", kpt_oks_sigmas=[0.1, 0.2])
    # the corners of the boxes are their keypoints; of each third object only one is labeled
    corners = [[bbox.reshape(-1, 2, 2) for bbox, *_ in each] for each in (found, truths)]
    visibles = [np.stack([np.ones(len(t[0]), bool), np.arange(len(t[0])) % 3 > 0], axis=1) for t in truths]
    areas = [np.prod(bbox[:, 2:] - bbox[:, :2], axis=1) for bbox, *_ in truths]
    bboxes, labels, crowds = zip(*truths)
    columns = (corners[1], visibles, bboxes, labels, areas, crowds)
    model = Recorded(corners[0], [label for _, label, _ in found], [score for *_, score in found])
    examples = list(zip(photos(7), *columns))
    result = KeypointCOCOEvaluator(batches(examples, 2), model, label_names=NAMES, parameters=parameters)()
    expected = eval_keypoint_coco(*model.lists, *columns, parameters=parameters)
    key = "map/iou=0.50:0.95/area=all/max_dets=20"
    assert 0 < result[f"main/{key}"] == expected[key]
    np.testing.assert_equal(
        [result[f"main/ap/{key.removeprefix('map/')}/{name}"] for name in NAMES],
        expected[f"ap/{key.removeprefix('map/')}"],
    )
    with pytest.raises(ValueRangeError, match="label has no name"):
        KeypointCOCOEvaluator(batches(examples, 2), model, label_names=NAMES[:1], parameters=parameters)()


def test_without_areas_there_are_no_numbers_by_size(scenes):
    truths, found = scenes
    examples = [(img, bbox, label) for img, (bbox, label, _) in zip(photos(7), truths)]
    result = DetectionCOCOEvaluator(batches(examples, 3), Recorded(*zip(*found)))()
    assert sorted(result) == [
        "main/map/iou=0.50/area=all/max_dets=100",
        "main/map/iou=0.50:0.95/area=all/max_dets=100",
        "main/map/iou=0.75/area=all/max_dets=100",
        "main/mar/iou=0.50:0.95/area=all/max_dets=1",
        "main/mar/iou=0.50:0.95/area=all/max_dets=10",
        "main/mar/iou=0.50:0.95/area=all/max_dets=100",
    ]


def mask_scene():
    mask = np.zeros((2, 8, 8), bool)
    mask[0, :4, :4] = mask[1, 4:, 4:] = True
    return mask, np.array([0, 2], np.int32)


@pytest.mark.parametrize("evaluator", [InstanceSegmentationVOCEvaluator, InstanceSegmentationCOCOEvaluator])
def test_perfect_masks_score_one_and_an_absent_class_nothing(evaluator):
    mask, label = mask_scene()
    examples = [(img, mask, label) for img in photos(3)]
    model = Recorded([mask] * 3, [label] * 3, [np.array([0.9, 0.8], np.float32)] * 3)
    result = evaluator(batches(examples, 2), model, label_names=NAMES)()
    means = [value for key, value in result.items() if key.startswith("main/map")]
    assert means == pytest.approx([1.0] * len(means))
    assert all(math.isnan(value) for key, value in result.items() if key.endswith("/dog"))


def test_label_maps_are_scored_over_all_pixels_and_not_by_batch():
    truth = [np.array([[0, 1], [1, -1]]), np.array([[0, 0], [0, 0]]), np.array([[1, 1], [2, 2]])]
    found = [np.array([[0, 1], [0, 2]]), np.array([[0, 0], [0, 1]]), np.array([[1, 1], [2, 0]])]
    examples = list(zip(photos(3), truth))
    result = SemanticSegmentationEvaluator(batches(examples, 2), Recorded(found), label_names=NAMES)()
    assert result["main/pixel_accuracy"] == pytest.approx(8 / 11)
    assert result["main/iou/cat"] == pytest.approx(4 / 7)
    assert result["main/miou"] == pytest.approx((4 / 7 + 3 / 5 + 1 / 2) / 3)
    assert result["main/class_accuracy/fox"] == pytest.approx(1 / 2)
    assert sorted(result)[:3] == ["main/class_accuracy/cat", "main/class_accuracy/dog", "main/class_accuracy/fox"]


@pytest.mark.parametrize("size", [1, 2])
def test_panoptic_quality_of_a_model_of_ones_own(size):
    gt_map = np.array([[5, 5, 7, 7]])
    segments = [{"id": 5, "category_id": 1}, {"id": 7, "category_id": 9}]
    examples = [(img, gt_map, segments) for img in photos(2)]
    model = Recorded([gt_map, np.array([[5, 5, 5, 5]])], [segments, segments[:1]])
    categories = [{"id": 1, "isthing": 1, "name": "cat"}, {"id": 9, "isthing": 0, "name": "sky"}]
    evaluator = PanopticSegmentationEvaluator(batches(examples, size), model, categories=categories)
    result = evaluator()
    assert result["main/pq/cat"] == pytest.approx(1 / 2)  # half of the cat is not enough: one wrong, one missed
    assert result["main/pq/sky"] == pytest.approx(1 / 1.5)
    assert result["main/rq/sky"] == pytest.approx(1 / 1.5)
    assert result["main/pq"] == pytest.approx((result["main/pq/cat"] + result["main/pq/sky"]) / 2)
    assert evaluator.result.tp.tolist() == [1, 1]


@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_a_ragged_last_batch_weighs_what_its_photos_weigh(size):
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(6), 5).astype(np.float32)
    labels = np.array([0, probs[1].argmax(), 2, probs[3].argmax(), 5])
    examples = list(zip(photos(5), labels))
    result = ClassificationEvaluator(batches(examples, size), Recorded(probs))()
    expected = eval_classification(probs, labels)
    assert result["main/accuracy"] == expected["accuracy"]
    assert result["main/top5_accuracy"] == expected["top5_accuracy"]
    assert set(result) == {"main/accuracy", "main/top1_accuracy", "main/top5_accuracy", "main/mean_class_accuracy"}


def test_states_of_workers_merge_to_the_same_numbers(scenes):
    truths, found = scenes
    examples = [(img, *truth) for img, truth in zip(photos(7), truths)]
    model = Recorded(*zip(*found))
    alone = DetectionVOCEvaluator(batches(examples, 2), model, label_names=NAMES)
    one = DetectionVOCEvaluator(batches(examples[:4], 2), model, label_names=NAMES)
    other = DetectionVOCEvaluator(batches(examples[4:], 2), model, label_names=NAMES)
    state = one.accumulate()
    state.merge(other.accumulate())
    np.testing.assert_equal(one.report(state), alone())


class Counting:
    """An iterator that must be reset before it gives its batches again."""

    def __init__(self, examples):
        self.examples, self.left, self.n_reset = examples, [], 0

    def reset(self):
        self.left = batches(self.examples, 2)
        self.n_reset += 1

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        return self.left.pop(0)


def test_an_evaluator_runs_again_and_again(scenes):
    truths, found = scenes
    it = Counting([(img, *truth) for img, truth in zip(photos(7), truths)])
    evaluator = DetectionVOCEvaluator(it, Recorded(*zip(*found)))
    assert evaluator() == evaluator()
    assert it.n_reset == 2


class Trainer:
    def __init__(self):
        self.observation = {"main/loss": 1.0}


def test_a_trainers_observation_gets_the_scores_under_validation(scenes):
    truths, found = scenes
    it = batches([(img, *truth) for img, truth in zip(photos(7), truths)], 2)
    trainer = Trainer()
    evaluator = DetectionVOCEvaluator(it, Recorded(*zip(*found)))
    result = evaluator(trainer)
    assert trainer.observation == {"main/loss": 1.0} | result
    assert list(result) == ["validation/main/map"]
    evaluator.name = "test"
    assert list(evaluator(trainer)) == ["test/main/map"]


def test_outside_of_a_trainer_the_current_reporter_gets_the_scores(scenes):
    truths, found = scenes
    it = batches([(img, *truth) for img, truth in zip(photos(7), truths)], 2)
    reporter = Reporter()
    with reporter:
        result = DetectionVOCEvaluator(it, Recorded(*zip(*found)))()
    assert reporter.observation == result


def test_the_hook_sees_every_batch_and_nothing_is_kept(scenes):
    truths, found = scenes
    seen = []
    DetectionVOCEvaluator(
        batches([(img, *truth) for img, truth in zip(photos(7), truths)], 3),
        Recorded(*zip(*found)),
        hook=lambda imgs, predicted, truth: seen.append((len(imgs[0]), len(predicted), len(truth))),
    )()
    assert seen == [(3, 3, 3), (3, 3, 3), (1, 3, 3)]


@pytest.mark.parametrize(
    ("example", "says"),
    [
        ((np.zeros((3, 4, 4)),), "1] values"),  # no ground truth
        (np.zeros((3, 4, 4)), "no tuples"),
        ((np.zeros((3, 4, 4)), 1, 2, 3, 4), "5] values"),
    ],
)
def test_an_example_that_does_not_fit_is_refused(example, says):
    with pytest.raises(ShapeError, match=r"examples 0 \.\. 0") as caught:
        DetectionVOCEvaluator([[example]], Recorded([], [], []))()
    assert says in str(caught.value)
    assert "difficult" in str(caught.value)


class Forgetful:
    def predict(self, imgs):
        return [[]], [[]], [[]]


def test_a_model_that_loses_photos_is_refused(scenes):
    truths, _ = scenes
    examples = [(img, *truth) for img, truth in zip(photos(7), truths)]
    with pytest.raises(ShapeError, match="one element per image"):
        DetectionVOCEvaluator(batches(examples, 2), Forgetful())()


@pytest.mark.parametrize("evaluator", [DetectionVOCEvaluator, DetectionCOCOEvaluator])
def test_a_label_without_a_name_is_refused(scenes, evaluator):
    truths, found = scenes
    examples = [(img, *truth[:2]) for img, truth in zip(photos(7), truths)]
    with pytest.raises(ValueRangeError):
        evaluator(batches(examples, 2), Recorded(*zip(*found)), label_names=("cat",))()


def test_no_photos_give_no_number():
    assert math.isnan(DetectionVOCEvaluator([], Recorded([], [], []))()["main/map"])
    assert math.isnan(ClassificationEvaluator([], Recorded([]), label_names=NAMES)()["main/accuracy"])
    with pytest.raises(ValueRangeError, match="n_class"):
        ClassificationEvaluator([], Recorded([]))()


def test_no_photo_of_an_earlier_batch_is_alive_when_the_next_is_read(scenes):
    truths, found = scenes
    alive, n_alive = [], []

    def reading():
        for i, truth in enumerate(truths):
            n_alive.append(sum(photo() is not None for photo in alive))
            img = np.full((3, 4, 5), i, np.float32)
            alive.append(weakref.ref(img))
            batch = [(img, *truth)]
            del img
            yield batch
            del batch

    DetectionVOCEvaluator(reading(), Recorded(*zip(*found)))()
    assert n_alive == [0] * 7
