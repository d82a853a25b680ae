"""A file of gluon-cv's names makes the same network, and its default boxes decide the settings."""

import numpy as np
import pytest
from by_our_names import by_our_names

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import FileFormatError, ValueRangeError, WeightsMismatchError
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.pretrained.names import publisher_of
from cvzoo.links.model.ssd.ssd import SSD300, SSD512
from cvzoo.links.model.ssd.weights import NAMES, gluon_config

SIZES = (21, 45, 99, 153, 207, 261, 315)
STD = np.float32([0.229, 0.224, 0.225]) * 255


def anchors(size, larger, step, ratios):
    """(1, 1, 2, 2, K * 4): of a few places."""
    cell = [(size, size), ((size * larger) ** 0.5,) * 2]
    for ratio in ratios:
        for r in (ratio, 1 / ratio):
            cell.append((size * r**0.5, size / r**0.5))
    places = [[(x + 0.5) * step, (y + 0.5) * step] for y in range(2) for x in range(2)]
    return np.float32([[*place, *box] for place in places for box in cell]).reshape(1, 1, 2, 2, -1)


def gluon_file(model, sizes):
    """The model's values as gluon-cv names and orders them."""
    s = model.settings
    arrays = {"features.init_scale": STD.reshape(1, 3, 1, 1)}
    for i, (ratios, step) in enumerate(zip(s.aspect_ratios, s.steps)):
        arrays[f"anchor_generators.{i}.anchors"] = anchors(sizes[i], sizes[i + 1], step, ratios)
    counts = (2, 2, 3, 3, 3)
    for name, array in model.state_arrays().items():
        first, second, *rest = name.split("/")
        leaf = {"W": "weight", "b": "bias"}.get(name[-1])
        if second == "norm4":
            arrays["features.norm4.scale"] = array.reshape(1, -1, 1, 1)
        elif first == "multibox":
            if second == "loc":
                array = array.reshape(-1, 4, *array.shape[1:])[:, [1, 0, 3, 2]].reshape(array.shape)
            kind = {"loc": "box", "conf": "class"}[second]
            arrays[f"{kind}_predictors.{rest[0]}.predictor.{leaf}"] = array
        else:
            number, _, part = second.removeprefix("conv").partition("_")
            if int(number) <= len(counts):
                place = f"stages.{int(number) - 1}.{2 * (int(part) - 1)}"
            elif int(number) < 8:
                place = f"stages.5.{2 * (int(number) - 6)}"
            else:
                place = f"extras.{int(number) - 8}.{2 * (int(part) - 1)}"
            arrays[f"features.{place}.{leaf}"] = array
    return arrays


@pytest.mark.parametrize(("make", "sizes"), [(SSD300, SIZES), (SSD512, (*SIZES, 400))])
def test_all_names_are_known(make, sizes):
    set_seed(0)
    model = make()
    arrays = gluon_file(model, sizes)
    assert publisher_of(arrays, NAMES) == "gluon-cv"
    named = by_our_names(arrays, NAMES)
    assert named.keys() == model.state_arrays().keys()
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(named[name], array, err_msg=name)
    settings = gluon_config(None, arrays, {})
    assert settings.sizes == sizes
    assert settings.steps == model.settings.steps
    assert settings.aspect_ratios == model.settings.aspect_ratios
    assert settings.grids == model.settings.grids
    np.testing.assert_allclose(settings.mean, (123.675, 116.28, 103.53))


@pytest.mark.slow
def test_a_file_is_recognised_and_nothing_may_be_left_over(tmp_path):
    set_seed(0)
    made = SSD300()
    arrays = gluon_file(made, SIZES)
    np.savez(tmp_path / "file.npz", **arrays)
    model = SSD300(pretrained_model=tmp_path / "file.npz")
    assert (model.n_fg_class, model.label_names, model.limit) == (20, voc_bbox_label_names, 100)
    assert model.settings.sizes == SIZES
    assert model.load_report.is_clean
    np.testing.assert_array_equal(model.multibox.loc[3].W.array, made.multibox.loc[3].W.array)
    with pytest.raises(ValueRangeError, match="SSD512: the file holds an SSD of a different input size"):
        SSD512(pretrained_model=tmp_path / "file.npz")
    np.savez(tmp_path / "more.npz", **arrays, **{"features.stages.4.8.weight": np.zeros(1, np.float32)})
    with pytest.raises(WeightsMismatchError, match=r"stages\.4\.8"):
        SSD300(pretrained_model=tmp_path / "more.npz")


def test_another_factor_or_another_number_of_levels_is_refused():
    arrays = gluon_file(SSD300(), SIZES)
    with pytest.raises(FileFormatError, match="init_scale"):
        by_our_names(arrays | {"features.init_scale": np.ones((1, 3, 1, 1), np.float32)}, NAMES)
    del arrays["anchor_generators.5.anchors"]
    with pytest.raises(FileFormatError, match="levels"):
        gluon_config(None, arrays, {})
