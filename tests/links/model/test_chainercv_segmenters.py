"""ChainerCV's segmenters: their files' names, and maps that a plain torch program of the same layers gave.

The program was written from the description of the layers, with the values that `chainercv_files.py` seeds.
"""

import json
import pathlib

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusXception65
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.source import read_pretrained
from cvzoo.links.model.pspnet.pspnet import PSPNet, PSPNetResNet50
from cvzoo.links.model.pspnet.weights import BACKBONE_NAMES
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.weights.formats.npz import write_npz

_HERE = pathlib.Path(__file__)
STORED = json.loads(_HERE.with_name("chainercv_maps.json").read_text())
files = neighbour(__file__, "chainercv_files")


def _photo(height, width, seed):
    return np.random.default_rng(seed).integers(0, 256, (3, height, width)).astype(np.float32)


def _file(folder, shapes):
    path = folder / "chainercv.npz"
    write_npz(path, files.seeded(shapes))
    return path


def _assert_map_equal(y, want):
    """y (1, n_class, H, W): the stored numbers within 1e-4 of their spread."""
    spread = want["std"]
    assert list(y.shape) == want["shape"]
    np.testing.assert_allclose(y[0, :, y.shape[2] // 2, y.shape[3] // 3], want["px"], atol=1e-4 * spread)
    got = [y.mean(dtype=np.float64), y.std(dtype=np.float64, ddof=1), y.min(), y.max()]
    np.testing.assert_allclose(got, [want[k] for k in ("mean", "std", "min", "max")], atol=1e-4 * spread)


def _scores(model, x):
    with using_config("train", False), no_backprop_mode():
        return model(x[None]).array


def test_segnet_gives_the_stored_map(tmp_path):
    model = SegNetBasic(pretrained_model=_file(tmp_path, files.segnet(8, 5)), channels=8)
    assert model.n_class == 5
    _assert_map_equal(_scores(model, model.prepare(_photo(48, 80, 0))), STORED["segnet"])


def test_segnet_keeps_the_pixels_of_odd_sides_where_they_are(tmp_path):
    model = SegNetBasic(pretrained_model=_file(tmp_path, files.segnet(8, 5)), channels=8)
    img = _photo(61, 83, 5)
    assert _scores(model, img).shape == (1, 5, 61, 83)
    # deep inside, what lies beyond the border says nothing
    grown = np.pad(img, ((0, 0), (0, 3), (0, 13)))
    near = _scores(model, grown)[:, :, :61, :83]
    assert (near[..., 30:32, 30:32].argmax(1) == _scores(model, img)[..., 30:32, 30:32].argmax(1)).all()


def test_deeplab_v3_plus_gives_the_stored_maps(tmp_path):
    path = _file(tmp_path, files.deeplab_v3_plus(1 / 16, 2, 5))
    model = DeepLabV3plusXception65(None, path, 97, width=1 / 16, middle_blocks=2)
    img = _photo(70, 90, 1)
    _assert_map_equal(_scores(model, model.prepare(img)), STORED["deeplab_v3_plus"])
    _assert_map_equal(model.predict([img], with_probs=True).probs[0][None], STORED["deeplab_v3_plus_predict"])
    model.flip = True
    _assert_map_equal(model.predict([img], with_probs=True).probs[0][None], STORED["deeplab_v3_plus_flip"])


def test_pspnet_gives_the_stored_maps_in_one_window_and_in_tiles(tmp_path):
    model = PSPNet(50, None, _file(tmp_path, files.pspnet((3, 4, 6, 3), 4, 5)), 65, base_channels=4)
    _assert_map_equal(_scores(model, model.prepare(_photo(65, 65, 2))), STORED["pspnet"])
    probs = model.predict([_photo(80, 100, 3)], with_probs=True).probs[0]
    _assert_map_equal(probs[None], STORED["pspnet_tiles"])


def test_a_small_photo_lies_in_the_middle_of_pspnet_s_window(tmp_path):
    model = PSPNet(50, None, _file(tmp_path, files.pspnet((3, 4, 6, 3), 4, 5)), 65, base_channels=4)
    img = _photo(41, 53, 4)
    window = np.zeros((3, 65, 65), np.float32)
    window[:, 12:53, 6:59] = model.prepare(img)
    both = [_softmax(_scores(model, each)) for each in (window, window[..., ::-1].copy())]
    mean = (both[0] + both[1][..., ::-1]) / 2
    got = model.predict([img], with_probs=True).probs[0]
    np.testing.assert_allclose(got, mean[0, :, 12:53, 6:59], atol=1e-5)


def _softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_pspnet_starts_from_a_backbone_s_file(tmp_path):
    shapes = {**files.dilated_resnet(base=4), "fc6/W": (10, 128), "fc6/b": (10,)}
    arrays = files.seeded(shapes)
    model = PSPNet(50, 3, None, 65, base_channels=4, aux=True)
    load_pretrained(model, read_pretrained(_file(tmp_path, shapes), {}, BACKBONE_NAMES))
    np.testing.assert_array_equal(model.extractor.res4[5].conv2.conv.W.array, arrays["res4/b5/conv2/conv/W"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "shapes", "n_array", "n_million"),
    [
        (SegNetBasic, files.segnet(), 50, 1.4),
        (DeepLabV3plusXception65, files.deeplab_v3_plus(), 878, 41.1),
        (PSPNetResNet50, files.pspnet(), 362, 46.7),
    ],
    ids=["SegNetBasic", "DeepLabV3plusXception65", "PSPNetResNet50"],
)
def test_the_published_files_names_and_counts_are_ours(make, shapes, n_array, n_million, tmp_path):
    assert len(shapes) == n_array  # as counted in the published files; PSPNet's were not at hand
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    path = tmp_path / "empty.npz"
    write_npz(path, arrays, compress=True)
    model = make(pretrained_model=path)
    assert model.load_report.is_clean
    assert model.label_names is not None
    assert round(sum(each.array.size for each in model.params()) / 1e6, 1) == n_million
    first, *_ = arrays
    del arrays[first]
    write_npz(path, arrays, compress=True)
    with pytest.raises(WeightsMismatchError):
        make(pretrained_model=path)
