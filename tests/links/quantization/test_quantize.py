"""model.quantize: another model, near the first; what it refuses; which layers stay in float32 and why."""

import copy
import pathlib

import numpy as np
import pytest
from processor import needs_bf16

import cvzoo.functions as F
import cvzoo.links.quantization.quantize as quantize_file
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.functions.connection.byte_variable import ByteVariable
from cvzoo.links.chain import ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import float_convolution
from cvzoo.links.connection.linear import Linear
from cvzoo.links.connection.se_block import SqueezeExcite2D
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.quantization.int8_kernel import Int8Kernel
from cvzoo.optimizers import SGD
from cvzoo.serializers import save_npz


class Network(AbstractClassifier):
    """A stem, two convolutions in a row, a residual sum, one that is never called, two linear layers."""

    n_class = 5
    layer_names = ("stem", "a", "b", "fc1", "fc2")

    def __init__(self):
        with self.init_scope():
            self.stem = Conv2DBNActiv(3, 16, 3, 1, 1)
            self.a = Conv2DBNActiv(16, 64, 3, 2, 1)
            self.b = Conv2DActiv(64, 64, 1)
            self.squeeze = SqueezeExcite2D(64, 8)
            self.depthwise = Convolution2D(64, 64, 3, 1, 1, groups=64)
            self.unused = ChainList(Convolution2D(8, 8, 3))
            self.fc1 = Linear(64, 48)
            self.fc2 = Linear(48, 5)

    def prepare(self, img):
        return img * np.float32(1 / 255)

    def stages(self, x):
        h = self.stem(x)
        yield "stem", h
        h = self.a(h)
        yield "a", h
        h = self.b(h)
        yield "b", h
        h = self.depthwise(self.squeeze(h) + h)
        h = F.relu(self.fc1(F.global_average_pooling_2d(h)))
        yield "fc1", h
        yield "fc2", self.fc2(h)


@pytest.fixture(scope="module")
def photos():
    rng = np.random.default_rng(0)
    return [(rng.random((3, 16, 16)) * 255).astype(np.float32) for _ in range(6)]


@pytest.fixture(scope="module")
def network(photos):
    set_seed(3)
    model = Network()
    with using_config("train", True), no_backprop_mode():  # statistics of the normalizations
        for _ in range(20):
            model(np.stack([model.prepare(img) for img in photos]))
    return model


@pytest.fixture(scope="module", params=["numpy", "auto"])
def quantized(request, network, photos):
    with using_config("backend", request.param):
        yield network.quantize(photos)


def test_the_new_model_is_near_and_the_old_one_as_it_was(network, photos):
    before = network.predict(photos)
    state = {name: array.copy() for name, array in network.state_arrays().items()}
    quantized = network.quantize(photos)
    after = network.predict(photos)
    np.testing.assert_array_equal(np.asarray(after), np.asarray(before))
    for name, array in network.state_arrays().items():
        np.testing.assert_array_equal(array, state[name])
    assert network.quantization_report is None
    assert all(link.kernel is None for link in network.links() if isinstance(link, Convolution2D | Linear))
    assert type(quantized) is Network
    there = np.asarray(quantized.predict(photos))
    assert 0 < np.abs(there - np.asarray(before)).max() < 0.02


def test_the_report_says_what_became_of_each_layer(quantized):
    report = quantized.quantization_report
    assert {layer.path: layer.why for layer in report} == {
        "/stem/conv": "first",
        "/a/conv": "",
        "/b/conv": "",
        "/squeeze/fc1": "8 products a number read",
        "/squeeze/fc2": "",
        "/depthwise": "9 products a number read",
        "/unused/0": "not called",
        "/fc1": "",
        "/fc2": "last",
    }
    assert report.n_quantized == sum(layer.precision == "int8" for layer in report) == 4
    assert len(report) == 9
    a = report["/a/conv"]
    assert a.gives_bytes  # to b, who reads the same bytes
    assert not report["/b/conv"].gives_bytes  # a mean and a sum read it
    assert a.low == 0 < a.high
    assert not a.signed
    assert report["/fc1"].signed
    assert a.scale <= a.high / 255 * 1.001
    assert 0 < a.error < 0.03
    assert np.isnan(report["/unused/0"].error)
    lines = str(report).splitlines()
    assert lines[0] == "4 of 9 layers in int8, ranges of 6 images by 'mse'"
    assert len(lines) == 10
    with pytest.raises(ValueRangeError, match="nowhere"):
        report["/nowhere"]


