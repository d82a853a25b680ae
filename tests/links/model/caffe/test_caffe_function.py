"""CaffeFunction on small networks written here."""

import re
import struct

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, switches, using_config
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, UnsupportedError, WeightsMismatchError
from cvzoo.links.model.caffe.caffe_function import CaffeFunction
from cvzoo.serializers import load_npz, save_npz

NET = """
name: "small"
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TRAIN } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 4 kernel_size: 3 pad: 1 bias_term: false } }
layer { name: "norm" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "factor" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "drop" type: "Dropout" bottom: "pool" top: "pool" }
layer { name: "strange" type: "Python" bottom: "pool" top: "strange" }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc" inner_product_param { num_output: 3 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" include { phase: TRAIN } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" include { phase: TEST } }
"""
BLOBS = {
    "conv": [(4, 2, 3, 3)],
    "norm": [(4,), (4,), (1,)],
    "factor": [(4,), (4,)],
    "fc": [(3, 4 * 3 * 3), (3,)],
}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def caffemodel(layers):
    """The bytes of a caffemodel that holds blobs only: name -> (type, arrays)."""
    out = field(1, "small")
    for name, (kind, arrays) in layers.items():
        body = field(1, name) + field(2, kind)
        for array in arrays:
            dims = b"".join(varint(n) for n in array.shape)
            numbers = struct.pack(f"<{array.size}f", *array.reshape(-1))
            body += field(7, field(7, field(1, dims)) + field(5, numbers))
        out += field(100, body)
    return out


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    values = {name: [rng.normal(size=s).astype(np.float32) for s in shapes] for name, shapes in BLOBS.items()}
    values["norm"][1] = np.abs(values["norm"][1]) + 1
    values["norm"][2][:] = 2
    return values


@pytest.fixture
def files(tmp_path, arrays):
    types = {"conv": "Convolution", "norm": "BatchNorm", "factor": "Scale", "fc": "InnerProduct"}
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "net.caffemodel").write_bytes(caffemodel({k: (types[k], v) for k, v in arrays.items()}))
    return tmp_path / "net.caffemodel", tmp_path / "net.prototxt"


@pytest.fixture
def func(files):
    return CaffeFunction(*files)


@pytest.fixture
def x():
    return np.random.default_rng(1).normal(size=(2, 2, 6, 6)).astype(np.float32)


def expected(arrays, x):
    """conv (after its in-place layers) and fc, in the test phase."""
    C = (slice(None), None, None)
    (W,), (mean, var, k), (gamma, beta), (fc, fc_b) = (arrays[n] for n in ("conv", "norm", "factor", "fc"))
    h = F.convolution_2d(x, W, None, 1, 1).array
    h = (h - (mean / k)[C]) / np.sqrt((var / k)[C] + 1e-5) * gamma[C] + beta[C]
    h = np.maximum(h, 0)
    pool = h.reshape(2, 4, 3, 2, 3, 2).max((3, 5))
    return h, pool.reshape(2, -1) @ fc.T + fc_b


def test_any_blob_can_be_asked_for(func, arrays, x):
    conv, fc = func(inputs={"data": x}, outputs=["conv", "fc"], train=False)
    want_conv, want_fc = expected(arrays, x)
    np.testing.assert_allclose(conv.array, want_conv, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fc.array, want_fc, rtol=1e-4, atol=1e-5)


def test_without_outputs_the_blobs_that_nobody_reads_are_given(func, x):
    with pytest.raises(UnsupportedError, match=r"Python.*'strange'"):
        func(inputs={"data": x}, train=False)
    (prob,) = func(inputs={"data": x}, disable=["strange"], train=False)
    np.testing.assert_allclose(prob.array.sum(1), 1, rtol=1e-5)


def test_a_layer_of_an_unknown_type_is_an_error_only_where_it_is_needed(func, x):
    func(inputs={"data": x}, outputs=["prob"], train=False)
    with pytest.raises(UnsupportedError, match=r"(?s)Python layer 'strange'.*no layer of type Python"):
        func(inputs={"data": x}, outputs=["strange"], train=False)


def test_a_disabled_layer_in_place_lets_its_blob_pass(func, x):
    (with_relu,) = func(inputs={"data": x}, outputs=["conv"], train=False)
    (without,) = func(inputs={"data": x}, outputs=["conv"], disable=["relu"], train=False)
    assert without.array.min() < 0
    np.testing.assert_allclose(with_relu.array, np.maximum(without.array, 0))


def test_a_disabled_layer_whose_blob_is_needed_is_said(func, x):
    with pytest.raises(GraphError, match="no blob 'fc'"):
        func(inputs={"data": x}, outputs=["prob"], disable=["fc"], train=False)


def test_a_layer_to_disable_must_be_there(func, x):
    with pytest.raises(GraphError, match=r"(?s)no layer 'rely'.*relu"):
        func(inputs={"data": x}, outputs=["conv"], disable=["rely"], train=False)


