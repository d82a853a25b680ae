"""Learning rates of parts of a network, frozen parts, accumulation and averages of a recipe."""

import pytest

from cvzoo.errors import ConfigError
from cvzoo.links import BatchNormalization, Classifier
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


def test_the_batch_normalization_of_a_frozen_part_is_frozen_too():
    model, *_ = applied(frozen=("stage1",))
    assert {each.frozen for each in model.stage1.links() if isinstance(each, BatchNormalization)} == {True}
    assert {each.frozen for each in model.stage2.links() if isinstance(each, BatchNormalization)} == {False}


@pytest.mark.parametrize(
    ("optimizer", "rate"), [("adamw", "eta"), ("adam", "alpha"), ("sgd", "lr"), ("nesterov", "lr")]
)
def test_a_part_has_its_own_learning_rate_which_follows_the_schedule(optimizer, rate):
    model, made, _ = applied(optimizer=optimizer, lr=0.5, layer_lr={"stage1": 0.1})
    for value in (0.5, 0.25):
        setattr(made, rate, value)
        for part, expected in ((model.stage1, 0.1 * value), (model.fc, value)):
            rates = [param.update_rule.hyperparam.get_dict() for param in part.params()]
            # adam's step is alpha times eta
            steps = [each[rate] * (each["eta"] if rate == "alpha" else 1) for each in rates]
            assert steps == pytest.approx([expected] * len(steps))


@pytest.mark.parametrize("values", [{"frozen": ("stage4",)}, {"layer_lr": {"stage4": 0.1}}])
def test_a_part_that_there_is_not_has_a_nearest_one(values):
    with pytest.raises(ConfigError, match="did you mean stage"):
        applied(**values)


def test_accumulation_and_average():
    _, optimizer, average = applied(accumulate=4, ema=0.99)
    assert optimizer.accumulation == 4
    assert average.decay == 0.99
    assert applied()[2] is None
