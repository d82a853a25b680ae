"""Masks are pasted as torchvision pastes them; a model finds, saves and trains nothing by itself."""

import dataclasses
import json
import tracemalloc
import zlib

import numpy as np
import pytest
from zoo_family import family_of

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import (
    MaskHead,
    MaskHeadSettings,
    MaskRCNNFPN,
    MaskRCNNFPNResNet50,
    MaskRCNNFPNResNet101,
)
from cvzoo.links.model.mask_rcnn.paste_mask import paste_masks, paste_window
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.formats.safetensors import read_safetensors_metadata, write_safetensors

TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)
TINY_HEAD = MaskHeadSettings(depth=1, channels=8, roi_size=7)
NAMES = ("ape", "bee", "cat")


@pytest.fixture
def model():
    set_seed(0)
    model = MaskRCNNFPN(label_names=NAMES, settings=TINY, mask_settings=TINY_HEAD)
    model.score_thresh, model.limit = 0.0, 20
    return model


@pytest.fixture
def photos():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (3, *size)).astype(np.float32) for size in ((50, 70), (40, 40), (50, 70))]


def test_a_pasted_mask_equals_the_golden_one(shared):
    want = json.loads((shared / "reference" / "torchvision_golden.json").read_text())["paste_mask"]
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(b"mask")))
    prob = rng.random((1, 1, 28, 28), dtype=np.float32)[0, 0]
    x_min, y_min, x_max, y_max = want["box"]
    window, (y, x) = paste_window(prob, np.array([y_min, x_min, y_max, x_max], np.float32), want["im"])
    whole = np.zeros(want["im"], np.float32)
    whole[y : y + window.shape[0], x : x + window.shape[1]] = window
    np.testing.assert_allclose(whole.sum(dtype=np.float64), want["sum"], rtol=1e-6)
    assert np.count_nonzero(whole) == want["nonzero"]
    np.testing.assert_allclose(whole[10], want["row10"], atol=1e-6)


@pytest.mark.parametrize("how", ["whole", "exact"])
def test_a_full_mask_covers_its_box(how):
    mask = paste_masks(np.ones((2, 4, 4), np.float32), np.float32([[10, 20, 30, 50], [0, 0, 8, 8]]), (60, 60), how=how)
    bbox = mask.to_bbox()
    np.testing.assert_allclose(bbox, [[10, 20, 30, 50], [0, 0, 8, 8]], atol=1)


@pytest.mark.parametrize("how", ["whole", "exact"])
@pytest.mark.parametrize(
    "bb",
    [
        [-5, -5, 3, 3],  # over the corner
        [0, 0, 0, 0],  # empty
        [90, 90, 95, 95],  # beyond the photo
        [-30, -30, -20, -20],  # before it
        [0, 0, 40, 50],  # all of it
        [39.5, 49.5, 40, 50],  # less than a pixel
    ],
)
def test_any_box_gives_a_mask_of_the_photos_size(bb, how):
    mask = paste_masks(np.full((1, 5, 5), 0.7, np.float32), np.float32([bb]), (40, 50), how=how)
    assert mask.to_masks().shape == (1, 40, 50)


def test_an_exact_mask_is_the_bilinear_mean_around_the_pixels_middle():
    prob = np.random.default_rng(1).random((3, 3), dtype=np.float32)
    window, (y, x) = paste_window(prob, np.float32([2.5, 1, 8.5, 4]), (12, 12), how="exact")
    padded = np.pad(prob, 1)
    for i, j in ((3, 2), (5, 1), (7, 3), (2, 1)):
        v, u = (i + 0.5 - 2.5) / 6 * 3 - 0.5 + 1, (j + 0.5 - 1) / 3 * 3 - 0.5 + 1
        top, left = int(v), int(u)
        a, b = v - top, u - left
        four = padded[top : top + 2, left : left + 2]
        want = (1 - a) * (1 - b) * four[0, 0] + (1 - a) * b * four[0, 1] + a * (1 - b) * four[1, 0] + a * b * four[1, 1]
        np.testing.assert_allclose(window[i - y, j - x], want, atol=1e-6)