def test_a_blob_of_the_middle_can_be_given(func, x):
    pool = np.random.default_rng(0).normal(size=(5, 4, 3, 3)).astype(np.float32)
    (fc,) = func(inputs={"pool": pool}, outputs=["fc"], train=False)
    assert fc.shape == (5, 3)
    # what works in place on a given blob still runs
    (conv,) = func(inputs={"conv": x[:, [0, 1, 0, 1]]}, outputs=["conv"], disable=["norm", "factor"], train=False)
    np.testing.assert_array_equal(conv.array, np.maximum(x[:, [0, 1, 0, 1]], 0))


def test_the_phase_decides_which_layers_there_are(func, x):
    label = np.array([0, 2])
    (loss,) = func(inputs={"data": x, "label": label}, outputs=["loss"], train=True)
    assert loss.shape == ()
    with pytest.raises(GraphError, match="no blob 'prob'"):
        func(inputs={"data": x}, outputs=["prob"], train=True)
    with pytest.raises(GraphError, match="no blob 'loss'"):
        func(inputs={"data": x, "label": label}, outputs=["loss"], train=False)


def test_the_phase_is_that_of_the_config_and_the_config_stays(func, x):
    with using_config("train", False):
        a, b = (func(inputs={"data": x}, outputs=["fc"])[0].array for _ in range(2))
        np.testing.assert_array_equal(a, b)  # no dropout
        func(inputs={"data": x}, outputs=["fc"], train=True)
        assert switches.train is False
    func(inputs={"data": x}, outputs=["fc"], train=False)
    assert switches.train is True
    a, b = (func(inputs={"data": x}, outputs=["fc"])[0].array for _ in range(2))
    assert not np.array_equal(a, b)


def test_a_missing_input_is_named_with_the_layer_that_needs_it(func, x):
    with pytest.raises(GraphError, match=r"'label'.*SoftmaxWithLoss layer 'loss' at line"):
        func(inputs={"data": x}, outputs=["loss"], train=True)
    with pytest.raises(GraphError, match="'nothing', which the caller needs"):
        func(inputs={"data": x}, outputs=["nothing"], train=False)
    with pytest.raises(GraphError, match="no layer can run"):
        func(inputs={}, train=False)


def test_an_input_can_be_an_output(func, x):
    (y,) = func(inputs={"data": x}, outputs=["data"], train=False)
    np.testing.assert_array_equal(y.array, x)


def test_it_learns(func, x):
    label = np.array([0, 2])
    losses = []
    for _ in range(30):
        (loss,) = func(inputs={"data": x, "label": label}, outputs=["loss"], disable=["drop"], train=True)
        losses.append(loss.item())
        func.cleargrads()
        loss.backward()
        for parameter in func.params():
            parameter.array[...] -= 0.05 * parameter.grad
    assert losses[-1] < losses[0] / 3


def test_gradients_reach_the_input_and_all_parameters_in_the_test_phase(func, x):
    x = Variable(x)
    (fc,) = func(inputs={"data": x}, outputs=["fc"], train=False)
    F.sum(fc).backward()
    assert np.abs(x.grad).max() > 0
    assert all(np.abs(parameter.grad).max() > 0 for parameter in func.params())


def test_its_values_are_named_after_the_layers_and_come_back_from_a_file(func, files, x, tmp_path):
    names = set(func.state_arrays())
    assert {"conv/W", "factor/W", "factor/b", "fc/W", "fc/b"} <= names
    save_npz(tmp_path / "net.npz", func)
    other = CaffeFunction(prototxt=files[1])
    report = load_npz(tmp_path / "net.npz", other)
    assert report.is_clean
    a, b = (f(inputs={"data": x}, outputs=["prob"], train=False)[0].array for f in (func, other))
    np.testing.assert_array_equal(a, b)


def test_a_prototxt_alone_gives_a_network_with_random_weights(x):
    func = CaffeFunction(prototxt=NET)
    (prob,) = func(inputs={"data": x}, outputs=["prob"], train=False)
    assert prob.shape == (2, 3)
    assert np.isfinite(prob.array).all()


def test_a_copy_is_apart(func, x):
    twin = func.copy("copy")
    (before,) = twin(inputs={"data": x}, outputs=["fc"], train=False)
    for parameter in func.params():
        parameter.array[...] = 0
    (after,) = twin(inputs={"data": x}, outputs=["fc"], train=False)
    np.testing.assert_array_equal(before.array, after.array)
    assert not func(inputs={"data": x}, outputs=["fc"], train=False)[0].array.any()


def test_packed_weights_follow_a_change(func, x):
    with no_backprop_mode(), using_config("train", False):
        func(inputs={"data": x}, outputs=["conv"])
        func["conv"].W.array[...] = 0
        (conv,) = func(inputs={"data": x}, outputs=["conv"], disable=["norm", "factor"])
    assert not conv.array.any()


def test_it_leaves_inputs_as_they_are(func, x):
    before = x.copy()
    inputs = {"data": x}
    func(inputs=inputs, outputs=["prob"], train=False)
    np.testing.assert_array_equal(x, before)
    assert list(inputs) == ["data"]


