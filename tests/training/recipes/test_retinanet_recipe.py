"""The numbers of a training, checked before it begins."""

import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe


def recipe(**more):
    return RetinaNetRecipe(data="voc:x", model=RetinaNetConfig(), **more)


@pytest.mark.parametrize(
    ("epochs", "n_example", "expected"),
    [(50, 1000, 300), (50, 72, 300), (3, 24, 6), (1, 4, 0)],  # a third of fewer than 900 updates
)
def test_the_warm_up_of_a_short_training_is_a_third_of_it(epochs, n_example, expected):
    assert recipe(epochs=epochs).resolved(n_example).warmup == expected


def test_a_warm_up_that_is_longer_than_the_training_is_refused():
    assert recipe(epochs=2, warmup=11).resolved(24).warmup == 11
    with pytest.raises(ValueRangeError, match="not shorter than the training") as caught:
        recipe(epochs=2, warmup=12).resolved(24)
    assert "fewer than its 12 updates" in str(caught.value)


@pytest.mark.parametrize("more", [{"metric": "map"}, {"warmup": -1}, {"epochs": 0}, {"lr": -1.0}, {"scales": ()}])
def test_what_makes_no_sense_is_refused(more):
    with pytest.raises(ValueRangeError, match=next(iter(more))):
        recipe(**more)


def test_a_metric_has_one_name():
    assert recipe().best == "validation/main/map"
    assert recipe(metric="coco").best.startswith("validation/main/map/iou=0.50:0.95/")
