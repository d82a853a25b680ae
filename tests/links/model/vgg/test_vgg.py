"""VGG networks: their maps, files of torchvision and ChainerCV, and torchvision's numbers."""

import numpy as np
import pytest
from by_our_names import by_our_names
from few_steps import losses_of_steps
from zoo_family import family_of

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.vgg import vgg as published
from cvzoo.links.model.vgg.extractor import DEPTHS, VGGExtractor
from cvzoo.links.model.vgg.vgg import VGG
from cvzoo.links.model.vgg.weights import CAFFE_PREPARATION, torchvision_places, vgg_names
from cvzoo.optimizers.momentum_sgd import MomentumSGD

KINDS = [(n_layer, norm) for n_layer in DEPTHS for norm in (None, "batch")]


def small(n_layer=11, n_class=5, pretrained_model=None, norm=None):
    return VGG(n_layer, n_class, pretrained_model, norm=norm, base_channels=4, fc_channels=8)


def theirs(model):
    """The model's arrays as torchvision names them."""
    leaves = {"W": "weight", "b": "bias", "gamma": "weight", "beta": "bias"}
    leaves |= {"avg_mean": "running_mean", "avg_var": "running_var", "N": "num_batches_tracked"}
    modules = {ours: name for name, ours in torchvision_places(model.n_layer, norm=model.norm is not None).items()}
    arrays = {}
    for path, array in model.state_arrays().items():
        place, _, leaf = path.rpartition("/")
        arrays[f"{modules[place]}.{leaves[leaf]}"] = np.array(array)
    return arrays


def chainercv(model):
    """The model's arrays as ChainerCV names them."""
    return {path.removeprefix("extractor/"): np.array(array) for path, array in model.state_arrays().items()}


def test_maps_have_the_names_of_the_paper():
    names = VGGExtractor(16, base_channels=1).layer_names
    assert names[:3] == ("conv1_1", "conv1_2", "pool1")
    assert names[-4:] == ("conv5_1", "conv5_2", "conv5_3", "pool5")
    assert len(names) == 13 + 5


@pytest.mark.parametrize(("cover_all", "side"), [(False, 4), (True, 5)])
def test_an_extractor_ends_with_the_last_map_that_is_wanted(cover_all, side):
    extractor = VGGExtractor(16, ("conv4_3", "conv2_2"), base_channels=2, cover_all=cover_all)
    assert extractor.layer_names[-1] == "conv4_3"
    assert extractor.channels == (16, 4)
    first, second = extractor(np.zeros((1, 3, 37, 32), np.float32))
    assert first.shape == (1, 16, side, 4)
    assert second.shape == (1, 4, 19 if cover_all else 18, 16)
    assert "conv5_1" not in dict(extractor.named_children())


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"n_layer": 12}, "n_layer"),
        ({"norm": "group"}, "norm"),
        ({"names": ("conv3_4",)}, "names"),  # only 19 layers have it
        ({"names": ()}, "names"),
        ({"names": "pool5"}, "names"),
    ],
)
def test_unknown_settings_are_told(settings, word):
    with pytest.raises(ValueRangeError, match=word):
        VGGExtractor(**settings)


@pytest.mark.parametrize(
    ("n_layer", "norm", "n_param"),
    [(11, None, 132_863_336), (13, None, 133_047_848), (16, None, 138_357_544), (19, "batch", 143_678_248)],
)
def test_there_are_as_many_parameters_as_published(n_layer, norm, n_param):
    convolutions = VGGExtractor(n_layer, norm=norm).count_params()
    dense = (25_088 * 4096 + 4096) + (4096 * 4096 + 4096) + (4096 * 1000 + 1000)
    assert convolutions + dense == n_param


@pytest.mark.slow
@pytest.mark.parametrize(("n_layer", "norm"), KINDS)
def test_names_and_shapes_are_torchvisions(shared, seeds, n_layer, norm):
    arrays = seeds.empty_network(shared, f"vgg{n_layer}{'' if norm is None else '_bn'}")
    named = by_our_names(arrays, vgg_names(n_layer, norm))
    extractor = VGGExtractor(n_layer, norm=norm)
    wanted = {f"extractor/{name}": np.shape(array) for name, array in extractor.state_arrays().items()}
    wanted |= {"fc6/W": (4096, 25_088), "fc6/b": (4096,), "fc7/W": (4096, 4096), "fc7/b": (4096,)}
    wanted |= {"fc8/W": (1000, 4096), "fc8/b": (1000,)}
    assert {name: array.shape for name, array in named.items()} == wanted


@pytest.mark.parametrize("norm", [None, "batch"])
def test_a_file_of_torchvision_is_taken_over(tmp_path, norm):
    model = small(norm=norm)
    np.savez(tmp_path / "vgg.npz", **theirs(model))
    again = small(pretrained_model=tmp_path / "vgg.npz", norm=norm)
    assert again.load_report.is_clean
    assert again.preparation == PhotoPreparation()
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(again.state_arrays()[name], array, err_msg=name)


def test_a_file_of_chainercv_is_taken_over_with_its_preparation(tmp_path):
    model = small(16)
    np.savez(tmp_path / "vgg.npz", **chainercv(model))
    again = small(16, None, tmp_path / "vgg.npz")
    assert again.n_class == 5
    assert again.preparation == CAFFE_PREPARATION
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(again.state_arrays()[name], array, err_msg=name)


def test_caffes_preparation_takes_the_mean_off():
    img = np.full((3, 256, 256), 200, np.float32)
    mean = np.array([123.68, 116.779, 103.939])[:, None, None]
    np.testing.assert_allclose(CAFFE_PREPARATION(img), np.broadcast_to(200 - mean, (3, 224, 224)), atol=1e-3)


def test_a_file_with_too_much_is_refused(tmp_path):
    arrays = theirs(small())
    np.savez(tmp_path / "vgg.npz", **arrays, extra=np.zeros(3))
    with pytest.raises(WeightsMismatchError, match="extra"):
        small(pretrained_model=tmp_path / "vgg.npz")
    del arrays["features.3.bias"]
    np.savez(tmp_path / "vgg.npz", **arrays)
    with pytest.raises(WeightsMismatchError, match="conv2_1/conv/b"):
        small(pretrained_model=tmp_path / "vgg.npz")


def test_a_training_step_lowers_the_loss():
    set_seed(0)
    model = VGG(11, 3, norm="batch", base_channels=8, fc_channels=16, dropout=0)
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((4, 3, 32, 32), "float32"), np.array([0, 1, 2, 0], np.int32)
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), MomentumSGD(lr=0.05).setup(model), 8)
    assert losses[-1] < 0.9 * losses[0]


def test_the_names_build_what_they_say():
    assert len(family_of(VGG).members) == 9
    assert len({member.name for member in family_of(VGG).members}) == 9
    assert {f"VGG{n}{bn}" for n in DEPTHS for bn in ("", "BN")} <= set(dir(published))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_layer", "norm"), [("vgg16", 16, None), ("vgg16_bn", 16, "batch"), ("vgg11_bn", 11, "batch")]
)
def test_the_scores_are_torchvisions(shared, seeds, name, n_layer, norm):
    arrays = seeds.seeded_network(shared, name)
    model = VGG(n_layer, norm=norm)
    assert model.load_arrays(by_our_names(arrays, vgg_names(n_layer, norm))).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", name))