def test_inputs_and_blobs_are_told(func):
    assert func.inputs == {"data": None, "label": None}
    assert func.blobs == ("data", "label", "conv", "pool", "strange", "fc", "loss", "prob")
    text = """input: "x" input_shape { dim: 1 dim: 3 dim: 8 dim: 9 }
    layer { name: "r" type: "ReLU" bottom: "x" top: "y" }"""
    assert CaffeFunction(prototxt=text).inputs == {"x": (1, 3, 8, 9)}
    assert "inputs={'x': (1, 3, 8, 9)}" in repr(CaffeFunction(prototxt=text))


@pytest.mark.parametrize("name", ["forward", "inputs", "params", "_steps", "name", "a/b", "copy", ""])
def test_a_layer_may_have_any_name(name, x):
    text = f"""layer {{ name: "{name}" type: "Convolution" bottom: "data" top: "{name or "y"}"
        convolution_param {{ num_output: 1 kernel_size: 1 }} }}"""
    func = CaffeFunction(prototxt=text)
    (y,) = func(inputs={"data": x}, outputs=[name or "y"])
    assert y.shape == (2, 1, 6, 6)
    assert len(list(func.params())) == 2


def test_two_layers_of_one_name_are_both_run(x):
    text = """
    layer { name: "a" type: "Power" bottom: "data" top: "b" power_param { scale: 2 } }
    layer { name: "a" type: "Power" bottom: "b" top: "c" power_param { scale: 3 } }
    """
    (y,) = CaffeFunction(prototxt=text)(inputs={"data": x})
    np.testing.assert_allclose(y.array, 6 * x, rtol=1e-6)


def test_slices_and_several_ends_come_in_the_order_of_the_file(x):
    text = """
    layer { name: "s" type: "Slice" bottom: "data" top: "a" top: "b" }
    layer { name: "q" type: "Silence" bottom: "b" }
    layer { name: "p" type: "Split" bottom: "a" top: "c" top: "d" }
    """
    c, d = CaffeFunction(prototxt=text)(inputs={"data": x})
    np.testing.assert_array_equal(c.array, x[:, :1])
    np.testing.assert_array_equal(d.array, x[:, :1])


SEPARATE = """
layer { name: "n" type: "BatchNorm" bottom: "data" top: "n" batch_norm_param { use_global_stats: true } }
layer { name: "s" type: "Scale" bottom: "n" top: "s" }
layer { name: "r" type: "ReLU" bottom: "n" top: "r" }
"""


@pytest.mark.parametrize("outputs", [["s"], ["s", "n"], ["s", "r"], ["s", "r", "n"]])
def test_scales_are_joined_to_batch_normalization_without_a_trace(outputs, x):
    func = CaffeFunction(prototxt=SEPARATE)
    func(inputs={"data": x}, outputs=["s"])  # the sizes are known now
    func["n"].bn.avg_mean[...] = [1, 2]
    func["s"].W.array[...] = [3, 4]
    n = (x - np.array([1, 2], np.float32)[:, None, None]) / np.sqrt(np.float32(1 + 1e-5))
    want = {"n": n, "s": n * np.array([3, 4], np.float32)[:, None, None], "r": np.maximum(n, 0)}
    for name, y in zip(outputs, func(inputs={"data": x}, outputs=outputs), strict=True):
        np.testing.assert_allclose(y.array, want[name], rtol=1e-5, atol=1e-5)


def test_blobs_that_do_not_fit_name_the_layer(files, arrays, tmp_path):
    arrays["conv"][0] = arrays["conv"][0][:, :, :2]
    types = {"conv": "Convolution", "norm": "BatchNorm", "factor": "Scale", "fc": "InnerProduct"}
    (tmp_path / "bad.caffemodel").write_bytes(caffemodel({k: (types[k], v) for k, v in arrays.items()}))
    with pytest.raises(WeightsMismatchError, match="Convolution layer 'conv'"):
        CaffeFunction(tmp_path / "bad.caffemodel", files[1])


def test_a_caffemodel_of_another_network_is_refused(files, tmp_path):
    (tmp_path / "other.caffemodel").write_bytes(caffemodel({"c9": ("Convolution", [np.ones((1, 1, 1, 1))])}))
    with pytest.raises(WeightsMismatchError, match=re.escape("'conv'")):
        CaffeFunction(tmp_path / "other.caffemodel", files[1])


def test_blobs_are_let_go_as_the_network_runs(func):
    plan = func._plan(frozenset(["data"]), ("prob",), frozenset(), False)
    given = {blob for step in plan for blob in step.done}
    assert {"data", "conv", "pool", "fc"} == given


def test_an_error_inside_names_the_layer(func):
    with pytest.raises(ShapeError, match=r"(?s)Convolution layer 'conv' at line 4: .*channels"):
        func(inputs={"data": np.zeros((1, 5, 6, 6), np.float32)}, outputs=["conv"], train=False)
    with pytest.raises(DtypeError, match="Convolution layer 'conv'"):
        func(inputs={"data": np.zeros((1, 2, 6, 6))}, outputs=["conv"], train=False)
