"""How many convolutions and products run while a network is compiled, counted in passes of it."""

import ctypes

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.backends.native.library import native
from cvzoo.backends.onednn.primitives import DIFF_DST, WEIGHTS, local
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.chain import Chain


@pytest.fixture
def heavy(monkeypatch):
    """The number of heavy kernels that have run so far, as a list that grows, of primitives that are new."""
    F.matmul(np.ones((64, 64), np.float32), np.ones((64, 64), np.float32))  # the library is loaded
    calls = local.library.calls
    runs = []
    plain = calls.dnnl_primitive_execute

    def execute(primitive, stream, count, arguments):
        kinds = [arguments[k].kind for k in range(count)]
        if WEIGHTS in kinds or DIFF_DST in kinds:
            runs.append(kinds)
        return plain(primitive, stream, count, arguments)

    monkeypatch.setattr(calls, "dnnl_primitive_execute", execute)
    library = native()
    if library is not None:
        for name in ("winograd", "rows"):
            kernel = library.kernels[name]

            def run(plan, arrays, n_thread, name=name, kernel=kernel):
                runs.append([name])
                return kernel(plan, ctypes.cast(arrays, ctypes.c_void_p), n_thread)

            monkeypatch.setitem(library.kernels, name, run)
    monkeypatch.setattr(local, "young", {})
    monkeypatch.setattr(local, "old", {})
    return runs


class Net(Chain):
    """Convolutions of several kinds, a sum, normalizations, and a product."""

    def __init__(self):
        with self.init_scope():
            self.first = L.Conv2DBNActiv(3, 32, 3, pad=1)
            self.convs = L.ChainList(*[L.Conv2DBNActiv(32, 32, size, pad=size // 2) for size in (3, 1, 5, 3, 1)])
            self.fc = L.Linear(32, 10)

    def forward(self, x):
        h = self.first(x)
        for conv in self.convs:
            h = conv(h)
        return self.fc(F.mean(h, axis=(2, 3)))


def image():
    return np.random.default_rng(0).normal(size=(2, 3, 17, 19)).astype(np.float32)


def test_compiling_for_inference_runs_two_passes(heavy):
    model = Net()
    with using_config("train", False), no_backprop_mode():
        model(image())
    a_pass = len(heavy)
    assert a_pass == 7
    assert model.compile(image()) is not None
    assert len(heavy) == 3 * a_pass  # the recording, and the replay that is compared with it


def test_compiling_for_training_runs_two_steps(heavy):
    model = Net()
    y = model(image())
    y.grad = np.ones_like(y.array)
    y.backward()
    a_step = len(heavy)
    assert a_step > 3 * 7 - 1
    assert model.compile(image(), train=True) is not None
    assert len(heavy) <= 3 * a_step
