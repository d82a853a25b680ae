"""Networks drawn at random give the same when they are replayed, there and back."""

import copy

import numpy as np
import pytest
from compiled_networks import assert_near, eager, photos, replayed
from random_networks import Drawn

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, set_random_state, set_seed

SHAPES = [(2, 4, 5, 6), (1, 4, 5, 6), (1, 4, 1, 7), (3, 4, 6, 1), (2, 4, 1, 1), (1, 4, 12, 11)]


def drawn(seed, shape):
    generator, before = np.random.default_rng(seed), get_random_state()
    set_seed(seed)
    model = Drawn(generator, shape[2:])
    set_random_state(before)
    for link in model.links():
        if isinstance(link, L.BatchNormalization):
            for array in (link.avg_mean, link.gamma.array, link.beta.array):
                array[...] = generator.normal(size=array.shape)
            link.avg_var[...] = generator.uniform(0.5, 2, link.avg_var.shape)
    return model


@pytest.mark.parametrize("shape", SHAPES)
def test_networks_drawn_at_random_give_their_numbers(shape):
    for seed in range(12):
        model = drawn(seed, shape)
        assert model.compile(Variable(photos(0, shape))) is not None
        for k in range(3):
            x = Variable(photos(k, shape))
            assert_near(replayed(model, x), eager(model, x))


def learned(model, photo):
    """The loss and all gradients of a step."""
    x = Variable(photo)
    model.cleargrads()
    loss = sum(F.sum(y**2) + F.sum(y) for y in model(x))
    loss.backward()
    return {"loss": loss.array, "x": x.grad, **{name: p.grad for name, p in model.namedparams()}}


@pytest.mark.parametrize("shape", SHAPES)
def test_networks_drawn_at_random_learn_the_same(shape):
    n_graph = 0
    for seed in range(12):
        plain = drawn(seed, shape)
        plain.results = [k for k in plain.results if k] or [len(plain.plan)]
        model = copy.deepcopy(plain)
        n_graph += model.compile(Variable(photos(0, shape)), train=True) is not None
        for k in range(3):
            expected, got = learned(plain, photos(k, shape)), learned(model, photos(k, shape))
            scale = max(np.abs(a).max() for a in expected.values() if a is not None)
            for name, a in expected.items():
                assert (a is None) == (got[name] is None), (seed, name)
                if a is not None:
                    np.testing.assert_allclose(got[name], a, rtol=1e-4, atol=1e-5 * scale, err_msg=f"{seed} {name}")
        for (name, a), (_, b) in zip(plain.namedpersistents(), model.namedpersistents()):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6, err_msg=f"{seed} {name}")
    assert n_graph == 12
