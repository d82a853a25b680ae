"""Every layer gives on a GPU what it gives on the processor: values, gradients, what it stores; nothing waits.

The GPU is one that is made up, see tests/support/fake_gpu.
"""

import copy
import shutil

import numpy as np
import pytest
from neighbour import neighbour

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.connection.batch_normalization import FrozenBatchNormalization
from cvzoo.links.connection.layer_normalization import LayerNormalization2D
from cvzoo.links.connection.lstm import LSTM
from cvzoo.links.connection.multi_head_attention import MultiHeadAttention
from cvzoo.links.connection.se_block import SqueezeExcite2D
from cvzoo.links.link import Link

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
layers = neighbour(__file__, "test_layers")
MAP, ROWS = (2, 4, 6, 7), (3, 8)
# layer, the input's shape
CASES = {
    **{f"{type(make()).__name__}, {k}": (make, x_shape) for k, (make, x_shape, _, _) in enumerate(layers.CASES)},
    "BatchNormalization": (lambda: L.BatchNormalization(4), MAP),
    "BatchNormalization without parameters": (lambda: L.BatchNormalization(4, use_gamma=False, use_beta=False), MAP),
    "BatchNormalization of any size": (lambda: L.BatchNormalization(), MAP),
    "Conv2DBNActiv": (lambda: L.Conv2DBNActiv(4, 5, 3, 2, 1), MAP),
    "Convolution2D": (lambda: L.Convolution2D(None, 5, 3, 2, 1), MAP),
    "Convolution2D dilated, in groups": (lambda: L.Convolution2D(4, 6, 3, pad=2, dilate=2, groups=2), MAP),
    "Convolution2D depthwise": (lambda: L.Convolution2D(4, 4, 3, pad=1, groups=4, nobias=True), MAP),
    "FrozenBatchNormalization": (lambda: FrozenBatchNormalization(4), MAP),
    "LayerNormalization2D": (lambda: LayerNormalization2D(4), MAP),
    "Linear": (lambda: L.Linear(None, 5), MAP),
    "Linear of rows": (lambda: L.Linear(8, 5, nobias=True), ROWS),
    "MultiHeadAttention": (lambda: MultiHeadAttention(8, 2), (2, 5, 8)),
    "SqueezeExcite2D": (lambda: SqueezeExcite2D(4, 2), MAP),
}


def _layer(make):
    set_seed(1)
    return make()


def _trained(layer, x):
    """The value of a training step's forward pass, and the gradients of the input and all parameters."""
    layer.cleargrads()
    x = Variable(x)
    if isinstance(layer, LSTM):
        layer.reset_state()
        layer(x)
    y = layer(x)
    F.sum(y * y * y).backward()  # of squares the normalizations leave nothing
    return {"y": y.array, "gx": x.grad, **{path: p.grad for path, p in layer.namedparams()}}


def _inferred(layer, x):
    if isinstance(layer, LSTM):
        layer.reset_state()
    with using_config("train", False), no_backprop_mode():
        return {"first": layer(x).array, "again": layer(x).array}


def _near(got, wanted):
    assert got.keys() == wanted.keys()
    for name, b in wanted.items():
        a = got[name].get()
        assert a.shape == b.shape, name
        assert a.dtype == b.dtype, name
        np.testing.assert_allclose(a, b, rtol=0, atol=3e-5 * max(float(np.abs(b).max()), 1e-3), err_msg=name)


@pytest.mark.parametrize("moved", ["before the first call", "after it"])
@pytest.mark.parametrize("name", CASES)
def test_values_gradients_and_statistics_are_the_processors(gpu, name, moved):
    make, x_shape = CASES[name]
    layer, twin = _layer(make), _layer(make)
    x = np.random.default_rng(0).normal(size=x_shape).astype("f")
    set_seed(2)
    wanted = _trained(layer, x)
    if moved == "after it":
        set_seed(2)
        _trained(twin, x)
        twin.load_arrays(copy.deepcopy(layer.state_arrays()))
        wanted = _trained(layer, x)
    twin.to_device("gpu:0")
    there = gpu.cupy.asarray(x)
    set_seed(2)
    if moved == "after it":
        with gpu.no_sync(name):
            got = _trained(twin, there)
    else:
        got = _trained(twin, there)
    _near(got, wanted)
    wanted = _inferred(layer, x)
    _inferred(twin, there)
    with gpu.no_sync(name):
        got = _inferred(twin, there)
    _near(got, wanted)
    stored, arrays = twin.state_arrays(), layer.state_arrays()
    assert stored.keys() == arrays.keys()
    for path, array in arrays.items():
        np.testing.assert_allclose(stored[path], array, rtol=1e-4, atol=1e-5, err_msg=path)
    twin.to_device("cpu")
    assert all(isinstance(p.array, np.ndarray) for p in twin.params())


def test_embedding_and_its_gradient(gpu):
    layer = L.EmbedID(5, 4, ignore_label=-1)
    ids = np.array([[1, -1, 4], [4, 0, 1]])
    wanted = layer(ids)
    F.sum(wanted * wanted).backward()
    gradient = layer.W.grad
    layer.cleargrads()
    layer.to_device("gpu:0")
    y = layer(gpu.cupy.asarray(ids))
    F.sum(y * y).backward()
    np.testing.assert_array_equal(y.array.get(), wanted.array)
    np.testing.assert_allclose(layer.W.grad.get(), gradient, rtol=1e-6)


def test_no_layer_is_left_out():
    made = {type(link) for make, _ in CASES.values() for link in make().links()} | {L.EmbedID}
    public = {value for value in vars(L).values() if isinstance(value, type) and issubclass(value, Link)}
    here = {each for each in public if each.__module__.startswith("cvzoo.links.connection")}
    assert here <= made
