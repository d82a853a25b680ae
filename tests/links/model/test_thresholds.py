"""Score thresholds of classes: presets, files, and what `predict` gives."""

import json

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.export import export_onnx
from cvzoo.links import AugmentedPredictor, ResNet18, TiledPredictor
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN, PointHeadSettings
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset, stored_presets, threshold_settings
from cvzoo.serializers.model_file import load_model, save_model

NAMES = ("cat", "dog", "cow")
TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=20
)
HEAD = {"depth": 1, "channels": 8, "roi_size": 7}
MAKERS = {
    "boxes": lambda: RetinaNet(
        label_names=NAMES, settings=RetinaNetSettings(n_layer=10, channels=16, min_size=64, max_size=96)
    ),
    "masks": lambda: MaskRCNNFPN(label_names=NAMES, settings=TINY, mask_settings=MaskHeadSettings(**HEAD)),
    "keypoints": lambda: KeypointRCNNFPN(label_names=NAMES, settings=TINY, point_settings=PointHeadSettings(**HEAD)),
}


@pytest.fixture
def imgs():
    return list(np.random.default_rng(0).uniform(0, 255, (2, 3, 48, 64)).astype(np.float32))


@pytest.mark.parametrize("name", MAKERS)
def test_each_class_has_its_own_threshold(name, imgs):
    set_seed(0)
    model = MAKERS[name]()
    model.score_thresh = 0.0
    found = model.predict(imgs)
    labels, scores = (np.concatenate(each) for each in (found.labels, found.scores))
    assert len(set(labels.tolist())) > 1
    of_classes = tuple(float(np.median(scores[labels == l])) if (labels == l).any() else 0.5 for l in range(3))
    model.add_preset("deploy", ClassPreset(model.nms_thresh, 0.0, of_classes))
    with model.using_preset("deploy"):
        kept = model.predict(imgs)
        one_by_one = list(model.predict_each(imgs))
    by_argument = model.predict(imgs, score="deploy")
    np.testing.assert_array_equal(np.concatenate(by_argument.scores), np.concatenate(kept.scores))
    lazily = [each.scores[0] for each in model.predict_each(imgs, score="deploy")]
    np.testing.assert_array_equal(np.concatenate(lazily), np.concatenate(kept.scores))
    assert model.class_score_thresh is None  # for the call only
    assert model.class_score_thresh is None
    for i in range(2):
        rows = scores_above(found.labels[i], found.scores[i], of_classes)
        assert 0 < rows.sum() < len(rows)
        assert kept.labels[i].tolist() == found.labels[i][rows].tolist()
        assert kept.scores[i].tolist() == found.scores[i][rows].tolist()
        assert kept.bboxes[i].tolist() == found.bboxes[i][rows].tolist()
        assert one_by_one[i].scores[0].tolist() == kept.scores[i].tolist()


@pytest.mark.parametrize("name", MAKERS)
def test_a_prediction_without_a_score_assigns_nothing(name, imgs):
    model = MAKERS[name]()
    model.predict(imgs)
    before = model.change_counts()
    model.predict(imgs)
    list(model.predict_each(imgs))
    assert model.change_counts() == before


def scores_above(label, score, thresholds):
    return score > np.array(thresholds)[label]


def test_a_model_file_keeps_them(tmp_path):
    model = MAKERS["boxes"]()
    model.add_preset("deploy", ClassPreset(0.4, 0.1, (0.1, 0.2, 0.3)))
    save_model(tmp_path / "m.safetensors", model)
    again = load_model(tmp_path / "m.safetensors")
    assert dict(again.presets) == dict(model.presets)
    again.use_preset("deploy")
    assert (again.nms_thresh, again.score_thresh, again.class_score_thresh) == (0.4, 0.1, (0.1, 0.2, 0.3))
    # the class itself and other models have none
    assert "deploy" not in RetinaNet.presets


