"""ResNets: shapes, strides, stems, normalizations, and how a photo is prepared."""

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from cvzoo.links.connection.batch_normalization import BatchNormalization, FrozenBatchNormalization
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.model.resnet.extractor import Bottleneck, ResNetExtractor
from cvzoo.links.model.resnet.resnet import ResNet, ResNet18, ResNet50
from cvzoo.serializers.npz import save_npz


def photo(*size):
    return np.random.default_rng(1).integers(0, 256, (3, *size)).astype(np.float32)


@pytest.mark.parametrize(
    ("stem", "size", "sides"),
    [
        ("photo", (64, 96), [(16, 24), (8, 12), (4, 6), (2, 3)]),
        ("photo", (65, 33), [(17, 9), (9, 5), (5, 3), (3, 2)]),  # an odd side is rounded up
        ("cifar", (32, 32), [(32, 32), (16, 16), (8, 8), (4, 4)]),
    ],
)
def test_maps_have_the_strides_of_the_stem(stem, size, sides):
    extractor = ResNetExtractor(10, base_channels=8, stem=stem)
    assert extractor.channels == (8, 16, 32, 64)
    maps = extractor(np.zeros((1, 3, *size), np.float32))
    assert [y.shape for y in maps] == [(1, c, *side) for c, side in zip(extractor.channels, sides)]


