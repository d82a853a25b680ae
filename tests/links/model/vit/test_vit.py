"""The Vision Transformer computes what torchvision's does, from the same numbers."""

import json
import pathlib

import numpy as np
import pytest
from few_steps import losses_of_steps
from zoo_family import family_of

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.vit.vit import PLANS, ViT, ViTDimensions, resized_positions
from cvzoo.links.model.vit.weights import NAMES, WEIGHTS
from cvzoo.optimizers.adam import Adam

SMALL = ViTDimensions(8, 2, 2, 16, 24)
STORED = json.loads(pathlib.Path(__file__).with_name("torchvision.json").read_text())


def small(n_class=5, pretrained_model=None, **settings):
    return ViT("b_16", n_class, pretrained_model, plan=SMALL, **{"insize": 32, **settings})


def torchvision_arrays(seeds, plan, n_class, n_patch, *, old=False):
    """Seeded numbers by torchvision's names, or by those that its first files have."""
    c = plan.n_unit
    shapes = {
        "class_token": (1, 1, c),
        "conv_proj.weight": (c, 3, plan.patch, plan.patch),
        "conv_proj.bias": (c,),
        "encoder.pos_embedding": (1, 1 + n_patch, c),
        "encoder.ln.weight": (c,),
        "encoder.ln.bias": (c,),
        "heads.head.weight": (n_class, c),
        "heads.head.bias": (n_class,),
    }
    for i in range(plan.n_layer):
        block = f"encoder.layers.encoder_layer_{i}"
        attention = f"{block}.self_attention"
        shapes |= {f"{block}.ln_{k}.{leaf}": (c,) for k in (1, 2) for leaf in ("weight", "bias")}
        shapes |= {f"{attention}.in_proj_weight": (3 * c, c), f"{attention}.in_proj_bias": (3 * c,)}
        shapes |= {f"{attention}.out_proj.weight": (c, c), f"{attention}.out_proj.bias": (c,)}
        shapes |= {f"{block}.mlp.0.weight": (plan.n_hidden, c), f"{block}.mlp.0.bias": (plan.n_hidden,)}
        shapes |= {f"{block}.mlp.3.weight": (c, plan.n_hidden), f"{block}.mlp.3.bias": (c,)}
    arrays = {key: seeds.seeded(key, shape) for key, shape in shapes.items()}
    if old:
        arrays = {key.replace("mlp.0", "mlp.linear_1").replace("mlp.3", "mlp.linear_2"): arrays[key] for key in arrays}
    return arrays


@pytest.mark.slow
def test_the_scores_are_torchvision_s(shared, seeds):
    model = ViT("b_16")
    assert model.load_arrays(NAMES["torchvision"](seeds.seeded_network(shared, "vit_b_16"))).is_clean
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", "vit_b_16"))