def test_a_model_of_other_classes_that_begins_with_the_file_has_none(tmp_path):
    model = MAKERS["boxes"]()
    model.add_preset("deploy", ClassPreset(0.4, 0.1, (0.1, 0.2, 0.3)))
    save_model(tmp_path / "m.safetensors", model)
    with pytest.warns(UserWarning, match="initialized anew"):
        other = RetinaNet(pretrained_model=str(tmp_path / "m.safetensors"), label_names=("screw", "nail"))
    assert "deploy" not in other.presets
    assert other.presets["visualize"] == model.presets["visualize"]


def test_json_has_pairs_as_before_and_a_third_element_with_thresholds_of_classes():
    model = AbstractThresholds()
    model.add_preset("deploy", ClassPreset(0.4, 0.1, (0.1, 0.2)))
    settings = json.loads(json.dumps(threshold_settings(model)))
    assert settings["presets"]["visualize"] == [0.5, 0.5]
    assert settings["presets"]["deploy"] == [0.4, 0.1, [0.1, 0.2]]
    assert stored_presets(settings) == model.presets
    for wrong in ([0.4], [0.4, 0.1, 0.2], [0.4, 0.1, ["a"]], [0.4, 0.1, [0.1], 0.2]):
        with pytest.raises(ValueRangeError):
            stored_presets({"presets": {"deploy": wrong}})


def test_a_missing_preset_and_a_missing_class_are_said(imgs):
    model = MAKERS["boxes"]()
    with pytest.raises(ValueRangeError, match="cvzoo evaluate --find-thresholds"):
        model.use_preset("deploy")
    model.class_score_thresh, model.score_thresh = (), 0.0
    with pytest.raises(ValueRangeError, match="a threshold for each class"):
        model.predict(imgs)


def test_onnx_files_refuse_them(tmp_path):
    model = MAKERS["boxes"]()
    model.class_score_thresh = (0.1, 0.2, 0.3)
    with pytest.raises(UnsupportedError, match="score thresholds of classes"):
        export_onnx(tmp_path / "m.onnx", model, boxes=True)


def test_score_is_a_preset_or_a_minimum_for_one_call(imgs):
    set_seed(0)
    model = MAKERS["boxes"]()
    model.use_preset("evaluate")
    everything = model.predict(imgs, score=0)
    middle = float(np.median(np.concatenate(everything.scores)))
    some = model.predict(imgs, score=middle)
    assert 0 < len(np.concatenate(some.scores)) < len(np.concatenate(everything.scores))
    assert min(np.concatenate(some.scores)) > middle
    assert model.score_thresh == model.presets["evaluate"].score_thresh
    lazy = model.predict_each(imgs, score=0)
    next(lazy)
    assert model.score_thresh == model.presets["evaluate"].score_thresh  # also while a generator is suspended
    for make in (TiledPredictor, AugmentedPredictor):
        found = make(model).predict(imgs, score=middle)
        assert all(score > middle for score in np.concatenate(found.scores))
    with pytest.raises(ValueRangeError, match="there is no such preset"):
        model.predict(imgs, score="deploy")
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueRangeError, match="score must be"):
            model.predict(imgs, score=wrong)


def test_score_of_a_classifiers_views_is_refused():
    with pytest.raises(UnsupportedError, match="score= applies to detectors"):
        AugmentedPredictor(ResNet18(n_class=2)).predict([], score="deploy")


def test_thresholds_of_classes_apply_to_merged_views(imgs):
    set_seed(0)
    model = MAKERS["boxes"]()
    model.score_thresh = 0.0
    found = AugmentedPredictor(model).predict(imgs)
    labels, scores = (np.concatenate(each) for each in (found.labels, found.scores))
    model.class_score_thresh = tuple(
        float(np.median(scores[labels == l])) if (labels == l).any() else 0.5 for l in range(3)
    )
    kept = AugmentedPredictor(model).predict(imgs)
    for label, score in zip(kept.labels, kept.scores):
        assert (score > np.array(model.class_score_thresh)[label]).all()
