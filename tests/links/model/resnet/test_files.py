"""ResNets from files of torchvision, timm and ChainerCV, and torchvision's numbers."""

import re

import numpy as np
import pytest
from by_our_names import by_our_names
from zoo_family import family_of

import cvzoo.links as L
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.architectures import architecture_of
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.resnet.weights import CAFFE_PREPARATION
from cvzoo.links.model.resnet.weights import NAMES as RESNET_NAMES

LEAVES = {"W": "weight", "b": "bias", "gamma": "weight", "beta": "bias"}
LEAVES |= {"avg_mean": "running_mean", "avg_var": "running_var", "N": "num_batches_tracked"}
# torchvision's name -> what a ResNet of it is made with
NAMES = {
    "resnext50_32x4d": {"n_layer": 50, "groups": 32, "base_width": 4},
    "resnext101_32x8d": {"n_layer": 101, "groups": 32, "base_width": 8},
    "resnext101_64x4d": {"n_layer": 101, "groups": 64, "base_width": 4},
    "wide_resnet50_2": {"n_layer": 50, "base_width": 128},
    "wide_resnet101_2": {"n_layer": 101, "base_width": 128},
}


def small(pretrained_model=None, **settings):
    return ResNet(50, 5, pretrained_model, base_channels=16, **settings)


def varied(model):
    """Its arrays, with statistics that are not 0 and 1."""
    rng = np.random.default_rng(0)
    for name, array in model.state_arrays().items():
        if name.endswith(("avg_mean", "avg_var")):
            array[...] = 0.5 + rng.random(array.shape)
    return {name: np.array(array) for name, array in model.state_arrays().items()}


def as_timm(arrays, *, legacy=False):
    """Arrays by our names as timm's files have them; `legacy`, as those of its first gated networks."""
    named = {}
    for path, array in arrays.items():
        place, _, leaf = path.rpartition("/")
        place = re.sub(r"^extractor/conv1/(conv|bn)$", r"\g<1>1", place)
        place = re.sub(r"^extractor/res(\d)/", lambda match: f"layer{int(match[1]) - 1}/", place)
        place = re.sub(r"/conv(\d)/(conv|bn)$", r"/\2\1", place)
        place = place.replace("/shortcut/conv", "/downsample/0").replace("/shortcut/bn", "/downsample/1")
        se = "se_module" if legacy else "se"
        place = place.replace("/se/down", f"/{se}/fc1").replace("/se/up", f"/{se}/fc2")
        if legacy:
            place = {"conv1": "layer0/conv1", "bn1": "layer0/bn1", "fc": "last_linear"}.get(place, place)
        is_gate = f"/{se}/" in f"/{place}/" and leaf == "W"
        named[f"{place.replace('/', '.')}.{LEAVES[leaf]}"] = array[:, :, None, None] if is_gate else array
    return named


def as_chainercv(arrays):
    """Arrays by our names as ChainerCV's files have them."""
    named = {}
    for path, array in arrays.items():
        name = re.sub(r"/(\d+)/", lambda match: f"/{'a' if match[1] == '0' else 'b' + match[1]}/", path)
        name = name.removeprefix("extractor/").replace("/shortcut/", "/residual_conv/")
        named[re.sub("^fc/", "fc6/", name)] = array
    return named


def scores(model, x):
    with using_config("train", False), no_backprop_mode():
        return model(x).array


X = np.random.default_rng(3).standard_normal((2, 3, 64, 64), "float32")


@pytest.mark.parametrize(
    ("kind", "write", "arch", "pool"),
    [
        ({}, as_timm, "v1.5", "padded"),
        ({"groups": 2, "base_width": 32}, as_timm, "v1.5", "padded"),
        ({"se": 16}, as_timm, "v1.5", "padded"),
        ({"se": 16}, lambda arrays: as_timm(arrays, legacy=True), "he", "cover"),
        ({"se": 16, "groups": 2, "base_width": 32}, lambda arrays: as_timm(arrays, legacy=True), "v1.5", "cover"),
        ({}, as_chainercv, "v1.5", "cover"),
        ({"se": 16}, as_chainercv, "he", "cover"),
        ({"se": 16, "groups": 2, "base_width": 32}, as_chainercv, "v1.5", "cover"),
    ],
    ids=["torchvision", "groups", "timm, gates", "legacy", "legacy, groups", "chainercv", "gates", "gates, groups"],
)
def test_a_file_says_how_the_network_is_built(tmp_path, kind, write, arch, pool):
    eps = 2e-5 if write is as_chainercv else 1e-5
    model = small(**kind, arch=arch, pool=pool, eps=eps)
    np.savez(tmp_path / "model.npz", **write(varied(model)))
    again = small(tmp_path / "model.npz", **kind)
    assert again.load_report.is_clean
    built = again.config
    assert (built.arch, built.pool, built.eps) == (arch, pool, eps)
    assert again.preparation == (CAFFE_PREPARATION if write is as_chainercv else PhotoPreparation())
    np.testing.assert_array_equal(scores(again, X), scores(model, X))


