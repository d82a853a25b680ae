"""Points are the highest places of their maps; a model finds them for every object."""

import dataclasses
import json

import numpy as np
import pytest
from few_steps import losses_of_steps
from zoo_family import family_of

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ImageError, ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.evaluations.eval_keypoint_coco import eval_keypoint_coco
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionSampling
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import (
    KeypointRCNNFPN,
    KeypointRCNNFPNResNet50,
    KeypointRCNNFPNResNet101,
    PointHeadSettings,
    cubic_weights,
    decode_points,
)
from cvzoo.links.model.keypoint_rcnn.loss import KeypointRCNNFPNLoss, point_targets
from cvzoo.optimizers.adam import Adam
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.formats.safetensors import read_safetensors_metadata, write_safetensors

TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)
TINY_HEAD = PointHeadSettings(depth=1, channels=8, roi_size=7)


@pytest.fixture
def model():
    set_seed(0)
    model = KeypointRCNNFPN(1, settings=TINY, point_settings=TINY_HEAD)
    model.score_thresh, model.limit = 0.0, 10
    return model


@pytest.fixture
def photos():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (3, *size)).astype(np.float32) for size in ((50, 70), (40, 40))]


def test_a_peak_is_found_in_the_photo():
    maps = np.zeros((1, 2, 8, 8), np.float32)
    maps[0, 0, 2, 5], maps[0, 1, 7, 0] = 5, 7
    point, score = decode_points(maps, np.array([[100, 200, 116, 232]], np.float32))
    # a place is 2 x 4 pixels; of its pixels the middle one, or one of the middle two
    np.testing.assert_allclose(point[0, 0], [105, 222], atol=1)
    np.testing.assert_allclose(point[0, 1], [115, 202], atol=2)
    assert (score[0] > [4, 6]).all()
    empty = decode_points(maps[:0], np.zeros((0, 4), np.float32))
    assert [part.shape for part in empty] == [(0, 2, 2), (0, 2)]


def test_an_empty_box_has_a_pixel():
    point, _ = decode_points(np.ones((1, 1, 4, 4), np.float32), np.array([[3, 4, 3, 4]], np.float32))
    np.testing.assert_allclose(point[0, 0], [3.5, 4.5])


