"""Training that keeps less for the backward pass: the same bits in less memory, and a switch."""

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.config.randomness import set_seed
from cvzoo.links.chain import Chain


class Block(Chain):
    def __init__(self, n):
        with self.init_scope():
            self.first = L.Conv2DBNActiv(n, n, 3, pad=1)
            self.second = L.Conv2DBNActiv(n, n, 3, pad=1, activ=None)

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + x)


class Residual(Chain):
    def __init__(self):
        with self.init_scope():
            self.stem = L.Conv2DBNActiv(3, 16, 3, pad=1)
            self.blocks = L.Sequential(*[Block(16) for _ in range(5)])
            self.fc = L.Linear(16, 4)

    def forward(self, x):
        return self.fc(F.average(self.blocks(self.stem(x)), axis=(2, 3)))


def photos(seed):
    return np.random.default_rng(seed).normal(size=(4, 3, 20, 20)).astype(np.float32)


def train(**options):
    """The losses of some steps, the parameters and statistics afterwards, and the graph."""
    set_seed(1)
    model = Residual()
    graph = model.compile(photos(0), train=True, **options) if options else None
    optimizer = optimizers.MomentumSGD(lr=0.05).setup(model)
    losses = []
    for seed in range(4):
        t = np.arange(4, dtype=np.int32)

        def lossfun(x, t=t):
            loss = F.softmax_cross_entropy(model(x), t)
            losses.append(loss.item())
            return loss

        optimizer.update(lossfun, photos(seed))
    states = [p.array.copy() for p in model.params()]
    states += [np.array(state[name]) for state, name in model.persistent_places()]
    return losses, states, graph


@pytest.mark.parametrize("recompute", [True, False])
def test_the_bits_are_those_of_define_by_run(recompute):
    losses, states, _ = train()
    got, got_states, graph = train(recompute=recompute)
    assert got == losses
    for a, b in zip(got_states, states, strict=True):
        np.testing.assert_array_equal(a, b)
    assert ("recompute" in graph.changed) == recompute
    assert graph.changed["fuse_batch_norm_relu_training"] == 6
    assert graph.changed["fuse_add_relu_training"] == 5
    assert graph.changed["fuse_sums_of_gradients"] == 5
    assert graph.changed["keep_nan"] == 1


def test_less_memory_is_planned():
    *_, less = train(recompute=True)
    *_, more = train(recompute=False)
    assert less.planned_peak < 0.8 * more.planned_peak
    assert less.changed["recompute"] > 0
    assert less.eager_peak == more.eager_peak


def test_the_switch_can_be_thrown_later():
    model = Residual()
    first = model.compile(photos(0), train=True)
    assert model.compile(photos(0), train=True) is first
    second = model.compile(photos(0), train=True, recompute=False)
    assert "recompute" in first.changed
    assert "recompute" not in second.changed


def test_gradients_of_normalizations_are_written_in_place():
    *_, graph = train(recompute=True)
    # of the six normalizations that no shortcut goes round, whose gradients nobody else wants
    assert graph.changed["in_place"] >= 6


def test_a_network_gone_astray_says_so():
    set_seed(1)
    model = Residual()
    model.compile(photos(0), train=True)
    model.blocks[2].first.conv.W.array[3, 3] = np.nan
    assert np.isnan(model(photos(0)).array).all()
