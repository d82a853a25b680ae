"""Networks drawn at random give the same when they are replayed, there and back."""

import copy

import numpy as np
import pytest
from compiled_networks import assert_near, eager, photos, replayed
from random_networks import SIZE, Drawn

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, set_random_state, set_seed

SHAPE = (2, 4, *SIZE)


def drawn(seed):
    generator, before = np.random.default_rng(seed), get_random_state()
    set_seed(seed)
    model = Drawn(generator)
    set_random_state(before)
    for link in model.links():
        if isinstance(link, L.BatchNormalization):
            for array in (link.avg_mean, link.gamma.array, link.beta.array):
                array[...] = generator.normal(size=array.shape)
            link.avg_var[...] = generator.uniform(0.5, 2, link.avg_var.shape)
    return model


@pytest.mark.parametrize("tens", range(6))
def test_networks_drawn_at_random_give_their_numbers(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        model = drawn(seed)
        assert model.compile(Variable(photos(0, SHAPE))) is not None
        for k in range(3):
            x = Variable(photos(k, SHAPE))
            assert_near(replayed(model, x), eager(model, x))


def learned(model, seed):
    """The loss and all gradients of a step."""
    x = Variable(photos(seed, SHAPE))
    model.cleargrads()
    loss = sum(F.sum(y**2) + F.sum(y) for y in model(x))
    loss.backward()
    return {"loss": loss.array, "x": x.grad, **{name: p.grad for name, p in model.namedparams()}}


@pytest.mark.parametrize("tens", range(6))
def test_networks_drawn_at_random_learn_the_same(tens):
    n_graph = 0
    for seed in range(10 * tens, 10 * tens + 10):
        plain = drawn(seed)
        plain.results = [k for k in plain.results if k] or [len(plain.plan)]
        model = copy.deepcopy(plain)
        n_graph += model.compile(Variable(photos(0, SHAPE)), train=True) is not None
        for k in range(3):
            expected, got = learned(plain, k), learned(model, k)
            scale = max(np.abs(a).max() for a in expected.values() if a is not None)
            for name, a in expected.items():
                assert (a is None) == (got[name] is None), (seed, name)
                if a is not None:
                    np.testing.assert_allclose(got[name], a, rtol=1e-4, atol=1e-6 * scale, err_msg=f"{seed} {name}")
        for (name, a), (_, b) in zip(plain.namedpersistents(), model.namedpersistents()):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6, err_msg=f"{seed} {name}")
    assert n_graph == 10
