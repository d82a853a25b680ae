"""gluon-cv's DeepLabV3, FCN and PSPNet: names in files, and maps that a plain torch program of the same layers gave."""

import json
import pathlib

import numpy as np
import pytest
from by_our_names import by_our_names
from neighbour import neighbour

import cvzoo.functions as F
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.weights import NAMES, V3_RECORDS
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.fcn.weights import RECORDS
from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.links.model.pspnet.weights import INPUT_SIZES
from cvzoo.links.model.pspnet.weights import NAMES as PSPNET_NAMES
from cvzoo.links.model.pspnet.weights import RECORDS as PSPNET_RECORDS
from cvzoo.weights.formats.npz import write_npz

_HERE = pathlib.Path(__file__)
STORED = json.loads(_HERE.with_name("gluon_maps.json").read_text())
files = neighbour(__file__, "gluon_files")
MODELS = {"deeplab": DeepLabV3, "fcn": FCN}


def _empty(shapes):
    return {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes.items()}


def _assert_map_equal(y, want):
    """y (1, n_class, H, W): the stored numbers within 1e-4 of their spread."""
    spread = want["std"]
    assert list(y.shape) == want["shape"]
    np.testing.assert_allclose(y[0, :, 30, 40], want["px"], atol=1e-4 * spread)
    got = [y.mean(dtype=np.float64), y.std(dtype=np.float64, ddof=1), y.min(), y.max()]
    np.testing.assert_allclose(got, [want[k] for k in ("mean", "std", "min", "max")], atol=1e-4 * spread)


@pytest.mark.parametrize("head", MODELS)
def test_a_seeded_network_gives_the_stored_maps(head, seeds, tmp_path):
    shapes = files.segmenter(head, counts=(3, 4, 6, 3), base=4, n_class=5)
    path = tmp_path / "gluon.npz"
    write_npz(path, {name: seeds.seeded(name, shape) for name, shape in shapes.items()})
    model = MODELS[head]("resnet50s", None, path, width=1 / 16)
    assert model.n_class == 5
    assert model.load_report.is_clean
    x = seeds.seeded_photo(f"gluon:{head}", 65, 97)[None]
    with using_config("train", False), no_backprop_mode():
        aux = F.resize_images(model.training_scores(x)[1], (65, 97), align_corners=True)
        _assert_map_equal(model(x).array, STORED[head]["out"])
        _assert_map_equal(aux.array, STORED[head]["aux"])


def test_a_seeded_pspnet_gives_the_stored_maps(seeds, tmp_path):
    shapes = files.segmenter("psp", counts=(3, 4, 6, 3), base=4, n_class=5)
    path = tmp_path / "gluon.npz"
    write_npz(path, {name: seeds.seeded(name, shape) for name, shape in shapes.items()})
    model = PSPNet(50, None, path, 96, base_channels=4)
    assert (model.n_class, model.layout, model.aux) == (5, "gluon", True)
    assert model.load_report.is_clean
    x = seeds.seeded_photo("gluon:psp", 96, 96)[None]
    with using_config("train", False), no_backprop_mode():
        aux = F.resize_images(model.training_scores(x)[1], (96, 96), align_corners=True)
        _assert_map_equal(model(x).array, STORED["psp"]["out"])
        _assert_map_equal(aux.array, STORED["psp"]["aux"])
    grey = np.full((3, 4, 4), 255 * 0.456, np.float32)
    np.testing.assert_allclose(model.prepare(grey)[1], 0, atol=1e-5)


def test_every_array_of_a_whole_pspnet_has_its_place():
    shapes = files.segmenter("psp", n_class=5)
    named = by_our_names(_empty(shapes), PSPNET_NAMES)
    ours = PSPNet(101, 5, base_channels=4, aux=True, layout="gluon").state_arrays()
    assert named.keys() == ours.keys()


@pytest.mark.parametrize("head", MODELS)
def test_every_array_of_the_whole_network_has_its_place(head):
    shapes = files.segmenter(head)
    named = by_our_names(_empty(shapes), NAMES)
    ours = MODELS[head]("resnet101s", width=1 / 16).state_arrays()
    assert named.keys() == ours.keys()
    assert not any("." in name for name in named)


def test_a_file_without_an_array_is_refused(seeds, tmp_path):
    shapes = files.segmenter("fcn", counts=(3, 4, 6, 3), base=4, n_class=5)
    path = tmp_path / "gluon.npz"
    arrays = {name: seeds.seeded(name, shape) for name, shape in shapes.items()}
    for name in ("bn1.gamma", "auxlayer.block.4.bias"):
        write_npz(path, {each: array for each, array in arrays.items() if each != name})
        with pytest.raises(WeightsMismatchError):
            FCN("resnet50s", None, path, width=1 / 16)


def test_the_records_say_what_the_files_are():
    for records in (V3_RECORDS, RECORDS):
        for backbone in ("resnet50s", "resnet101s"):
            for key, record in records[backbone].items():
                assert record.name.endswith(f"{key}_gluon")
                assert record.source.rpartition(" ")[2][:8] in record.url
                assert len(record.label_names) in (19, 21, 150)
    for records in PSPNET_RECORDS.values():
        assert set(records) <= set(INPUT_SIZES)
