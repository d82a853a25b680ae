"""ConvNeXt computes what torchvision's does, from the same numbers."""

import json
import pathlib

import numpy as np
import pytest
from few_steps import losses_of_steps
from zoo_family import family_of

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.convnext.convnext import PLANS, ConvNeXt, ConvNeXtDimensions, ConvNeXtExtractor
from cvzoo.links.model.convnext.weights import NAMES
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.optimizers.adam import Adam

SMALL = ConvNeXtDimensions((8, 16, 24, 32), (1, 2, 1, 1), 0.2)
STORED = pathlib.Path(__file__).with_name("torchvision.json")


def small(n_class=5, **settings):
    preparation = PhotoPreparation(36, 32)
    return ConvNeXt("tiny", n_class, plan=SMALL, preparation=preparation, **settings)


def torchvision_arrays(seeds, plan, n_class):
    """Seeded numbers by torchvision's names."""
    shapes = {"features.0.0.weight": (plan.channels[0], 3, 4, 4), "classifier.2.weight": (n_class, plan.channels[-1])}
    vectors = {"features.0.0.bias": plan.channels[0], "classifier.2.bias": n_class}
    for norm, n in (("features.0.1", plan.channels[0]), ("classifier.0", plan.channels[-1])):
        vectors |= {f"{norm}.weight": n, f"{norm}.bias": n}
    for i, (n, depth) in enumerate(zip(plan.channels, plan.depths)):
        if i:
            down = f"features.{2 * i}"
            shapes[f"{down}.1.weight"] = (n, plan.channels[i - 1], 2, 2)
            vectors |= {f"{down}.0.weight": plan.channels[i - 1], f"{down}.0.bias": plan.channels[i - 1]}
            vectors[f"{down}.1.bias"] = n
        for k in range(depth):
            block = f"features.{2 * i + 1}.{k}"
            shapes |= {
                f"{block}.layer_scale": (n, 1, 1),
                f"{block}.block.0.weight": (n, 1, 7, 7),
                f"{block}.block.3.weight": (4 * n, n),
                f"{block}.block.5.weight": (n, 4 * n),
            }
            vectors |= {f"{block}.block.0.bias": n, f"{block}.block.2.weight": n, f"{block}.block.2.bias": n}
            vectors |= {f"{block}.block.3.bias": 4 * n, f"{block}.block.5.bias": n}
    return {key: seeds.seeded(key, shape) for key, shape in (shapes | {k: (n,) for k, n in vectors.items()}).items()}


@pytest.mark.slow
def test_the_scores_are_torchvision_s(shared, seeds):
    model = ConvNeXt("tiny")
    assert model.load_arrays(NAMES["torchvision"](seeds.seeded_network(shared, "convnext_tiny"))).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", "convnext_tiny"))


@pytest.mark.parametrize("size", [(64, 64), (97, 131), (32, 45)], ids=str)
@pytest.mark.parametrize("backend", ["numpy", "onednn"])
def test_a_narrow_network_s_scores_are_torchvision_s(seeds, size, backend):
    want = json.loads(STORED.read_text())["small"][f"{size[0]}x{size[1]}"]
    model = small()
    assert model.load_arrays(NAMES["torchvision"](torchvision_arrays(seeds, SMALL, 5))).is_clean
    x = seeds.seeded_photo("convnext", *size)[None]
    with using_config("backend", backend), using_config("train", False):
        np.testing.assert_allclose(model(x).array, want, rtol=1e-4, atol=1e-5)
        with no_backprop_mode():
            np.testing.assert_allclose(model(x).array, want, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("size", PLANS)
def test_names_and_shapes_are_those_of_the_published_file(shared, seeds, size, monkeypatch):
    # nothing is drawn: shapes are enough
    monkeypatch.setattr("cvzoo.initializers.normal._fill", lambda array, scale: None)
    model = ConvNeXt(size)
    ours = {name: array.shape for name, array in model.state_arrays().items()}
    theirs = NAMES["torchvision"](seeds.empty_network(shared, f"convnext_{size}"))
    assert ours == {name: array.shape for name, array in theirs.items()}
    manifest = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())
    assert model.count_params() == manifest[f"convnext_{size}"]["num_params"]


def test_a_step_of_training_lowers_the_loss():
    set_seed(0)
    model = small()
    x = np.random.default_rng(1).standard_normal((6, 3, 32, 32)).astype("f")
    t = np.arange(6, dtype=np.int32) % 5
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), Adam(alpha=1e-2).setup(model), 4)
    assert losses[-1] < 0.8 * losses[0], losses


