"""Learning rates of parts of a network, frozen parts, accumulation and averages of a recipe."""

import pytest

from cvzoo.errors import ConfigError, ValueRangeError
from cvzoo.links import Classifier
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.training.recipes.layers import apply_layers
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings


def applied(**values):
    recipe = with_settings(RECIPES["cifar_resnet20"], values)
    loss = Classifier(CIFARResNet(8, 2))
    optimizer = recipe.build_optimizer(loss)
    return loss.predictor, optimizer, apply_layers(recipe, optimizer, loss.predictor)


def test_a_frozen_part_is_not_trained_and_the_others_are():
    model, *_ = applied(frozen=("conv1", "stage1"))
    assert not model.conv1.update_enabled
    assert not model.stage1.update_enabled
    assert model.stage2.update_enabled


def test_a_part_has_its_own_learning_rate_with_adamw():
    model, *_ = applied(optimizer="adamw", lr=0.5, layer_lr={"stage1": 0.1})
    assert {param.update_rule.hyperparam.alpha for param in model.stage1.params()} == {0.05}
    assert {param.update_rule.hyperparam.alpha for param in model.fc.params()} == {0.5}


def test_a_part_has_its_own_learning_rate_with_momentum():
    model, optimizer, _ = applied(layer_lr={"stage1": 0.1})
    hook = optimizer.get_hook("layer_lr stage1")
    (inside,) = [path for path, param in optimizer.target.namedparams() if param is model.stage1[0].conv1.conv.W]
    (outside,) = [path for path, param in optimizer.target.namedparams() if param is model.fc.W]
    assert hook.rate == 0.1
    assert (hook.exempt(inside, None), hook.exempt(outside, None)) == (False, True)


@pytest.mark.parametrize("values", [{"frozen": ("stage4",)}, {"layer_lr": {"stage4": 0.1}}])
def test_a_part_that_there_is_not_has_a_nearest_one(values):
    with pytest.raises(ConfigError, match="did you mean stage"):
        applied(**values)


def test_adam_has_no_learning_rates_of_parts():
    with pytest.raises(ValueRangeError, match="layer_lr is not for adam"):
        applied(optimizer="adam", layer_lr={"stage1": 0.1})


def test_accumulation_and_average():
    _, optimizer, average = applied(accumulate=4, ema=0.99)
    assert optimizer.accumulation == 4
    assert average.decay == 0.99
    assert applied()[2] is None
