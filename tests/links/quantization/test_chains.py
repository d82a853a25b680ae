"""Bytes go on between layers: through residual sums, through light layers, and in replays."""

import numpy as np
import pytest
from processor import needs_bf16

from cvzoo.autodiff.variable import as_variable
from cvzoo.backends.onednn.library import library
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.functions.connection.byte_variable import ByteVariable, Counting
from cvzoo.functions.pooling.pooling_2d import global_average_pooling_2d, max_pooling_2d
from cvzoo.graph.steps import Evaluate
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
from cvzoo.links.model.resnet.resnet import ResNet


@pytest.fixture(scope="module")
def photos():
    rng = np.random.default_rng(0)
    return [(rng.random((3, 48, 48)) * 255).astype(np.float32) for _ in range(4)]


def _settled(model, photos):
    with using_config("train", True), no_backprop_mode():  # statistics of the normalizations
        for _ in range(5):
            model(np.stack([model.prepare(img) for img in photos]))
    return model


@pytest.fixture(scope="module")
def resnet(photos):
    set_seed(4)
    return _settled(ResNet(50, 5, base_channels=16, stem="cifar"), photos)


@pytest.fixture(scope="module")
def mobilenet(photos):
    set_seed(4)
    return _settled(MobileNetV2(n_class=5, width=0.5), photos)


def _scores(model, photos):
    x = np.stack([model.prepare(img) for img in photos])
    with no_backprop_mode(), using_config("train", False):
        return model(x).array


def test_what_goes_round_a_block_stays_in_bytes(resnet, photos):
    expected = _scores(resnet, photos)
    quantized = resnet.quantize(photos)
    report = quantized.quantization_report
    gives = {each.path: each.gives_bytes for each in report if each.precision == "int8"}
    last = [path for path in gives if path.endswith("conv3/conv")]
    assert len(last) == 16
    assert [path for path in last if not gives[path]] == [last[-1]]  # a mean over the map reads the very last
    assert all(gives[path] for path in gives if "shortcut" in path)  # nobody reads them but the sums
    off = np.sqrt(np.square(_scores(quantized, photos) - expected).mean()) / expected.std()
    assert 0 < off < 0.15


def test_a_stage_that_is_picked_is_given_in_numbers(resnet, photos):
    quantized = resnet.quantize(photos)
    x = np.stack([quantized.prepare(img) for img in photos])
    names = [name for name in quantized.layer_names if name.startswith("res")]
    scores = _scores(quantized, photos)
    quantized.pick = (*names, quantized.layer_names[-1])
    with no_backprop_mode(), using_config("train", False):
        *stages, last = quantized(x)
        np.testing.assert_array_equal(last.array, scores)  # whoever looks, the rest computes the same
        assert any(isinstance(h, ByteVariable) for h in stages)
        for h in stages:
            assert h.array.dtype == np.float32
            assert h.array.std() > 0


def test_a_sum_with_a_layer_that_stays_in_float_is_one_of_numbers(resnet, photos):
    report = resnet.quantize(photos, in_float=["/extractor/res3/1"]).quantization_report
    assert not report["/extractor/res3/0/conv3/conv"].gives_bytes
    assert not report["/extractor/res3/1/conv3/conv"].gives_bytes
    assert report["/extractor/res3/2/conv3/conv"].gives_bytes


def test_light_layers_go_with_those_that_hand_them_bytes(mobilenet, photos):
    expected = _scores(mobilenet, photos)
    quantized = mobilenet.quantize(photos)
    report = quantized.quantization_report
    layers = dict(quantized.namedlinks())
    depthwise = [each for each in report if each.kind == "Convolution2D" and layers[each.path].groups > 1]
    joined = [each for each in depthwise if each.precision == "int8"]
    assert len(joined) >= 10
    assert all(each.gives_bytes for each in joined)
    assert {each.why for each in depthwise if each.precision == "float32"} <= {"9 products a number read", "error"}
    off = np.sqrt(np.square(_scores(quantized, photos) - expected).mean()) / expected.std()
    assert 0 < off < 0.3


def test_light_layers_that_read_numbers_stay(mobilenet, photos):
    first = [each.path for each in mobilenet.quantize(photos).quantization_report if each.precision == "int8"][:1]
    report = mobilenet.quantize(photos, in_float=first).quantization_report
    names = [each.path for each in report]
    after = report[names[names.index(first[0]) + 1]]
    assert after.precision == "float32"


class Pooled(AbstractClassifier):
    """Convolutions with maxima between them."""

    n_class = 5
    layer_names = ("pool1", "pool2", "fc")

    def __init__(self):
        with self.init_scope():
            self.conv1 = Conv2DActiv(3, 32, 3, 1, 1)
            self.conv2 = Conv2DActiv(32, 32, 3, 1, 1)
            self.conv3 = Conv2DActiv(32, 64, 1)
            self.conv4 = Conv2DActiv(64, 32, 1)
            self.fc = Linear(32, 5)

    def prepare(self, img):
        return img * np.float32(1 / 255)

    def stages(self, x):
        h = max_pooling_2d(self.conv2(self.conv1(x)), 3, 2, 1)
        yield "pool1", h
        h = max_pooling_2d(self.conv3(h), 2)
        yield "pool2", h
        yield "fc", self.fc(global_average_pooling_2d(self.conv4(h)))