def test_cubic_weights_keep_sums_and_equal_sizes():
    np.testing.assert_allclose(cubic_weights(7, 20).sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(cubic_weights(5, 5), np.eye(5), atol=1e-6)


def test_results_do_not_depend_on_the_batch(model, photos):
    together = model.predict([*photos, photos[0]])
    points, labels, scores = together
    assert points[0].shape == (10, 17, 2)
    assert points[0].dtype == np.float32
    assert together.point_scores[0].shape == (10, 17)
    for i, img in enumerate(photos):
        alone = model.predict([img])
        np.testing.assert_array_equal(alone.points[0], points[i])
        np.testing.assert_array_equal(alone.scores[0], scores[i])
    assert labels[0].tolist() == [0] * 10
    assert next(model.predict_each(iter(photos))).n_photo == 1
    assert model.predict([]) == ([], [], [])


def test_evaluators_take_the_points(model, photos):
    found = model.predict(photos[:1])
    visible = [np.ones((10, 17), bool)]
    area = [np.full(10, 1000, np.float32)]
    scores = eval_keypoint_coco(*found, found.points, visible, found.bboxes, found.labels, area)
    assert scores["map/iou=0.50:0.95/area=all/max_dets=20"] > 0.5


def test_results_list_draw_and_save_themselves(model, photos, tmp_path):
    found = model.predict(photos)
    records = found.to_records()
    assert json.loads(json.dumps(records)) == records
    assert len(records) == 20
    assert records[0]["points"][0].keys() == {"name", "score", "y", "x"}
    assert records[0]["points"][0]["name"] == "nose"
    assert found.to_records(1) == records[10:]
    assert found.draw(0).shape == photos[0].shape
    found.save(1, tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size
    assert found._repr_png_().startswith(b"\x89PNG")
    assert found._repr_html_().count("<table>") == 2
    assert repr(found).startswith("KeypointDetections of 2 images")
    gone = KeypointDetections(*found, bboxes=found.bboxes, point_scores=found.point_scores)
    assert gone._repr_html_() is None
    with pytest.raises(ImageError):
        gone.draw(0)
    with pytest.raises(ShapeError, match="one element per image"):
        KeypointDetections(*found, bboxes=found.bboxes, point_scores=[])


def test_a_saved_model_is_found_again(model, photos):
    (architecture,) = family_of(KeypointRCNNFPN).architectures
    again = architecture.build(json.loads(json.dumps(architecture.settings(model))), None)
    again.load_arrays(model.state_arrays())
    again.score_thresh, again.limit = model.score_thresh, model.limit
    assert again.point_names == model.point_names
    np.testing.assert_array_equal(again.predict(photos).points[0], model.predict(photos).points[0])


def test_named_constructors_and_members_agree():
    assert isinstance(KeypointRCNNFPNResNet50(1, settings=TINY), KeypointRCNNFPN)
    assert isinstance(KeypointRCNNFPNResNet101(1, settings=TINY), KeypointRCNNFPN)
    assert all(member.task == "keypoints" for member in family_of(KeypointRCNNFPN).members)
    with pytest.raises(ValueRangeError, match="point_names"):
        KeypointRCNNFPN(1, settings=TINY, point_settings=TINY_HEAD, point_names=("nose",))
    with pytest.raises(ValueRangeError, match="PointHeadConfig"):
        PointHeadSettings(n_point=0)


def test_points_have_the_places_that_decoding_finds_again():
    bbox = np.array([[10, 20, 42, 84], [0, 0, 8, 8]], np.float32)
    point = np.array([[[10, 20], [42, 84], [25.9, 51], [9, 30]], [[4, 4], [4, 4], [9, 9], [7.99, 0]]], np.float32)
    visible = np.array([[True, True, True, True], [True, False, True, True]])
    target = point_targets(point, visible, bbox, 8)
    assert target.tolist() == [[0, 63, 3 * 8 + 3, -1], [4 * 8 + 4, -1, -1, 7 * 8]]
    maps = np.zeros((1, 1, 8, 8), np.float32)
    maps.reshape(-1)[target[0, 2]] = 1
    found, _ = decode_points(maps, bbox[:1])
    assert np.abs(found[0, 0] - point[0, 2]).max() < 8
    with pytest.raises(ShapeError, match="one row"):
        point_targets(point[:1], visible, bbox, 8)


def test_a_few_steps_make_the_loss_smaller_and_reach_every_parameter():
    set_seed(0)
    link = KeypointRCNNFPNLoss(
        KeypointRCNNFPN(1, settings=TINY, point_settings=PointHeadSettings(n_point=2, depth=1, channels=8, roi_size=7)),
        sampling=RegionSampling(n_anchor=32, n_region=16, n_proposal=50),
    )
    x = np.random.default_rng(0).standard_normal((2, 3, 64, 96)).astype(np.float32)
    bbox = np.array([[8, 8, 40, 40]], np.float32)
    point = np.array([[[10, 12], [30, 38]]], np.float32)
    arguments = x, [bbox, bbox], [np.zeros(1, np.int32)] * 2, [point] * 2, [np.ones((1, 2), bool)] * 2
    losses = losses_of_steps(lambda: link(*arguments), Adam(1e-3).setup(link), 8)
    assert losses[-1] < 0.9 * losses[0]
    nothing = x, [bbox[:0]] * 2, [np.zeros(0, np.int32)] * 2, [point[:0]] * 2, [np.ones((0, 2), bool)] * 2
    assert np.isfinite(float(link(*nothing).array))
    with pytest.raises(ShapeError, match="one row per box"):
        link(*arguments[:3], [point[:0]] * 2, arguments[4])


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("gone", ["HEAD/convs/0/conv/W", "HEAD/out/b", "regions/extractor/conv1/conv/W"])
def test_a_damaged_file_is_refused_by_name(gone, told, model, tmp_path):
    path, gone = tmp_path / "m.safetensors", gone.replace("HEAD", "point_head")
    save_model(path, model)
    arrays = {name: array for name, array in model.state_arrays().items() if name != gone}
    write_safetensors(path, arrays, metadata=read_safetensors_metadata(path) if told else None)
    small = dataclasses.replace(TINY, min_size=48)
    for n_fg_class, asked in ((1, TINY_HEAD), (2, TINY_HEAD)):
        with pytest.raises(WeightsMismatchError, match=gone):
            KeypointRCNNFPN(n_fg_class, path, settings=small, point_settings=asked)


@pytest.mark.parametrize("told", [True, False])
def test_heads_of_others_start_anew_alone(told, model, tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, model)
    if not told:
        write_safetensors(path, model.state_arrays())
    with pytest.warns(UserWarning, match=r"2 initialized anew: point_head/out/W, point_head/out/b$"):
        KeypointRCNNFPN(1, path, settings=TINY, point_settings=dataclasses.replace(TINY_HEAD, n_point=4))
