"""The keypoints of a Keypoint R-CNN's recipe are those of its data."""

import dataclasses

import numpy as np
import pytest

from cvzoo.datasets.keypoint_splits import KeypointSplits
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.parameters import OKS_SIGMAS
from cvzoo.links.model.keypoint_rcnn.weights import COCO_POINT_NAMES
from cvzoo.training.recipes.keypoint_rcnn_recipe import KEYPOINT_RCNN_RECIPES

RECIPE = KEYPOINT_RCNN_RECIPES["keypoint_rcnn_fpn_resnet50"]


class Images:
    """A data set whose examples are not asked for."""

    def __init__(self):
        self.slice = self

    def __getitem__(self, index):
        return []


def splits(point_names):
    return KeypointSplits(Images(), Images(), ("person",), tuple(point_names))


def test_the_data_decide_the_keypoints():
    recipe = RECIPE.with_splits(splits(["beak", "left_wing", "right_wing"]))
    assert (recipe.head.n_point, recipe.point_names) == (3, ("beak", "left_wing", "right_wing"))
    assert recipe.with_splits(splits(recipe.point_names)) == recipe
    with pytest.raises(ConfigError, match="other keypoints"):
        recipe.with_splits(splits(["beak"]))


def test_coco_s_keypoints_are_scored_by_coco_s_sigmas_and_others_by_the_recipe_s():
    coco, birds = splits(COCO_POINT_NAMES), splits(["beak", "tail"])
    own = dataclasses.replace(RECIPE, oks_sigma=0.1)
    for data, sigmas in ((coco, OKS_SIGMAS), (birds, [0.1, 0.1])):
        evaluator = own.with_splits(data).evaluator(None, data)
        np.testing.assert_array_equal(evaluator.parameters.kpt_oks_sigmas, sigmas)
