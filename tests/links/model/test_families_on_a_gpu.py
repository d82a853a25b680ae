"""Every family computes on a GPU what it computes on the processor, and nothing waits for the device meanwhile.

The GPU is one that is made up, see tests/support/fake_gpu.
"""

import shutil

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
FAMILIES = neighbour(__file__, "test_quantized_families").FAMILIES
SMALLEST = [name for name in FAMILIES if not name.startswith("SwinTransformer,") and ", " not in name] + [
    *("DeepLabV3, MobileNetV3", "a cfg, letterboxed", "PSPNet, gluon"),
]
PHOTO = np.random.default_rng(0).integers(0, 256, (3, 70, 90)).astype("f")


@pytest.fixture(scope="module")
def gpu():
    from fake_gpu.install import fake_gpu

    with fake_gpu() as machine:
        yield machine


def _made(name):
    room, of_room, let_through = FAMILIES[name]
    model = room._made(of_room)
    if let_through is not None:
        let_through(model)
    return model


def _outputs(model, x):
    with using_config("train", False), no_backprop_mode():
        ys = model.forward(x)
    return [y.array for y in (ys if isinstance(ys, tuple) else (ys,)) if isinstance(y, Variable)]


@pytest.mark.parametrize("name", SMALLEST)
def test_outputs_are_the_processors(gpu, name):
    model = _made(name)
    x = model.prepare(PHOTO)[None]
    wanted = _outputs(model, x)
    try:
        model.to_device("gpu:0")
        x = gpu.cupy.asarray(x)
        for _ in range(2):  # constants are copied, kernels are compiled
            _outputs(model, x)
        with gpu.no_sync(name):
            got = _outputs(model, x)
    finally:
        model.to_device("cpu")
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        a = a.get()
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * max(float(np.abs(b).max()), 1e-6))
