"""The Swin Transformers compute what torchvision's do, from the same numbers."""

import json
import pathlib

import numpy as np
import pytest
from by_our_names import by_our_names
from few_steps import losses_of_steps
from zoo_family import family_of

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.swin.extractor import PLANS, SwinDimensions, SwinExtractor
from cvzoo.links.model.swin.swin import SwinTransformer
from cvzoo.links.model.swin.weights import swin_names
from cvzoo.links.model.swin.window_attention import relative_index, relative_places, windows_of
from cvzoo.optimizers.adam import Adam

SMALL = {1: SwinDimensions(8, (2, 1, 2), (2, 2, 4), 3, 0.2), 2: SwinDimensions(8, (2, 1, 2), (2, 2, 4), 4, 0.2, 2)}
STORED = json.loads(pathlib.Path(__file__).with_name("torchvision.json").read_text())
INDEX, PLACES = "attn.relative_position_index", "attn.relative_coords_table"


def small(version=1, n_class=5, pretrained_model=None, **settings):
    size = "t" if version == 1 else "v2_t"
    preparation = PhotoPreparation(36, 32)
    return SwinTransformer(size, n_class, pretrained_model, plan=SMALL[version], preparation=preparation, **settings)


def completed(seeds, shapes, window):
    """Seeded numbers of these shapes by torchvision's names, but for the tables that are no weights."""
    arrays = {key: seeds.seeded(key, shape) for key, shape in shapes.items()}
    for key, shape in shapes.items():
        if key.endswith(INDEX):
            arrays[key] = relative_index(window)
        elif key.endswith(PLACES):
            arrays[key] = relative_places(window).reshape(shape)
    return arrays


def small_arrays(seeds, version):
    shapes = {key: tuple(shape) for key, shape in STORED[f"shapes {version}"].items()}
    return completed(seeds, shapes, SMALL[version].window)


@pytest.mark.slow
def test_the_golden_scores_are_torchvision_s(shared, seeds, monkeypatch):
    shapes = seeds.manifest(shared, "swin_t")
    arrays = completed(seeds, shapes, 7)
    model = SwinTransformer("t")
    assert model.load_arrays(by_our_names(arrays, swin_names(7))).is_clean
    # the golden network had random whole numbers where others have the index of places, too: block by block
    indexes = iter([seeds.seeded(key, shapes[key]).astype(np.int64) for key in shapes if key.endswith(INDEX)])
    monkeypatch.setattr("cvzoo.links.model.swin.window_attention.relative_index", lambda window: next(indexes))
    seeds.assert_photo_scores_equal(model, seeds.golden(shared, "classification_no_preprocess", "swin_t"))
    assert next(indexes, None) is None


@pytest.mark.slow
@pytest.mark.parametrize("size", ["t", "v2_t"])
def test_the_scores_of_an_odd_photo_are_torchvision_s(shared, seeds, size):
    model, window = SwinTransformer(size), PLANS[size].window
    arrays = completed(seeds, seeds.manifest(shared, f"swin_{size}"), window)
    assert model.load_arrays(by_our_names(arrays, swin_names(window))).is_clean
    with using_config("train", False), no_backprop_mode():
        y = model(seeds.seeded_photo(f"swin_{size}", 97, 131)[None]).array[0]
    np.testing.assert_allclose(y[:16], STORED[f"swin_{size} 97x131"], atol=1e-4 * y.std())


@pytest.mark.parametrize("size", ["32x32", "97x131", "24x45", "9x70"])
@pytest.mark.parametrize("version", SMALL)
@pytest.mark.parametrize("backend", ["numpy", "onednn"])
def test_a_narrow_network_s_scores_are_torchvision_s(seeds, size, version, backend):
    model = small(version)
    assert model.load_arrays(by_our_names(small_arrays(seeds, version), swin_names(SMALL[version].window))).is_clean
    height, width = map(int, size.split("x"))
    x = np.stack([seeds.seeded_photo(f"swin {i}", height, width) for i in range(2)])
    want = STORED[f"small {version} {size}"]
    with using_config("backend", backend), using_config("train", False):
        np.testing.assert_allclose(model(x).array, want, rtol=1e-4, atol=2e-5)
        with no_backprop_mode():
            np.testing.assert_allclose(model(x).array, want, rtol=1e-4, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("size", PLANS)
def test_names_and_shapes_are_those_of_the_published_file(shared, seeds, size, monkeypatch):
    # nothing is drawn: shapes are enough
    monkeypatch.setattr("cvzoo.initializers.normal._fill", lambda array, scale: None)
    monkeypatch.setattr("cvzoo.initializers.uniform._fill", lambda array, scale: None)
    model = SwinTransformer(size)
    ours = {name: array.shape for name, array in model.state_arrays().items()}
    arrays = seeds.empty_network(shared, f"swin_{size}")
    window = PLANS[size].window
    for key in arrays:
        if key.endswith(INDEX):
            assert arrays[key].size == window**4
            arrays[key] = relative_index(window)
        elif key.endswith(PLACES):
            assert arrays[key].size == relative_places(window).size
            arrays[key] = relative_places(window)
    assert ours == {name: array.shape for name, array in by_our_names(arrays, swin_names(window)).items()}
    manifest = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())
    assert model.count_params() == manifest[f"swin_{size}"]["num_params"]