def test_probabilities_are_those_of_the_class_alone():
    set_seed(0)
    head = MaskHead(4, 3, TINY_HEAD)
    x = np.random.default_rng(0).standard_normal((5, 4, 7, 7)).astype(np.float32)
    label = np.array([2, 0, 1, 1, 2])
    with no_backprop_mode():
        every = 1 / (1 + np.exp(-head(x).array))
        np.testing.assert_allclose(head.probabilities(x, label), every[np.arange(5), label], atol=1e-6)
        assert head.probabilities(x[:0], label[:0]).shape == (0, 14, 14)


def test_results_do_not_depend_on_the_batch(model, photos):
    together = model.predict(photos, batch_size=3)
    assert isinstance(together, InstanceSegmentations)
    assert [len(labels) for labels in together.labels] == [20] * 3
    for i, img in enumerate(photos):
        alone = model.predict([img])
        assert alone.masks[0] == together.masks[i]
        np.testing.assert_array_equal(alone.bboxes[0], together.bboxes[i])
        np.testing.assert_array_equal(alone.scores[0], together.scores[i])
        assert (together.masks[i].sizes == img.shape[1:]).all()


def test_a_photo_with_nothing_gives_nothing(model, photos):
    model.score_thresh = 2
    masks, labels, scores = model.predict(photos[:1])
    assert len(masks[0]) == len(labels[0]) == len(scores[0]) == 0
    assert model.predict([]) == ([], [], [])


def test_a_saved_model_is_found_again(model, photos):
    (architecture,) = family_of(MaskRCNNFPN).architectures
    again = architecture.build(json.loads(json.dumps(architecture.settings(model))), NAMES)
    again.load_arrays(model.state_arrays())
    again.score_thresh, again.limit = model.score_thresh, model.limit
    assert again.predict(photos[:1]).masks[0] == model.predict(photos[:1]).masks[0]


def test_named_constructors_and_members_agree():
    assert isinstance(MaskRCNNFPNResNet50(2, settings=TINY), MaskRCNNFPN)
    assert isinstance(MaskRCNNFPNResNet101(2, settings=TINY), MaskRCNNFPN)
    assert all(member.task == "instance segmentation" for member in family_of(MaskRCNNFPN).members)
    with pytest.raises(ValueRangeError, match="MaskHeadConfig"):
        MaskHeadSettings(paste="glue")


@pytest.mark.parametrize("how", ["whole", "exact"])
def test_masks_as_large_as_a_1080p_photo_are_pasted_one_by_one(how):
    bbox = np.tile(np.array([-20, -30, 1100, 1950], np.float32), (25, 1))
    tracemalloc.start()
    try:
        masks = paste_masks(np.ones((25, 4, 4), np.float32), bbox, (1080, 1920), how=how)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(masks) == 25
    assert peak < 30e6  # all at once they would be 52e6, a hundred of them four times that


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("gone", ["HEAD/convs/0/conv/W", "HEAD/out/b", "regions/extractor/conv1/conv/W"])
def test_a_damaged_file_is_refused_by_name(gone, told, model, tmp_path):
    path, gone = tmp_path / "m.safetensors", gone.replace("HEAD", "mask_head")
    save_model(path, model)
    arrays = {name: array for name, array in model.state_arrays().items() if name != gone}
    write_safetensors(path, arrays, metadata=read_safetensors_metadata(path) if told else None)
    small = dataclasses.replace(TINY, min_size=48)
    for n_fg_class, asked in ((3, TINY_HEAD), (2, TINY_HEAD)):
        with pytest.raises(WeightsMismatchError, match=gone):
            MaskRCNNFPN(n_fg_class, path, settings=small, mask_settings=asked)


@pytest.mark.parametrize("told", [True, False])
def test_heads_of_others_start_anew_alone(told, model, tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, model)
    if not told:
        write_safetensors(path, model.state_arrays())
    with pytest.warns(
        UserWarning, match=r"6 initialized anew: mask_head/out/W, mask_head/out/b, regions/box_head/conf"
    ):
        MaskRCNNFPN(2, path, settings=TINY, mask_settings=TINY_HEAD)
