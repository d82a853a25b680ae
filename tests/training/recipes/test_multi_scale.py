"""Sizes that are drawn for each batch, and objects that are pasted from other images."""

import numpy as np
import pytest
from drawn_data import boxes, classes, masks

from cvzoo.datasets import bbox_splits
from cvzoo.errors import ConfigError, DatasetError
from cvzoo.iterators import SerialIterator
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.multi_scale import BatchScale, scaled
from cvzoo.training.recipes.settings import with_settings


def test_examples_of_a_batch_have_one_size_which_a_resumed_run_draws_again():
    x, label = np.zeros((3, 16, 24), np.float32), np.zeros((16, 24), np.int32)
    transform = BatchScale((0.5, 1.0, 1.5))

    class Scaled:
        def __len__(self):
            return 12

        def __getitem__(self, index):
            return transform((x, label))

    def sizes():
        batches = list(SerialIterator(Scaled(), 3, repeat=False, shuffle=False, seed=1))
        return [{each.shape[-2:] for example in batch for each in example} for batch in batches]

    found = sizes()
    assert all(len(batch) == 1 for batch in found)
    assert len(set.union(*found)) > 1
    assert sizes() == found


def test_sides_that_are_multiples_of_eight_stay_such():
    assert scaled((416, 33), 0.8) == (336, 26)


def test_a_network_of_one_size_says_so(tmp_path):
    settings = {"data": classes(tmp_path), "pretrained": None, "batch_scales": (0.5, 1.0), "model.insize": 224}
    recipe = with_settings(RECIPES["vit_b_16"], settings)
    with pytest.raises(ConfigError, match="batch_scales: the network takes no input of 112 x 112"):
        recipe.examples(recipe.splits().train, recipe.build_model(["dark", "light"]))


def test_objects_with_masks_are_pasted_for_detectors_of_boxes(tmp_path):
    few = {"data": masks(tmp_path), "copy_paste": 1, "plain_epochs": 0, "epochs": 1, "model.min_size": 64}
    recipe = with_settings(RECIPES["retinanet_resnet18_small"], few)
    train = recipe.splits().train
    assert len(train[0][1]) == 1
    examples = [recipe.mixed(train, (64, 80))[i] for i in range(4) for _ in range(3)]
    assert {len(example) for example in examples} == {4}
    assert max(len(bbox) for _, bbox, *_ in examples) == 2


def test_pasting_without_masks_is_one_error(tmp_path):
    recipe = with_settings(RECIPES["retinanet_resnet18_small"], {"data": boxes(tmp_path), "copy_paste": 1})
    with pytest.raises(DatasetError, match="Segmentation"):
        recipe.splits()
    with pytest.raises(ConfigError, match="copy_paste needs masks"):
        recipe.mixed(bbox_splits(recipe.data).train, (64, 80))