@pytest.mark.parametrize("version", SMALL)
def test_a_step_of_training_lowers_the_loss(version):
    set_seed(0)
    model = small(version)
    x = np.random.default_rng(1).standard_normal((6, 3, 32, 32)).astype("f")
    t = np.arange(6, dtype=np.int32) % 5
    losses = losses_of_steps(lambda: F.softmax_cross_entropy(model(x), t), Adam(alpha=3e-3).setup(model), 20)
    assert losses[-1] < 0.8 * losses[0], losses


@pytest.mark.parametrize("window", [1, 2, 7])
def test_the_tables_of_places_are_those_of_the_definition(window):
    index = relative_index(window).reshape(window, window, window, window)
    side = 2 * window - 1
    for y, x, v, u in np.ndindex(index.shape):
        assert index[y, x, v, u] == (y - v + window - 1) * side + x - u + window - 1
    places = relative_places(window).reshape(side, side, 2)
    for y, x in np.ndindex(side, side):
        for d, got in zip((y - window + 1, x - window + 1), places[y, x]):
            far = 8 * abs(d) / max(window - 1, 1)
            assert got == pytest.approx(np.sign(d) * np.log2(1 + far) / np.log2(8), abs=1e-6)


def test_maps_of_odd_sizes_are_rounded_up():
    maps = SwinExtractor(SMALL[1])(np.zeros((2, 3, 60, 76), np.float32))
    assert [h.shape for h in maps] == [(2, 8, 15, 19), (2, 16, 8, 10), (2, 32, 4, 5)]


@pytest.mark.parametrize("version", SMALL)
def test_settings_go_round(version):
    (kind,) = family_of(SwinTransformer).architectures
    model = small(version, label_names=tuple("abcde"))
    again = kind.build(json.loads(json.dumps(kind.settings(model))), model.label_names)
    assert (again.size, again.plan, again.preparation) == (model.size, model.plan, model.preparation)
    assert again.preparation.to_header() == model.preparation.to_header()


def test_every_size_has_a_published_file():
    names = {member.name for member in family_of(SwinTransformer).members}
    assert names >= {f"swin_{size}_imagenet" for size in PLANS} | {f"swin_{size}_imagenet_ms" for size in "tsb"}


def test_files_with_other_tables_and_unknown_sizes_are_refused(seeds, tmp_path):
    arrays = small_arrays(seeds, 2)
    path = tmp_path / "file.npz"
    np.savez(path, **arrays)
    assert small(2, None, path).n_class == 5
    for leaf in (INDEX, PLACES):
        np.savez(path, **arrays | {f"features.1.0.{leaf}": arrays[f"features.1.0.{leaf}"] + 1})
        with pytest.raises(WeightsMismatchError, match="relative"):
            small(2, None, path)
    with pytest.raises(ValueRangeError, match="size"):
        SwinTransformer("xl")


def maker_s(arrays, *, timm=False):
    """torchvision's arrays by the makers' names, or by timm's, rewritten one by one."""
    named = {}
    for name, array in arrays.items():
        if name.startswith("features.0."):
            new = name.replace("features.0.0", "patch_embed.proj").replace("features.0.2", "patch_embed.norm")
        elif name.startswith("features."):
            _, i, *rest = name.split(".")
            stage = int(i) // 2
            if int(i) % 2:
                new = f"layers.{stage}.blocks." + ".".join(rest).replace("mlp.0", "mlp.fc1").replace("mlp.3", "mlp.fc2")
            else:
                new = f"layers.{stage if timm else stage - 1}.downsample." + ".".join(rest)
        else:
            new = name.replace("head.", "head.fc.") if timm else name
        named[new] = array
    return named


@pytest.mark.parametrize("timm", [False, True], ids=["makers", "timm"])
def test_the_makers_and_timm_s_names_are_known(seeds, timm, tmp_path):
    arrays = small_arrays(seeds, 1)
    path = tmp_path / "file.npz"
    windows = windows_of((9, 9), 3, shifted=True)
    theirs = maker_s(arrays, timm=timm) | {"layers.0.blocks.1.attn_mask": windows.hidden()}
    np.savez(path, **theirs)
    model = small(1, None, path)
    want = by_our_names(arrays, swin_names(3))
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(array, want[name], err_msg=name)
    np.savez(path, **theirs | {"layers.0.blocks.1.attn_mask": windows.hidden() + 1})
    with pytest.raises(WeightsMismatchError, match="attn_mask"):
        small(1, None, path)


@pytest.mark.parametrize(
    "change",
    [{"heads": (2, 2)}, {"depths": ()}, {"window": 1000}, {"version": 3}, {"heads": (3, 2, 4)}, {"drop_path": -0.1}],
    ids=str,
)
def test_numbers_of_no_network_are_refused(change):
    with pytest.raises(ValueRangeError, match="plan"):
        SwinTransformer("t", plan=SMALL[1]._replace(**change))