@pytest.mark.parametrize(
    ("dilations", "first", "strides", "of_res4", "of_res5"),
    [
        ((1, 1, 1, 1), False, (4, 8, 16, 32), [1] * 6, [1] * 3),
        ((1, 1, 1, 2), False, (4, 8, 16, 16), [1] * 6, [1, 2, 2]),
        ((1, 1, 2, 4), False, (4, 8, 8, 8), [1, 2, 2, 2, 2, 2], [2, 4, 4]),  # as torchvision
        ((1, 1, 2, 4), True, (4, 8, 8, 8), [2] * 6, [4] * 3),  # as PSPNet
    ],
)
def test_dilated_stages_keep_the_size(dilations, first, strides, of_res4, of_res5):
    extractor = ResNetExtractor(50, base_channels=2, dilations=dilations, dilate_first=first)
    maps = extractor(np.zeros((1, 3, 64, 32), np.float32))
    assert [y.shape[2:] for y in maps] == [(64 // s, 32 // s) for s in strides]
    for stage, dilates in ((extractor.res4, of_res4), (extractor.res5, of_res5)):
        assert [block.conv2.conv.dilate for block in stage] == dilates
        assert stage[0].conv2.conv.stride == (2 if dilates[-1] == 1 else 1)


def test_the_deep_stem_has_three_convolutions():
    extractor = ResNetExtractor(50, base_channels=4, stem="deep")
    assert [layer.conv.W.shape[:2] for layer in extractor.conv1] == [(4, 3), (4, 4), (8, 4)]
    assert extractor(np.zeros((1, 3, 33, 64), np.float32))[0].shape == (1, 16, 9, 16)


@pytest.mark.parametrize(("pool", "side"), [("padded", (8, 9)), ("cover", (8, 8))])
def test_the_pooling_is_padded_or_covers_all(pool, side):
    extractor = ResNetExtractor(10, base_channels=4, pool=pool)
    x = np.zeros((1, 3, 32, 34), np.float32)  # 16 x 17 before the pooling
    assert dict(extractor.stages(x))["pool1"].shape[2:] == side


@pytest.mark.parametrize(
    ("settings", "widths"),
    [
        ({"groups": 32, "base_width": 4}, (128, 4)),  # ResNeXt-50 32x4d
        ({"groups": 32, "base_width": 8}, (256, 8)),
        ({"base_width": 128}, (128, 128)),  # Wide ResNet-50-2
    ],
)
def test_groups_and_width_are_those_of_the_3_x_3_convolution(settings, widths):
    block = Bottleneck(64, 64, 1, eps=1e-5, **settings)
    assert block.conv2.conv.W.shape == (*widths, 3, 3)
    assert block.conv3.conv.W.shape[0] == 256


@pytest.mark.parametrize("n_layer", [10, 50])
def test_gates_are_in_each_block(n_layer):
    extractor = ResNetExtractor(n_layer, base_channels=16, se=4)
    block = extractor.res2[0]
    assert block.se.down.W.shape == (extractor.channels[0] // 4, extractor.channels[0])
    last = block.conv2 if n_layer == 10 else block.conv3
    x = np.random.default_rng(0).standard_normal((2, 16, 5, 5), "float32")
    with using_config("train", False):
        h = block.conv2(block.conv1(x)) if n_layer == 50 else block.conv1(x)
        gated = block.se(last.bn(last.conv(h)))
        expected = np.maximum((gated + (x if block.shortcut is None else block.shortcut(x))).array, 0)
        np.testing.assert_allclose(block(x).array, expected, atol=1e-5)


@pytest.mark.parametrize(("arch", "strides"), [("v1.5", (1, 2)), ("he", (2, 1))])
def test_the_arch_says_which_convolution_has_the_stride(arch, strides):
    block = Bottleneck(8, 4, 2, arch=arch, eps=1e-5)
    assert (block.conv1.conv.stride, block.conv2.conv.stride) == strides
    assert block(np.zeros((1, 8, 6, 6), np.float32)).shape == (1, 16, 3, 3)


@pytest.mark.parametrize(("n_layer", "n_param"), [(18, 11_689_512), (34, 21_797_672), (50, 25_557_032)])
def test_there_are_as_many_parameters_as_published(n_layer, n_param):
    assert ResNet(n_layer).count_params() == n_param


@pytest.mark.parametrize(
    ("norm", "kind"),
    [("batch", BatchNormalization), ("frozen", FrozenBatchNormalization), ("group", GroupNormalization)],
)
def test_gradients_reach_every_parameter_whatever_the_normalization(norm, kind):
    model = ResNet(10, 3, base_channels=8, norm=norm)
    assert any(isinstance(link, kind) for link in model.links())
    x = np.random.default_rng(0).standard_normal((2, 3, 64, 64), "float32")
    model.cleargrads()
    softmax_cross_entropy(model(x), np.array([0, 2], np.int32)).backward()
    assert all(np.abs(p.grad).sum() > 0 for p in model.params())


def test_a_frozen_normalization_does_not_change_while_training():
    norm = FrozenBatchNormalization(4, eps=0.0)
    norm.avg_mean[:] = 1
    norm.avg_var[:] = 4
    norm.gamma[:] = 2
    x = np.random.default_rng(0).standard_normal((2, 4, 3, 3), "float32")
    for train in (True, False):
        with using_config("train", train):
            np.testing.assert_allclose(norm(x).array, x - 1, atol=1e-6)
    assert list(norm.params()) == []
    assert (norm.avg_mean == 1).all()


def test_files_of_trained_and_frozen_networks_fit_each_other(tmp_path):
    trained = ResNet(10, 3, base_channels=8)
    x = np.random.default_rng(0).standard_normal((2, 3, 32, 32), "float32")
    trained(x)  # statistics other than 0 and 1
    save_npz(tmp_path / "model.npz", trained)
    frozen = ResNet(10, 3, tmp_path / "model.npz", base_channels=8, norm="frozen")
    with using_config("train", False):
        np.testing.assert_array_equal(trained(x).array, frozen(x).array)


def test_a_file_of_another_network_is_refused(tmp_path):
    save_npz(tmp_path / "model.npz", ResNet(10, 3, base_channels=8))
    with pytest.raises(WeightsMismatchError, match="conv1/conv/W"):
        ResNet(10, 3, tmp_path / "model.npz", base_channels=4)


@pytest.mark.parametrize("make", [ResNet18, ResNet50])
def test_predict_gives_probabilities(make):
    model = make(3, label_names=("a", "b", "c"))
    probs = model.predict([photo(40, 60), photo(300, 200)])
    assert probs.probs.shape == (2, 3)
    np.testing.assert_allclose(probs.probs.sum(axis=1), 1, atol=1e-5)
    assert set(probs.top(3).names[0]) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"n_layer": 19}, "n_layer"),
        ({"n_layer": 18, "arch": "v2"}, "arch"),
        ({"n_layer": 18, "stem": "big"}, "stem"),
        ({"n_layer": 18, "norm": "none"}, "norm"),
        ({"n_layer": 18, "n_class": 2, "label_names": ("a",)}, "label_names"),
        ({"n_layer": 18, "pretrained_model": "imagenet_v2"}, "pretrained_model"),  # there is none of 18 layers
    ],
)
def test_unknown_settings_are_told(settings, word):
    with pytest.raises(ValueRangeError, match=word):
        ResNet(**settings)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"n_layer": 18, "groups": 32}, "groups"),
        ({"n_layer": 50, "base_width": 0}, "base_width"),
        ({"n_layer": 18, "pool": "no"}, "pool"),
        ({"n_layer": 18, "dilations": (1, 2, 1, 1)}, "dilations"),
        ({"n_layer": 18, "dilations": (1, 1)}, "dilations"),
    ],
)
def test_unknown_settings_of_the_extractor_are_told(settings, word):
    with pytest.raises(ValueRangeError, match=word):
        ResNetExtractor(**settings)


def test_the_network_is_the_same_in_float_arithmetic_of_any_batch():
    model = ResNet(10, 3, base_channels=8)
    x = np.random.default_rng(0).standard_normal((3, 3, 64, 64), "float32")
    with using_config("train", False), no_backprop_mode():
        whole = model(x).array
        np.testing.assert_allclose(whole[1], model(x[1:2]).array[0], atol=1e-6)