def test_layers_hand_bytes_to_each_other_and_numbers_to_everybody_else(quantized, photos):
    x = np.stack([quantized.prepare(img) for img in photos])
    with no_backprop_mode(), using_config("train", False):
        h = quantized.a(quantized.stem(x))
        assert isinstance(h, ByteVariable)
        scale = quantized.b.conv.kernel.counting.scale
        assert h.shape == (6, 64, 8, 8)
        assert (h.ndim, h.dtype, len(h)) == (4, np.float32, 6)
        y = quantized.b(h)
        np.testing.assert_array_equal(quantized.b(Variable(h.array.copy())).array, y.array)
        np.testing.assert_array_equal(quantized.b(h).array, y.array)  # also after it was read
        steps = h.array / np.float32(scale)
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)
        h.array[...] = 0  # and after it was written into
        assert not np.ptp(quantized.b(h).array, axis=(0, 2, 3)).any()
        other = quantized.a(quantized.stem(x))
        doubled = (other + other).array
        np.testing.assert_array_equal(doubled, 2 * other.array)
    quantized.pick = ("a", "fc1")
    try:
        with no_backprop_mode(), using_config("train", False):
            picked, _ = quantized(x)
        np.testing.assert_array_equal(2 * picked.array, doubled)
    finally:
        quantized.pick = None


@pytest.mark.skipif(why_no_onednn() is not None, reason="NumPy's products of matrices see the rest of the batch")
def test_a_photo_has_the_same_bits_alone_and_in_company(network, photos):
    quantized = network.quantize(photos)
    together = np.asarray(quantized.predict(photos))
    for k, img in enumerate(photos):
        np.testing.assert_array_equal(np.asarray(quantized.predict([img]))[0], together[k])


def test_both_backends_compute_the_same(network, photos):
    quantized = network.quantize(photos)
    fast = np.asarray(quantized.predict(photos))
    with using_config("backend", "numpy"):
        np.testing.assert_allclose(np.asarray(quantized.predict(photos)), fast, atol=2e-3)


def test_what_stays_in_float_can_be_chosen(network, photos):
    def paths(**how):
        return {layer.path for layer in network.quantize(photos, **how).quantization_report if layer.why == ""}

    everything = {"/stem/conv", "/a/conv", "/b/conv", "/squeeze/fc1", "/squeeze/fc2", "/depthwise", "/fc1", "/fc2"}
    assert paths(first_and_last=False, least_work=0) == everything
    assert paths(in_float=["/a", "fc1"]) == {"/b/conv", "/squeeze/fc2"}
    assert paths(in_float=["b/conv"]) == {"/a/conv", "/squeeze/fc2", "/fc1"}
    assert paths(max_error=1e-6) == set()
    report = network.quantize(photos, in_float=["b"]).quantization_report
    assert report["/b/conv"].why == "asked for"
    assert not report["/a/conv"].gives_bytes


@pytest.mark.parametrize("method", ["mse", "percentile", "minmax"])
def test_every_method_is_near(network, photos, method):
    expected = np.asarray(network.predict(photos))
    quantized = network.quantize(iter(photos), method=method, first_and_last=False, least_work=0)
    assert np.abs(np.asarray(quantized.predict(photos)) - expected).max() < 0.03


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"method": "best"}, "method"),
        ({"percentile": 0}, "percentile"),
        ({"percentile": 101}, "percentile"),
        ({"least_work": -1}, "least_work"),
        ({"max_error": 0}, "max_error"),
        ({"in_float": ["nowhere"]}, "names no layer"),
    ],
)
def test_unknown_settings_are_refused(network, photos, how, says):
    with pytest.raises(ValueRangeError, match=says):
        network.quantize(photos, **how)


def test_what_a_linear_layer_makes_of_a_number_counts_as_its_work(network, photos):
    def why(least_work):
        return network.quantize(photos, least_work=least_work).quantization_report["/fc1"].why

    assert (why(48), why(49)) == ("", "48 products a number read")


def test_no_photos_and_numbers_that_are_none_are_refused(network, photos):
    with pytest.raises(ValueRangeError, match="images"):
        network.quantize([])
    broken = network.copy("copy")
    broken.stem.conv.W.array[...] = np.nan
    with pytest.raises(ValueRangeError, match="not finite"):
        broken.quantize(photos)


@pytest.mark.parametrize(
    ("one", "error"),
    [
        (lambda photos: photos[0], ShapeError),  # which would be three grey ones
        (lambda photos: "photo.jpg", DtypeError),
        (lambda photos: pathlib.Path("photo.jpg"), DtypeError),
        (lambda photos: 3, DtypeError),
    ],
)
def test_one_photo_is_refused_as_predict_refuses_it(network, photos, one, error):
    with pytest.raises(error, match="quantize takes"):
        network.quantize(one(photos))


def test_one_path_of_a_layer_is_refused_where_several_are_wanted(network, photos):
    with pytest.raises(DtypeError, match="in_float") as caught:
        network.quantize(photos, in_float="/fc1")
    assert 'in_float=["/fc1"]' in str(caught.value)


def test_a_quantized_model_neither_learns_nor_is_quantized_again_nor_saved(quantized, photos, tmp_path):
    x = np.stack([quantized.prepare(img) for img in photos])
    with pytest.raises(GraphError, match="cannot be trained"):
        quantized(Variable(x))
    with pytest.raises(GraphError, match="cannot be trained"):
        quantized.fc1(Variable(np.zeros((1, 64), np.float32)))
    with pytest.raises(GraphError, match="quantized already"):
        quantized.quantize(photos)
    with pytest.raises(UnsupportedError, match="more than its arrays"):
        save_npz(tmp_path / "model.npz", quantized)
    assert not list(tmp_path.iterdir())
    with pytest.raises(UnsupportedError, match="no other weights"):
        quantized.load_arrays({})


