"""Residual networks that learn on a made-up GPU: their sums are done in the normalizations' kernels."""

import contextlib
from collections import Counter

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.graph import training_graph
from cvzoo.graph.passes.fuse_batch_norm_relu_training import fuse_batch_norm_add_relu_training
from cvzoo.links.model.resnet.extractor import BasicBlock, Bottleneck

N_BLOCK = 3


@pytest.fixture(autouse=True, params=["at once", "late", "cuDNN"])
def machine(fake_gpu, request):
    """Streams that run at once, streams that run when somebody waits, and a stand-in of cuDNN."""
    with contextlib.ExitStack() as stack:
        machine = stack.enter_context(fake_gpu(late=request.param == "late"))
        if request.param == "cuDNN":
            fake_cudnn = pytest.importorskip("fake_gpu.fake_cudnn")
            stack.enter_context(fake_cudnn.installed(machine))
        yield machine


class Residual(L.Chain):
    """Blocks of ResNet with a shortcut and without one, in the midst of what others are made of."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.stem = L.Conv2DBNActiv(3, 16, 3, pad=1)
            self.first = BasicBlock(16, 16, eps=1e-2)
            self.second = Bottleneck(16, 6, 2, eps=1e-2)
            self.third = Bottleneck(24, 6, eps=1e-2)
            self.head = L.Linear(24, 5)

    def forward(self, x):
        h = self.third(self.second(self.first(self.stem(x))))
        return self.head(F.average(h, axis=(2, 3)))


def network():
    cvzoo.set_seed(0)
    return Residual().to_device("gpu:0")


def on_gpu(seed):
    import cupy

    return cupy.asarray(np.random.default_rng(seed).standard_normal((2, 3, 8, 6)).astype(np.float32))


def learn(net, x):
    """Results, gradients and statistics of a step."""
    y = net(x)
    net.cleargrads()
    F.sum(y * y).backward()
    statistics = [np.asarray(state[name].get()) for state, name in net.persistent_places() if name.startswith("avg")]
    return [y.array.get(), *(p.grad.get() for p in net.params()), *statistics]


def assert_close(got, expected, tolerance):
    largest = max(np.abs(each).max() for each in expected)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * max(np.abs(other).max(), 1e-2 * largest))


def compiled(monkeypatch, *, fuses, **settings):
    """A network and its graph of a training step."""
    if not fuses:
        fewer = [each for each in training_graph.DEVICE_PASSES if each is not fuse_batch_norm_add_relu_training]
        monkeypatch.setattr(training_graph, "DEVICE_PASSES", fewer)
    net = network()
    graph = net.compile(on_gpu(0), train=True, **settings)
    monkeypatch.undo()
    return net, graph


def launches(graph):
    """How often each kernel is launched, there and back."""
    return [
        Counter(entry.name for entry in half.captured._graph.nodes if entry.kind == "launch")
        for half in graph.program._halves
    ]


@pytest.mark.parametrize("recompute", [False, True])
def test_normalizations_of_any_number_of_channels_are_fused(monkeypatch, recompute):
    _, graph = compiled(monkeypatch, fuses=True, recompute=recompute)
    assert graph.changed["fuse_batch_norm_relu_training"] == 6
    assert [kernel for each in launches(graph) for kernel in each if "relu" in kernel] == []


@pytest.mark.parametrize("recompute", [False, True])
def test_a_step_has_the_numbers_of_one_as_written(monkeypatch, recompute):
    net, graph = compiled(monkeypatch, fuses=True, recompute=recompute)
    assert graph.changed["fuse_batch_norm_add_relu_training"] == N_BLOCK
    assert graph.changed["fuse_add_relu_training"] == 0
    plain = network()
    rules = [cvzoo.optimizers.MomentumSGD(lr=1e-3).setup(each) for each in (net, plain)]
    for seed in range(3):
        assert_close(learn(net, on_gpu(seed)), learn(plain, on_gpu(seed)), 1e-4)
        for rule in rules:
            rule.update()


def test_sums_and_rectifiers_need_no_launch(monkeypatch):
    (there, back), (there_before, back_before) = [
        launches(compiled(monkeypatch, fuses=fuses, recompute=False)[1]) for fuses in (True, False)
    ]
    assert there_before - there == {"each_add_relu": N_BLOCK}
    assert back_before - back == {"each_eltwise_relu_grad_from_output": N_BLOCK}
    # the gradient of the average over all pixels is brought in order by itself
    assert there - there_before == {}
    assert back - back_before == {"astype": 1}


@pytest.mark.parametrize("mode", ["float32", "tf32", "mixed_bf16", "mixed_fp16"])
def test_the_bits_are_those_of_a_step_that_sums_apart(monkeypatch, mode):
    with cvzoo.using_config("dtype", mode):
        (net, graph), (plain, _) = [compiled(monkeypatch, fuses=fuses) for fuses in (True, False)]
        assert graph.changed["fuse_batch_norm_add_relu_training"] == N_BLOCK
        for got, expected in zip(learn(net, on_gpu(1)), learn(plain, on_gpu(1)), strict=True):
            np.testing.assert_array_equal(got, expected)
