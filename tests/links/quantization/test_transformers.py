"""Networks of linear layers in fewer bits: rows of tokens through `fused_linear`, on real photos."""

import numpy as np
import pytest

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.onednn.library import why_no_bf16
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError
from cvzoo.functions.connection.byte_variable import ByteVariable
from cvzoo.images.read_image import read_image
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.convnext import convnext as convnext_plan
from cvzoo.links.model.convnext.convnext import ConvNeXt
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.swin import extractor as swin_plan
from cvzoo.links.model.swin.swin import SwinTransformer
from cvzoo.links.model.vit import vit as vit_plan
from cvzoo.links.model.vit.vit import ViT

SMALL = PhotoPreparation(short=64, crop=64)
NETWORKS = {
    "vit": lambda: ViT(n_class=7, plan=vit_plan.ViTDimensions(8, 2, 2, 32, 64), insize=64, preparation=SMALL),
    "swin": lambda: SwinTransformer(
        n_class=7, plan=swin_plan.SwinDimensions(32, (1, 1, 2), (2, 2, 4), 4, 0.0), preparation=SMALL
    ),
    "swin 2": lambda: SwinTransformer(
        n_class=7, plan=swin_plan.SwinDimensions(32, (1, 1, 2), (2, 2, 4), 4, 0.0, 2), preparation=SMALL
    ),
    "convnext": lambda: ConvNeXt(
        n_class=7, plan=convnext_plan.ConvNeXtDimensions((32, 48, 64, 96), (1, 1, 1, 1), 0.0), preparation=SMALL
    ),
}
PRECISIONS = [
    "int8",
    pytest.param("bf16", marks=pytest.mark.skipif(why_no_bf16() is not None, reason=f"no bfloat16: {why_no_bf16()}")),
]


@pytest.fixture(scope="module")
def photos(shared):
    paths = sorted((shared / "data" / "tiny_coco" / "train2017").glob("*.jpg"))[:6]
    return [read_image(path) for path in paths]


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    set_seed(1)
    model = NETWORKS[request.param]()
    for name, parameter in model.namedparams():
        if name.endswith("/scale") and parameter.array.ndim == 1:
            parameter.array[...] = 1  # blocks that count, as those of trained networks
    return model


def _scores(model, photos):
    x = np.stack([model.prepare(img) for img in photos])
    with no_backprop_mode(), using_config("train", False):
        return model(x).array


@pytest.mark.parametrize("precision", PRECISIONS)
def test_blocks_compute_in_fewer_bits_and_scores_stay_near(network, photos, precision):
    expected = _scores(network, photos)
    quantized = network.quantize(photos, precision=precision)
    report = quantized.quantization_report
    fewer = [each.path.rpartition("/")[2] for each in report if each.precision == precision]
    assert fewer.count("widen") >= 2
    assert fewer.count("narrow") >= 2
    assert all(each.error < (0.04 if precision == "int8" else 0.005) for each in report if each.precision == precision)
    there = _scores(quantized, photos)
    off = np.sqrt(np.square(there - expected).mean() / np.square(expected - expected.mean()).mean())
    assert 0 < off < (0.06 if precision == "int8" else 0.02)


def test_a_widening_layer_hands_bytes_to_the_narrowing_one(network, photos):
    quantized = network.quantize(photos)
    report = quantized.quantization_report
    wide = [each for each in report if each.path.endswith("/widen") and each.precision == "int8"]
    assert wide
    for each in wide:
        narrow = report[each.path.replace("/widen", "/narrow")]
        assert each.gives_bytes == (narrow.precision == "int8")
        assert not narrow.gives_bytes  # it is part of a sum


def test_a_photo_has_the_same_bits_alone_and_in_company_and_nearly_the_same_replayed(network, photos):
    quantized = network.quantize(photos)
    together = _scores(quantized, photos)
    np.testing.assert_array_equal(_scores(quantized, photos[2:3])[0], together[2])
    quantized.compile(np.stack([quantized.prepare(img) for img in photos]))
    # replays add up attention in another order, and a last bit of a float may decide between two bytes
    np.testing.assert_allclose(_scores(quantized, photos), together, atol=5e-3 * np.abs(together).max())
    assert sum(graph.n_record > 3 for graph in quantized.graphs()) >= 1


def test_rows_held_as_bytes_are_the_numbers_they_mean(network, photos):
    quantized = network.quantize(photos)
    layers = dict(quantized.namedlinks())
    path = next(each.path for each in quantized.quantization_report if each.gives_bytes and each.kind == "Linear")
    layer = layers[path]
    x = np.random.default_rng(0).standard_normal((2, 3, 4, layer.W.shape[1])).astype(np.float32)
    with no_backprop_mode():
        y = fused_linear(layer, x, with_gelu=True)
        assert isinstance(y, ByteVariable)
        assert y.shape == (2, 3, 4, layer.W.shape[0])
        scale = layer.kernel.out_counting.scale
        plain = Linear(layer.W.shape[1], layer.W.shape[0], initialW=layer.W.array, initial_bias=layer.b.array)
        near = fused_linear(plain, x, with_gelu=True).array
        largest = 127 * scale
        lost = y.array - np.clip(near, -largest, largest)
        assert np.sqrt(np.square(lost).mean()) < 0.05 * near.std()
    with pytest.raises(GraphError, match="cannot be trained"):
        fused_linear(layer, Variable(x))