def test_maxima_of_bytes_stay_bytes(photos):
    set_seed(0)
    quantized = Pooled().quantize(photos, first_and_last=False, max_error=1)
    gives = {each.path: each.gives_bytes for each in quantized.quantization_report}
    assert [path for path in gives if not gives[path]] == ["/conv4/conv", "/fc"]  # a mean reads the former
    x = np.stack([quantized.prepare(img) for img in photos])
    expected = _scores(quantized, photos)
    with no_backprop_mode(), using_config("train", False):
        stages = dict(quantized.stages(x))
        assert all(isinstance(stages[name], ByteVariable) for name in ("pool1", "pool2"))
        h = max_pooling_2d(quantized.conv2(quantized.conv1(x)).array, 3, 2, 1)
    np.testing.assert_array_equal(stages["pool1"].array, h.array)
    graph = quantized.compile(x)
    np.testing.assert_array_equal(_scores(quantized, photos), expected)
    if graph.program.n_call > 1:  # with oneDNN, also few values are quantized without Python
        left = [step.record.label for step in graph.program.lowered.steps if isinstance(step, Evaluate)]
        assert not {"MaxPooling2D", "Quantize"} & set(left)


def test_maxima_over_padding_alone_are_of_floats():
    """Of nothing the maximum is minus infinity, which int8 does not have."""
    values = np.random.default_rng(0).integers(0, 256, (1, 4, 6, 6)).astype(np.uint8)
    for pad in (0, 1, (2, 0)):
        x = ByteVariable(as_variable(values), Counting(0.5, False))
        with no_backprop_mode():
            y = max_pooling_2d(x, 2, 2, pad)
            assert isinstance(y, ByteVariable) == (pad != (2, 0))
            expected = max_pooling_2d(values * np.float32(0.5), 2, 2, pad).array
        np.testing.assert_array_equal(y.array, expected)


@needs_bf16
def test_bfloat16_goes_on_between_layers_too(resnet, photos):
    quantized = resnet.quantize(photos, precision="bf16", least_work=0)
    gives = {each.path: each.gives_bytes for each in quantized.quantization_report if each.precision == "bf16"}
    assert [path for path in gives if not gives[path]] == ["/extractor/res5/2/conv3/conv"]
    expected = _scores(resnet, photos)
    off = np.sqrt(np.square(_scores(quantized, photos) - expected).mean()) / expected.std()
    assert 0 < off < 0.02


@pytest.mark.parametrize("precision", ["int8", pytest.param("bf16", marks=needs_bf16)])
@pytest.mark.parametrize("name", ["resnet", "mobilenet"])
def test_replays_give_the_same_bits_and_keep_bytes_between(name, precision, photos, request):
    quantized = request.getfixturevalue(name).quantize(photos, precision=precision)
    expected = _scores(quantized, photos)
    x = np.stack([quantized.prepare(img) for img in photos])
    graph = quantized.compile(x)
    np.testing.assert_array_equal(_scores(quantized, photos), expected)
    np.testing.assert_array_equal(_scores(quantized, photos), expected)
    if graph.program.n_call > 1:  # with oneDNN
        labels = [step.record.function.label for step in graph.program.lowered.steps]
        n_layer = quantized.quantization_report.n_quantized
        assert sum("Quantize" in label for label in labels) < n_layer / 4
        assert not any("Dequantize" in label for label in labels)
        # CPUs without int8 instructions convert the addend in Python
        has_kernels = precision == "bf16" or library().has_int8
        assert graph.changed["add_in_place"] > (2 if name == "resnet" and has_kernels else -1)
    alone = _scores(quantized, photos[1:2])
    np.testing.assert_array_equal(alone[0], expected[1])


@pytest.mark.parametrize("precision", ["int8", pytest.param("bf16", marks=needs_bf16)])
def test_a_replayed_part_gives_numbers_though_it_holds_fewer_bits(resnet, photos, precision):
    quantized = resnet.quantize(photos, precision=precision, least_work=0)
    block = quantized.extractor.res3[0]
    block = block[0] if isinstance(block, tuple) else block
    inputs = [np.random.default_rng(k).random((1, 64, 12, 12), np.float32) * 3 for k in range(3)]
    with no_backprop_mode(), using_config("train", False):
        eager = [block(x) for x in inputs]
        assert all(isinstance(y, ByteVariable) for y in eager)
        expected = [y.array for y in eager]
        block.compile(inputs[0])
        for x, want in zip(inputs, expected):
            np.testing.assert_array_equal(block(x).array, want)