def test_maps_are_a_quarter_to_a_thirty_second_of_the_photo():
    maps = ConvNeXtExtractor(SMALL)(np.zeros((2, 3, 64, 96), np.float32))
    assert [h.shape for h in maps] == [(2, 8, 16, 24), (2, 16, 8, 12), (2, 24, 4, 6), (2, 32, 2, 3)]


def test_the_deeper_a_block_the_oftener_it_is_left_out():
    extractor = small().extractor
    rates = [block.drop_path for i in range(2, 6) for block in extractor[f"res{i}"]]
    np.testing.assert_allclose(rates, np.linspace(0, 0.2, 5))


def test_settings_go_round():
    (kind,) = family_of(ConvNeXt).architectures
    model = small(label_names=tuple("abcde"))
    again = kind.build(json.loads(json.dumps(kind.settings(model))), model.label_names)
    assert again.plan == model.plan
    assert again.preparation == model.preparation
    assert again.preparation.to_header() == model.preparation.to_header()


def test_every_size_has_a_published_file():
    ends = ("", "_fb", "_22k")
    assert {member.name for member in family_of(ConvNeXt).members} == {
        f"convnext_{size}_imagenet{end}" for size in PLANS for end in ends
    }


def test_files_that_lack_something_and_unknown_sizes_are_refused(seeds, tmp_path):
    arrays = torchvision_arrays(seeds, SMALL, 5)
    path = tmp_path / "file.npz"
    np.savez(path, **arrays)
    model = ConvNeXt("tiny", None, path, plan=SMALL, preparation=PhotoPreparation(36, 32))
    assert model.n_class == 5
    del arrays["features.3.1.layer_scale"]
    np.savez(path, **arrays)
    with pytest.raises(WeightsMismatchError, match="scale"):
        ConvNeXt("tiny", None, path, plan=SMALL)
    with pytest.raises(ValueRangeError, match="size"):
        ConvNeXt("huge")
    with pytest.raises(ValueRangeError, match="imagenet"):
        ConvNeXt("tiny", None, "imagenet_99k")


def maker_s(arrays, *, timm=False):
    """torchvision's arrays by the makers' names, or by timm's, rewritten one by one."""
    named = {}
    for name, array in arrays.items():
        part, i, *rest = name.split(".")
        leaf = rest[-1]
        if part == "classifier":
            head = {"0": "norm", "2": "head"}[i]
            new = f"{'head.' if timm else ''}{'fc' if timm and head == 'head' else head}.{leaf}"
        elif i == "0":
            new = f"stem.{rest[0]}.{leaf}" if timm else f"downsample_layers.0.{rest[0]}.{leaf}"
        elif int(i) % 2 == 0:
            stage = int(i) // 2
            new = (
                f"stages.{stage}.downsample.{rest[0]}.{leaf}" if timm else f"downsample_layers.{stage}.{rest[0]}.{leaf}"
            )
        elif leaf == "layer_scale":
            new, array = f"stages.{int(i) // 2}.{'blocks.' if timm else ''}{rest[0]}.gamma", array.reshape(-1)
        else:
            names = {"0": "dwconv", "2": "norm", "3": "pwconv1", "5": "pwconv2"}
            if timm:
                names = {"0": "conv_dw", "2": "norm", "3": "mlp.fc1", "5": "mlp.fc2"}
            new = f"stages.{int(i) // 2}.{'blocks.' if timm else ''}{rest[0]}.{names[rest[2]]}.{leaf}"
        named[new] = array
    return named


@pytest.mark.parametrize("timm", [False, True], ids=["makers", "timm"])
def test_the_makers_and_timm_s_names_are_known(seeds, timm, tmp_path):
    arrays = torchvision_arrays(seeds, SMALL, 5)
    path = tmp_path / "file.npz"
    np.savez(path, **maker_s(arrays, timm=timm))
    model = ConvNeXt("tiny", None, path, plan=SMALL)
    want = NAMES["torchvision"](arrays)
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(array, want[name], err_msg=name)
    np.savez(path, **maker_s(arrays, timm=timm) | {"stages.0.0.more": np.zeros(3, "f")})
    with pytest.raises(WeightsMismatchError, match="more"):
        ConvNeXt("tiny", None, path, plan=SMALL)


@pytest.mark.parametrize(
    "plan",
    [
        SMALL._replace(channels=(8, 16, 24)),
        SMALL._replace(depths=(1, 0, 1, 1)),
        SMALL._replace(channels=(8, 16, 24, 10**9)),
        SMALL._replace(channels=(8, 16, 24, 3.5)),
        SMALL._replace(drop_path=1.5),
    ],
    ids=str,
)
def test_numbers_of_no_network_are_refused(plan):
    with pytest.raises(ValueRangeError, match="plan"):
        ConvNeXt("tiny", plan=plan)
