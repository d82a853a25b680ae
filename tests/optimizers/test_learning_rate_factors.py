"""Learning rates of parts: as if these had an optimizer of their own, also with schedules and after a resume."""

import numpy as np
import pytest

from cvzoo import optimizers
from cvzoo.errors import GraphError, ValueRangeError

MAKERS = {
    "SGD": lambda rate: optimizers.SGD(rate),
    "MomentumSGD": lambda rate: optimizers.MomentumSGD(rate),
    "NesterovAG": lambda rate: optimizers.NesterovAG(rate),
    "Adam": lambda rate: optimizers.Adam(rate),
    "RMSprop": lambda rate: optimizers.RMSprop(rate),
    "AdamW": lambda rate: optimizers.AdamW(0.1, eta=rate, weight_decay_rate=0.01),
    "LAMB": lambda rate: optimizers.LAMB(rate),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_factor_is_another_learning_rate(make_parameters, give, name):
    make, attr = MAKERS[name], "eta" if name == "AdamW" else "lr"
    arrays = {"W": np.arange(1, 7.0), "V": np.arange(2, 5.0)}
    both, plain, scaled = (make_parameters(arrays) for _ in range(3))
    optimizer = make(0.1).setup(both)
    twins = make(0.1).setup(plain), make(0.1 * 0.25).setup(scaled)
    assert optimizers.scale_learning_rate(optimizer, 0.25, optimizers.named("V")) == 1
    for t in range(4):
        for link in (both, plain, scaled):
            give(link, t)
        if t == 2:  # a schedule
            setattr(optimizer, attr, 0.02)
            setattr(twins[0], attr, 0.02)
            setattr(twins[1], attr, 0.02 * 0.25)
        for each in (optimizer, *twins):
            each.update()
    np.testing.assert_allclose(both.W.array, plain.W.array, rtol=1e-6)
    np.testing.assert_allclose(both.V.array, scaled.V.array, rtol=1e-6)
    assert not np.allclose(both.V.array, plain.V.array)


def test_a_resumed_optimizer_has_the_factors(make_network, batches):
    def made():
        model = make_network()
        optimizer = optimizers.MomentumSGD(0.1).setup(model)
        return model, optimizer

    straight, optimizer = made()
    optimizers.layerwise_lr_decay(optimizer, ["conv", "bn"], 0.5)
    for x, t in batches[:6]:
        optimizer.update(straight, x, t)
    model, first = made()
    optimizers.layerwise_lr_decay(first, ["conv", "bn"], 0.5)
    for x, t in batches[:3]:
        first.update(model, x, t)
    resumed, second = made()
    resumed.load_arrays(model.state_arrays())
    second.load_state(first.state())
    for x, t in batches[3:6]:
        second.update(resumed, x, t)
    np.testing.assert_array_equal(resumed.conv.W.array, straight.conv.W.array)


def test_layers_decay_from_the_output_to_the_input(make_network):
    model = make_network()
    optimizer = optimizers.AdamW().setup(model)
    factors = optimizers.layerwise_lr_decay(optimizer, ["/conv", "bn"], 0.5)
    assert factors == {"/conv": 0.25, "bn": 0.5}
    assert model.conv.W.update_rule.hyperparam.get_dict()["eta"] == 0.25
    assert model.bn.gamma.update_rule.hyperparam.get_dict()["eta"] == 0.5
    assert model.fc.W.update_rule.hyperparam.get_dict()["eta"] == 1


def test_wrong_uses_are_refused(make_network):
    optimizer = optimizers.SGD()
    with pytest.raises(GraphError, match="no network"):
        optimizers.scale_learning_rate(optimizer, 0.1, optimizers.is_vector)
    optimizer.setup(make_network())
    with pytest.raises(ValueRangeError, match="negative"):
        optimizers.scale_learning_rate(optimizer, -1, optimizers.is_vector)
    with pytest.raises(ValueRangeError, match=r"(?s)selects no parameter.*/bn, /conv, /fc"):
        optimizers.layerwise_lr_decay(optimizer, ["conv", "head"], 0.5)
    with pytest.raises(ValueRangeError, match="decay"):
        optimizers.layerwise_lr_decay(optimizer, ["conv"], 0)
