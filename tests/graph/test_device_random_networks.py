"""Networks drawn at random give the same when they are captured, there and back, on a made-up GPU."""

import numpy as np
import pytest
from compiled_networks import photos
from neighbour import neighbour

import cvzoo
from cvzoo.autodiff.variable import Variable

plain = neighbour(__file__, "test_robustness_random_networks")
SHAPES = [(2, 4, 5, 6), (1, 4, 1, 7)]


@pytest.fixture(autouse=True)
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def on_gpu(machine, k, shape):
    return machine.cupy.asarray(photos(k, shape))


def drawn(machine, seed, shape):
    model = plain.drawn(seed, shape).to_device("gpu:0")
    channels = {made for _, _, made, _ in model.plan}
    model.constants = {c: machine.cupy.full((1, c, 1, 1), 0.25, np.float32) for c in channels}
    return model


def assert_same(got, wanted, scale, name):
    np.testing.assert_allclose(got.get(), wanted.get(), rtol=1e-3, atol=1e-5 * scale, err_msg=str(name))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_they_give_their_numbers(machine, shape):
    for seed in range(3):
        model, same = (drawn(machine, seed, shape) for _ in range(2))
        assert model.compile(Variable(on_gpu(machine, 0, shape))) is not None
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            for k in range(3):
                x = Variable(on_gpu(machine, k, shape))
                machine.recorder.clear()
                got = model(x)
                assert machine.recorder.counts()["graph_launch"] == 1
                for y, wanted in zip(got, same(x), strict=True):
                    assert_same(y.array, wanted.array, max(float(abs(wanted.array).max()), 1e-3), seed)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_they_learn_the_same(machine, shape):
    for seed in range(3):
        model, same = (drawn(machine, seed, shape) for _ in range(2))
        for each in (model, same):
            each.results = [k for k in each.results if k] or [len(each.plan)]
        assert model.compile(Variable(on_gpu(machine, 0, shape)), train=True) is not None
        for k in range(3):
            wanted, got = (plain.learned(each, on_gpu(machine, k, shape)) for each in (same, model))
            scale = max(float(abs(a).max()) for a in wanted.values() if a is not None)
            for name, a in wanted.items():
                assert (a is None) == (got[name] is None), (seed, name)
                if a is not None:
                    assert_same(got[name], a, scale, (seed, name))
        for (name, a), (_, b) in zip(same.namedpersistents(), model.namedpersistents(), strict=True):
            if hasattr(a, "get"):
                assert_same(b, a, 1, (seed, name))