@pytest.mark.parametrize("whole", [True, False], ids=["model", "chain around it"])
def test_a_quantized_model_is_not_made_ready_to_learn(quantized, whole):
    model = quantized if whole else ChainList(Linear(3, 3), quantized)
    for begin in (SGD(lr=0.1).setup, lambda model: model.compile(train=True)):
        with pytest.raises(GraphError, match=r"(SGD\.setup|compile\(train=True\)): /.*conv is quantized"):
            begin(model)
    assert all(parameter.update_rule is None for parameter in model.params())
    quantized.compile()
    quantized.uncompile()


def eight_bits(conv, norm, x):
    """What the layer computes, in float32 as an array, before it is rounded for the next."""
    return Int8Kernel(conv.kernel.counting).convolve(conv, norm, x).array


def test_what_layers_lose_has_a_mean_of_nothing_in_each_channel(network, photos):
    quantized = network.quantize(photos)
    x = np.stack([network.prepare(img) for img in photos])
    with no_backprop_mode(), using_config("train", False):
        h = network.stem(x)
        for own, there, norm, corrected in [
            (network.a, quantized.a, "bn", lambda block: block.bn.beta),
            (network.b, quantized.b, "", lambda block: block.conv.b),
        ]:
            before, after = getattr(own, norm, None), getattr(there, norm, None)
            lost = float_convolution(own.conv, before)(h).array - eight_bits(there.conv, after, h)
            assert np.abs(lost.mean(axis=(0, 2, 3))).max() < 1e-5 < np.abs(lost).max()
            assert (corrected(there).array != corrected(own).array).any()
            h = own(h)


def test_the_error_is_what_is_left_after_the_correction(network, photos):
    quantized = network.quantize(photos)
    x = np.stack([network.prepare(img) for img in photos])
    with no_backprop_mode(), using_config("train", False):
        h = network.stem(x)
        y = float_convolution(network.a.conv, network.a.bn)(h).array
        lost = y - eight_bits(quantized.a.conv, quantized.a.bn, h)
    error = quantized.quantization_report["/a/conv"].error
    assert error == pytest.approx(np.sqrt(np.square(lost).sum() / np.square(y).sum()), rel=1e-3)


def test_copies_predict_the_same(quantized, photos):
    expected = np.asarray(quantized.predict(photos))
    for twin in (quantized.copy("copy"), quantized.copy("share"), copy.deepcopy(quantized)):
        np.testing.assert_array_equal(np.asarray(twin.predict(photos)), expected)
        assert twin.quantization_report is not None


def test_filters_that_change_are_quantized_anew(network, photos):
    quantized = network.quantize(photos)
    before = np.asarray(quantized.predict(photos))
    quantized.a.conv.W.array[...] *= -1
    after = np.asarray(quantized.predict(photos))
    assert np.abs(after - before).max() > 1e-3
    quantized.a.conv.W.array[...] *= -1
    np.testing.assert_array_equal(np.asarray(quantized.predict(photos)), before)


def test_a_filter_of_zeros_gives_its_bias(photos):
    model = Network()
    model.b.conv.W.array[3] = 0
    model.b.conv.b.array[3] = 0.75
    quantized = model.quantize(photos)
    assert isinstance(quantized.b.conv.kernel, Int8Kernel)
    x = np.stack([quantized.prepare(img) for img in photos])
    with no_backprop_mode(), using_config("train", False):
        y = quantized.b(quantized.a(quantized.stem(x))).array
    assert (y[:, 3] == 0.75).all()


@needs_bf16
def test_layers_may_be_in_bfloat16(network, photos):
    expected = np.asarray(network.predict(photos))
    quantized = network.quantize(photos, precision="bf16")
    report = quantized.quantization_report
    there = {layer.path for layer in report if layer.precision == "bf16"}
    assert there == {"/a/conv", "/b/conv", "/squeeze/fc2", "/fc1"}
    assert 0 < report["/a/conv"].error < 0.01
    assert str(report).startswith("4 of 9 layers in bf16")
    assert 0 < np.abs(np.asarray(quantized.predict(photos)) - expected).max() < 0.01
    with pytest.raises(GraphError, match="cannot be trained"):
        quantized(Variable(np.zeros((1, 3, 16, 16), np.float32)))
    with pytest.raises(GraphError, match="cannot be trained"):
        quantized.fc1(Variable(np.zeros((1, 64), np.float32)))
    for k, img in enumerate(photos):
        alone = np.asarray(quantized.predict([img]))[0]
        np.testing.assert_array_equal(alone, np.asarray(quantized.predict(photos))[k])


def test_another_precision_is_refused_and_bfloat16_where_there_is_none(network, photos, monkeypatch):
    with pytest.raises(ValueRangeError, match="precision"):
        network.quantize(photos, precision="int4")
    monkeypatch.setattr(quantize_file, "why_no_bf16", lambda: "the processor is old")
    with pytest.raises(UnsupportedError, match="the processor is old"):
        network.quantize(photos, precision="bf16")
