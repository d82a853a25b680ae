"""The anchors of recipes, and the settings that they suggest."""

import types

import numpy as np

from cvzoo.links.model.decoding.grid_cells import YoloHead
from cvzoo.serializers import load_model, save_model
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings
from cvzoo.training.run.anchor_reach import anchor_reach


def test_suggested_anchors_of_yolo_v3_are_as_many_a_head_the_largest_ones_first():
    side = np.geomspace(8, 300, 40).astype(np.float32)
    bbox = np.stack([0 * side, 0 * side, side, 2 * side], axis=1)
    recipe = RECIPES["yolo_v3_small"]
    settings = recipe.anchor_settings(bbox)
    heads = with_settings(recipe, settings).model.anchors
    assert [len(head) for head in heads] == [3, 3, 3]
    areas = [[height * width for height, width in head] for head in heads]
    assert min(areas[0]) > max(areas[1]) > min(areas[1]) > max(areas[2])
    assert all(1.8 < width / height < 2.2 for head in heads for height, width in head)


def test_too_few_boxes_suggest_no_anchors_of_yolo_v3():
    assert RECIPES["yolo_v3_small"].anchor_settings(np.array([[0, 0, 9, 9]], np.float32)) == {}


def test_shapes_alone_are_compared_where_the_loss_does_so():
    model = types.SimpleNamespace(heads=[YoloHead(each, 1) for each in RECIPES["yolo_v3"].model.anchors])
    anchors = RECIPES["yolo_v3"].anchors(model)
    height, width = RECIPES["yolo_v3"].model.anchors[0][0]
    far = np.array([[3, 5, 3 + height, 5 + width]], np.float32)  # nowhere near the center of a cell
    img = np.zeros((3, 416, 416), np.float32)
    reach = anchor_reach([(img, far, np.zeros(1, np.int32))], anchors, label_names=["a"])
    assert reach["mean_iou"] > 0.999


def test_anchors_of_the_command_line_are_in_the_model_file(tmp_path):
    words = {"model.anchor_sizes": "[[9],[18],[36],[72],[144]]", "model.anchor_ratios": "0.25,1,4", "model.n_layer": 10}
    recipe = with_settings(RECIPES["retinanet_resnet18_small"], words)
    model = recipe.build_model(["a"])
    save_model(tmp_path / "model.safetensors", model)
    found = load_model(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(found.anchors((96, 64)), model.anchors((96, 64)))
    assert found.config.anchor_ratios == (0.25, 1, 4)
