"""Multiply-adds and parameters of layers, for every network of the conformance suites and as published."""

import math
import pathlib

import numpy as np
import pytest
from neighbour import module_at
from processor import needs_bf16

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.links.model.layer_costs import layer_costs, n_multiply_add
from cvzoo.links.model.raw_outputs import seeded_photo

HERE = pathlib.Path(__file__).parent
LISTS = {
    "CLASSIFIERS": module_at(HERE / "test_classifier_conformance.py"),
    "MAKERS": module_at(HERE / "test_detector_conformance.py"),
    "SEGMENTERS": module_at(HERE / "test_segmenter_conformance.py"),
    "MODELS": module_at(HERE / "test_instance_networks.py"),
}
NETWORKS = [(listed, name) for listed, module in LISTS.items() for name in vars(module)[listed]]
IMG = seeded_photo((50, 70))


class Fused(AbstractFunctionHook):
    """Multiply-adds of the functions of inference, where layers are fused."""

    def __init__(self):
        self.total = 0
        self.inputs = []

    def forward_preprocess(self, function, in_data):
        self.inputs.append(in_data)

    def outputs_made(self, function, outputs):
        in_data = self.inputs.pop()
        self.total += 0 if self.inputs else n_multiply_add(function.label, in_data, outputs[0].shape)


@pytest.mark.parametrize(("listed", "name"), NETWORKS, ids=[name for _, name in NETWORKS])
def test_layers_add_up_to_what_inference_multiplies(listed, name):
    model = LISTS[listed]._made(name)
    costs = layer_costs(model, lambda: model.predict([IMG]))
    with Fused() as fused:
        model.predict([IMG])
    assert sum(each.n_multiply_add for each in costs) == fused.total > 0
    assert len({each.name for each in costs}) == len(costs)
    paths = dict(model.namedparams())
    counted = sum(each.n_parameter for each in costs)
    assert 0 < counted <= sum(param.array.size for param in paths.values())
    names = {path.strip("/").rpartition("/")[0] for path in paths}
    assert {each.name for each in costs if each.n_parameter} <= names


@pytest.mark.parametrize("precision", ["int8", pytest.param("bf16", marks=needs_bf16)])
def test_a_quantized_model_multiplies_as_often(precision):
    model = L.ResNet(10, 3, base_channels=8, stem="cifar")
    counts = [
        sum(each.n_multiply_add for each in layer_costs(one, lambda one=one: one.predict([IMG])))
        for one in (model, model.quantize([IMG], precision=precision, least_work=1))
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("make", "giga"),
    [
        (lambda: L.MobileNetV2(n_class=1000), 0.30),
        pytest.param(lambda: L.ResNet50(n_class=1000), 4.09, marks=pytest.mark.slow),
        pytest.param(lambda: L.VGG16(n_class=1000), 15.47, marks=pytest.mark.slow),
        pytest.param(lambda: L.SwinT(n_class=1000), 4.49, marks=pytest.mark.slow),
        pytest.param(lambda: L.SSD300(n_fg_class=20), 31.37, marks=pytest.mark.slow),
    ],
    ids=["MobileNetV2", "ResNet50", "VGG16", "SwinT", "SSD300"],
)
def test_multiply_adds_are_the_published_numbers(make, giga):
    model = make()
    img = np.zeros((3, 480, 640), np.uint8)
    total = sum(each.n_multiply_add for each in layer_costs(model, lambda: model.predict([img])))
    assert total / 1e9 == pytest.approx(giga, abs=0.01)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda a: F.convolution_2d(a(2, 4, 9, 9), a(6, 4, 3, 3)), 2 * 6 * 7 * 7 * 4 * 9),
        (lambda a: F.convolution_2d(a(1, 4, 9, 9), a(6, 2, 3, 3), groups=2, stride=2), 6 * 4 * 4 * 2 * 9),
        (lambda a: F.deconvolution_2d(a(1, 4, 5, 5), a(4, 3, 2, 2), stride=2), 4 * 5 * 5 * 3 * 4),
        (lambda a: F.linear(a(3, 5), a(7, 5)), 3 * 5 * 7),
        (lambda a: F.matmul(a(4, 5), a(6, 5), transb=True), 4 * 5 * 6),
        (lambda a: F.matmul(a(5, 4), a(5, 6), transa=True), 4 * 5 * 6),
        (lambda a: F.matmul(a(2, 4, 5), a(2, 5, 6)), 2 * 4 * 5 * 6),
        (lambda a: F.relu(a(3, 3)), 0),
    ],
)
def test_the_multiply_adds_of_a_function(call, expected):
    with Fused() as found:
        call(lambda *shape: np.ones(shape, np.float32))
    assert found.total == expected


def test_a_layer_that_is_called_for_several_maps_counts_each():
    model = L.Sequential(L.Convolution2D(3, 4, 1), L.Convolution2D(4, 4, 1))
    x = np.zeros((1, 3, 5, 5), np.float32)
    costs = layer_costs(model, lambda: (model(x), model(x)))
    assert [each.calls for each in costs] == [2, 2]
    assert costs[0].n_multiply_add == 2 * math.prod((4, 5, 5, 3))
    assert costs[0].shape == (1, 4, 5, 5)
