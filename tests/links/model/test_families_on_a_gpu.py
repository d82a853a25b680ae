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
# whose host finds regions in what the device has computed
WAITING = {"FasterRCNNVGG16", "LightHeadRCNN", "FCIS"}
HEAVY = {"FasterRCNNVGG16", "SSDLite", "MobileNetV3 large", "FCOS", "EfficientNetV2", "MNASNet", "DenseNet"}
PHOTO = np.random.default_rng(0).integers(0, 256, (3, 70, 90)).astype("f")


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


def _captured(gpu, model, x):
    """The outputs in eager execution, and those of a CUDA graph that recorded it."""
    cuda = gpu.cupy.cuda
    stream, pool = cuda.Stream(non_blocking=True), cuda.MemoryPool()
    with stream, cuda.using_allocator(pool.malloc):
        x = gpu.cupy.asarray(x)
        for _ in range(2):  # constants are copied, kernels are compiled
            _outputs(model, x)
        with gpu.no_sync():
            eager = _outputs(model, x)
        stream.begin_capture()
        outputs = _outputs(model, x)
        graph = stream.end_capture()
        graph.launch(stream)
        return [y.get() for y in eager], [y.get() for y in outputs]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in HEAVY else name for name in SMALLEST]
)
def test_outputs_are_the_processors_and_a_graph_s_are_the_same(gpu, name):
    model = _made(name)
    x = model.prepare(PHOTO)[None]
    wanted = _outputs(model, x)
    try:
        model.to_device("gpu:0")
        if name in WAITING:
            x = gpu.cupy.asarray(x)
            got = [y.get() for y in _outputs(model, x)]
        else:
            got, replayed = _captured(gpu, model, x)
            for a, b in zip(got, replayed):
                np.testing.assert_array_equal(b, a)
    finally:
        model.to_device("cpu")
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * max(float(np.abs(b).max()), 1e-6))
