"""GoogLeNet and Inception v3: torchvision's names, shapes and numbers.

torchvision.json: the scores of Inception v3 of torchvision 0.29.2, whose weights and photo were made as
seeded_weights.py makes them.
"""

import json
import pathlib

import numpy as np
import pytest
from by_our_names import by_our_names

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.googlenet.googlenet import BLOCKS, GoogLeNet
from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
from cvzoo.links.model.googlenet.mixed import Layer, Mixed
from cvzoo.links.model.googlenet.weights import googlenet_names, inception_v3_names
from cvzoo.optimizers.momentum_sgd import MomentumSGD
from cvzoo.serializers.npz import save_npz

KINDS = [(GoogLeNet, googlenet_names, "googlenet"), (InceptionV3, inception_v3_names, "inception_v3")]
SIZES = {GoogLeNet: 64, InceptionV3: 299}


def small(make, n_class=3, pretrained_model=None, *, aux=False):
    return make(n_class, pretrained_model, width=1 / 16, aux=aux, dropout=0)


@pytest.mark.parametrize(("pool", "side"), [("mean", 7), ("max", 7), ("halve", 3)])
def test_branches_stand_side_by_side(pool, side):
    stride = 2 if pool == "halve" else 1
    last = () if pool == "halve" else (Layer("d", 3),)
    branches = ((Layer("x", 2, 3, stride),), (Layer("c", 4, 3, stride), Layer("fa", 5), Layer("fb", 6)), last)
    block = Mixed(8, branches, pool)
    assert block.channels == 2 + 5 + 6 + (8 if pool == "halve" else 3)
    x = np.random.default_rng(0).standard_normal((2, 8, 7, 7), "float32")
    with using_config("train", False):
        y = block(x)
        assert y.shape == (2, block.channels, side, side)
        c = block["c"](x)
        np.testing.assert_array_equal(y.array[:, 2:7], block["fa"](c).array)
        np.testing.assert_array_equal(y.array[:, 7:13], block["fb"](c).array)


@pytest.mark.parametrize("make", [GoogLeNet, InceptionV3])
def test_stages_have_the_sizes_of_the_paper(make):
    model = small(make)
    side = model.preparation.crop
    shapes = {name: h.shape[2:] for name, h in model.stages(np.zeros((1, 3, side, side), np.float32))}
    assert tuple(shapes) == model.layer_names
    sides = [h[0] for h in shapes.values() if h]
    expected = [112, 56, 56, 56, 28, 28, 28, 14, *[14] * 5, 7, 7, 7]
    assert sides == (expected if make is GoogLeNet else [149, 147, 147, 73, 73, 71, *[35] * 4, *[17] * 5, *[8] * 3])


@pytest.mark.parametrize("aux", [False, True])
@pytest.mark.parametrize(("make", "names", "name"), KINDS)
def test_names_and_shapes_are_torchvisions(shared, seeds, make, names, name, aux):
    named = by_our_names(seeds.empty_network(shared, name), names(aux=aux))
    wanted = {path: np.shape(array) for path, array in make(aux=aux).state_arrays().items()}
    assert {path: array.shape for path, array in named.items()} == wanted


@pytest.mark.parametrize(("make", "n_param"), [(GoogLeNet, 6_624_904), (InceptionV3, 27_161_264 - 3_326_696)])
def test_there_are_as_many_parameters_as_published(make, n_param):
    assert make().count_params() == n_param
    if make is InceptionV3:  # its published number has the classifier in the middle
        assert make(aux=True).count_params() == 27_161_264


def theirs(model):
    """The model's arrays as torchvision names those of GoogLeNet."""
    leaves = {"W": "weight", "b": "bias", "gamma": "weight", "beta": "bias"}
    leaves |= {"avg_mean": "running_mean", "avg_var": "running_var", "N": "num_batches_tracked"}
    arrays = {}
    for path, array in model.state_arrays().items():
        place, _, leaf = path.rpartition("/")
        for i in (0, 1):
            place = place.replace(f"_{i}/", f"/{i}/")
        arrays[f"{place.replace('/', '.')}.{leaves[leaf]}"] = np.array(array)
    return arrays


def test_classifiers_in_the_middle_are_kept_or_left_out_as_asked(tmp_path):
    model = small(GoogLeNet, aux=True)
    np.savez(tmp_path / "model.npz", **theirs(model))
    with_aux = small(GoogLeNet, None, tmp_path / "model.npz", aux=True)
    without = small(GoogLeNet, None, tmp_path / "model.npz")
    ours = model.state_arrays()
    for again in (with_aux, without):
        assert again.load_report.is_clean
        assert all(np.array_equal(array, ours[name]) for name, array in again.state_arrays().items())
    assert len(with_aux.state_arrays()) == len(ours) > len(without.state_arrays())
    np.savez(tmp_path / "more.npz", **theirs(model), extra=np.zeros(1))
    with pytest.raises(WeightsMismatchError, match="extra"):
        small(GoogLeNet, None, tmp_path / "more.npz")


@pytest.mark.parametrize("make", [GoogLeNet, InceptionV3])
def test_a_file_for_other_classes_starts_all_classifiers_anew(make, tmp_path):
    save_npz(tmp_path / "model.npz", small(make, aux=True))
    with pytest.warns(UserWarning, match="initialized anew"):
        model = small(make, 4, tmp_path / "model.npz", aux=True)
    assert len(model.load_report.mismatching) == (6 if make is GoogLeNet else 4)


@pytest.mark.parametrize("make", [GoogLeNet, InceptionV3])
def test_training_with_all_classifiers_lowers_the_loss(make):
    set_seed(0)
    model = small(make, aux=True)
    x = np.random.default_rng(0).standard_normal((3, 3, SIZES[make], SIZES[make]), "float32")
    t = np.array([0, 1, 2], np.int32)
    optimizer = MomentumSGD(lr=0.02).setup(model)
    losses = []
    for _ in range(12):
        scores, *aux = model.scores_and_aux(x)
        loss = F.softmax_cross_entropy(scores, t)
        for each in aux:
            assert each.shape == scores.shape
            loss = loss + 0.3 * F.softmax_cross_entropy(each, t)
        losses.append(float(loss.array))
        model.cleargrads()
        loss.backward()
        assert all(p.grad is not None for p in model.params())
        optimizer.update()
    assert min(losses[-3:]) < 0.9 * losses[0]  # dropout makes them uneven
    with pytest.raises(ValueRangeError, match="aux=True"):
        small(make).scores_and_aux(x)


def test_all_blocks_are_there():
    assert list(BLOCKS) == [name for name in GoogLeNet.layer_names if name.startswith("inception")]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "names", "name"), KINDS)
def test_the_scores_are_torchvisions(shared, seeds, make, names, name):
    arrays = seeds.seeded_network(shared, name)
    model = make()
    assert model.load_arrays(by_our_names(arrays, names(aux=False))).is_clean
    if make is GoogLeNet:
        want = seeds.golden(shared, "classification_no_preprocess", name)
    else:
        want = json.loads(pathlib.Path(__file__).with_name("torchvision.json").read_text())
    seeds.assert_photo_scores_equal(model, want)