def test_the_papers_bias_of_the_first_convolution_changes_nothing(tmp_path):
    arrays = as_chainercv(varied(small(arch="he", pool="cover", eps=2e-5)))
    bias = np.random.default_rng(5).standard_normal(16).astype(np.float32)
    mean = arrays["conv1/bn/avg_mean"]
    np.savez(tmp_path / "plain.npz", **arrays)
    np.savez(tmp_path / "biased.npz", **{**arrays, "conv1/conv/b": bias, "conv1/bn/avg_mean": mean + bias})
    plain, biased = small(tmp_path / "plain.npz"), small(tmp_path / "biased.npz")
    assert plain.config.arch == "v1.5"
    assert biased.config.arch == "he"  # only the paper's files have the bias
    again = small(tmp_path / "plain.npz", arch="he")
    np.testing.assert_allclose(scores(biased, X), scores(again, X), atol=1e-5)


def test_what_is_asked_for_is_stronger_than_the_file(tmp_path):
    np.savez(tmp_path / "model.npz", **as_chainercv(varied(small())))
    how = PhotoPreparation(100, 90)
    model = small(tmp_path / "model.npz", arch="he", pool="padded", eps=1e-3, preparation=how)
    built = model.config
    assert (built.arch, built.pool, built.eps, model.preparation) == ("he", "padded", 1e-3, how)


@pytest.mark.parametrize("write", [as_timm, as_chainercv])
def test_a_file_with_too_much_or_too_little_is_refused(tmp_path, write):
    arrays = write(varied(small(se=16)))
    np.savez(tmp_path / "model.npz", **arrays, extra=np.zeros(3))
    with pytest.raises(WeightsMismatchError, match="extra"):
        small(tmp_path / "model.npz", se=16)
    arrays.pop(next(name for name in arrays if "/bn/gamma" in name or "bn3.weight" in name))
    np.savez(tmp_path / "model.npz", **arrays)
    with pytest.raises(WeightsMismatchError, match="gamma"):
        small(tmp_path / "model.npz", se=16)
    with pytest.raises(WeightsMismatchError, match="se/down"):
        small(tmp_path / "model.npz")  # without gates


def test_settings_of_older_files_are_understood():
    old = {"n_layer": 10, "n_class": 3, "base_channels": 8, "arch": "v1.5", "stem": "photo", "norm": "batch"}
    model = architecture_of(ResNet).build({**old, "eps": 1e-5, "insize": 32, "short": 40}, None)
    assert (model.preparation.crop, model.preparation.short) == (32, 40)


def test_a_preparation_that_was_asked_for_is_kept_by_a_network_for_small_pictures():
    model = ResNet(10, 3, base_channels=8, stem="cifar", insize=224, short=256)
    again = architecture_of(ResNet).build(architecture_of(ResNet).settings(model), None)
    assert again.config.preparation == model.config.preparation == PhotoPreparation()
    assert again.preparation == model.preparation
    assert model.preparation.size == (224, 224)  # all of a photo, not its middle


def test_sizes_of_photos_are_in_proportion():
    assert ResNet(10, 3, base_channels=8).preparation == PhotoPreparation(256, 224)
    assert ResNet(10, 3, base_channels=8, insize=112).preparation == PhotoPreparation(128, 112)
    cifar = ResNet(10, 3, base_channels=8, stem="cifar")
    assert cifar.prepare(np.zeros((3, 40, 50), np.float32)).shape == (3, 32, 32)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_names_and_shapes_are_torchvisions(shared, seeds, name):
    named = by_our_names(seeds.empty_network(shared, name), RESNET_NAMES)
    extractor = ResNetExtractor(**NAMES[name])
    wanted = {f"extractor/{path}": np.shape(array) for path, array in extractor.state_arrays().items()}
    assert {path: array.shape for path, array in named.items()} == {**wanted, "fc/W": (1000, 2048), "fc/b": (1000,)}


# parameters as published, in millions
@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "million"),
    [
        (L.SEResNet50, 28.09),
        (L.SEResNet101, 49.33),
        (L.SEResNet152, 66.82),
        (L.SEResNeXt50, 27.56),
        (L.SEResNeXt101, 48.96),
        (L.ResNeXt101_32x4d, 44.18),
    ],
)
def test_there_are_as_many_parameters_as_published(make, million):
    assert make().count_params() / 1e6 == pytest.approx(million, abs=0.006)


def test_chainercvs_files_have_as_many_arrays_as_ours():
    # 320 and 384 are published; our networks have no other arrays
    assert len(ResNet(50, 3, base_channels=2).state_arrays()) == 320
    assert len(ResNet(50, 3, base_channels=2, se=2).state_arrays()) == 384


def test_every_published_file_is_listed_once():
    names = [member.name for member in family_of(ResNet).members]
    assert len(names) == len(set(names)) == 37


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnext50_32x4d", "wide_resnet50_2"])
def test_the_scores_are_torchvisions(shared, seeds, name):
    arrays = seeds.seeded_network(shared, name)
    model = ResNet(**NAMES[name])
    assert model.load_arrays(by_our_names(arrays, RESNET_NAMES)).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", name))