@pytest.mark.parametrize("old", [False, True], ids=["names of today", "names of the first files"])
@pytest.mark.parametrize("backend", ["numpy", "onednn"])
def test_a_narrow_network_s_scores_are_torchvision_s(seeds, backend, old):
    model = small()
    assert model.load_arrays(NAMES["torchvision"](torchvision_arrays(seeds, SMALL, 5, 16, old=old))).is_clean
    x = np.stack([seeds.seeded_photo(f"vit {i}", 32, 32) for i in range(2)])
    with using_config("backend", backend), using_config("train", False):
        np.testing.assert_allclose(model(x).array, STORED["small"], rtol=1e-4, atol=1e-5)
        with no_backprop_mode():
            np.testing.assert_allclose(model(x).array, STORED["small"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("insize", [24, 56])
def test_positions_are_interpolated_as_torchvision_does(seeds, insize, tmp_path):
    path = tmp_path / "file.npz"
    np.savez(path, **torchvision_arrays(seeds, SMALL, 5, 16))
    model = small(None, path, insize=insize)
    assert model.load_report.is_clean
    want = STORED[f"positions {insize}"]
    np.testing.assert_allclose(model.positions.array[0, :, :3], want, rtol=1e-4, atol=1e-5)
    assert (model.preparation.short, model.preparation.crop) == (round(256 * insize / 224), insize)
    np.testing.assert_array_equal(
        small(None, path, insize=None).positions.array,
        resized_positions(NAMES["torchvision"](torchvision_arrays(seeds, SMALL, 5, 16))["positions"], 4),
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", PLANS)
def test_names_and_shapes_are_those_of_the_published_file(shared, seeds, size, monkeypatch):
    # nothing is drawn: shapes are enough
    monkeypatch.setattr("cvzoo.initializers.normal._fill", lambda array, scale: None)
    monkeypatch.setattr("cvzoo.initializers.uniform._fill", lambda array, scale: None)
    model = ViT(size)
    ours = {name: array.shape for name, array in model.state_arrays().items()}
    theirs = NAMES["torchvision"](seeds.empty_network(shared, f"vit_{size}"))
    manifest = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())[f"vit_{size}"]
    n_params = manifest["num_params"]
    if ours["positions"] != theirs["positions"].shape:  # the huge one's default file is for larger photos
        assert size == "h_14"
        n_params -= theirs["positions"].size - np.prod(ours["positions"])
        theirs["positions"] = resized_positions(theirs["positions"], 16)
    assert ours == {name: array.shape for name, array in theirs.items()}
    assert model.count_params() == n_params


def test_a_step_of_training_lowers_the_loss():
    set_seed(0)
    model = small()
    x = np.random.default_rng(1).standard_normal((6, 3, 32, 32)).astype("f")
    t = np.arange(6, dtype=np.int32) % 5
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), Adam(alpha=1e-2).setup(model), 8)
    assert losses[-1] < 0.8 * losses[0], losses


def test_stages_have_the_shapes_that_the_docstring_says():
    model = small()
    x = np.zeros((2, 3, 32, 32), np.float32)
    shapes = {name: h.shape for name, h in model.stages(x)}
    assert shapes["patches"] == (2, 16, 16)
    assert shapes["block2"] == shapes["norm"] == (2, 17, 16)
    assert shapes["token"] == (2, 16)
    assert shapes["head"] == (2, 5)


def test_settings_go_round():
    (kind,) = family_of(ViT).architectures
    model = small(insize=40, label_names=tuple("abcde"))
    again = kind.build(json.loads(json.dumps(kind.settings(model))), model.label_names)
    assert (again.plan, again.insize, again.preparation) == (model.plan, 40, model.preparation)
    assert again.preparation.to_header() == model.preparation.to_header()


def test_records_say_what_the_files_are_for():
    assert len(family_of(ViT).members) == 10
    for size, records in WEIGHTS.items():
        for key, (record, preparation) in records.items():
            assert record.name == f"vit_{size}_{key}"
            assert ("NC" in record.licence) == ("swag" in key)
            assert preparation.crop % PLANS[size].patch == 0


def test_what_does_not_fit_is_refused(seeds, tmp_path):
    with pytest.raises(ShapeError, match="insize"):
        small()(np.zeros((1, 3, 40, 40), np.float32))
    with pytest.raises(ValueRangeError, match="multiple of the patch"):
        small(insize=30)
    with pytest.raises(ValueRangeError, match="crop"):
        small(insize=32, preparation=PhotoPreparation(40, 40))
    with pytest.raises(ValueRangeError, match="size"):
        ViT("s_16")
    arrays = torchvision_arrays(seeds, SMALL, 5, 16)
    path = tmp_path / "file.npz"
    np.savez(path, **arrays | {"encoder.layers.encoder_layer_0.mlp.7.weight": np.zeros((3, 3), "f")})
    with pytest.raises(WeightsMismatchError, match="mlp"):
        small(None, path)
    np.savez(path, **arrays | {"encoder.pos_embedding": np.zeros((1, 16, 16), "f")})
    with pytest.raises((ShapeError, WeightsMismatchError)):
        small(None, path)


@pytest.mark.parametrize(
    "change", [{"n_layer": 0}, {"n_unit": 10**9}, {"patch": -8}, {"n_head": "2"}, {"n_head": 3}], ids=str
)
def test_numbers_of_no_network_are_refused(change):
    with pytest.raises(ValueRangeError):
        ViT("b_16", plan=SMALL._replace(**change), insize=32)
