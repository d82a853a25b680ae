"""Files with ChainerCV's names fill the network; its anchors lie where ChainerCV lays them."""

import dataclasses

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.names import NAMES
from cvzoo.links.model.faster_rcnn_fpn.region_network import region_anchors
from cvzoo.links.model.faster_rcnn_fpn.weights import chainercv_config
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.weights.formats.npz import write_npz

# our beginning of a path -> ChainerCV's
THEIRS = (
    ("regions/extractor/", "extractor/base/"),
    ("regions/fpn/", "extractor/"),
    ("regions/rpn/convs/0/conv/", "rpn/conv/"),
    ("regions/rpn/", "rpn/"),
    ("regions/box_head/fcs/0/conv/", "bbox_head/fc1/"),
    ("regions/box_head/fcs/1/conv/", "bbox_head/fc2/"),
    ("regions/box_head/", "bbox_head/"),
    ("mask_head/convs/0/", "mask_head/conv1/"),
    ("mask_head/convs/1/", "mask_head/conv2/"),
    ("mask_head/convs/2/", "mask_head/conv3/"),
    ("mask_head/convs/3/", "mask_head/conv4/"),
    ("mask_head/up/", "mask_head/conv5/"),
    ("mask_head/out/", "mask_head/seg/"),
)
CLASSES = {"bbox_head/loc": 4, "mask_head/seg": 1}  # rows a class, with background there


def chainercv_file(model):
    """The model's arrays as ChainerCV would have named and shaped them, with a bias of the first convolution."""
    arrays = {}
    for name, array in model.state_arrays().items():
        ours, theirs = next(pair for pair in THEIRS if name.startswith(pair[0]))
        name = theirs + name.removeprefix(ours)
        parts = name.split("/")
        if name.startswith("extractor/base/res"):
            parts[3] = "a" if parts[3] == "0" else f"b{parts[3]}"
            parts[4] = parts[4].replace("shortcut", "residual_conv")
        name = "/".join(parts)
        if "/fc" in name and array.ndim == 4:
            array = array.reshape(len(array), -1)
        for head, n in CLASSES.items():
            if name.startswith(head):
                array = np.concatenate([np.full_like(array[:n], 9), array])
        arrays[name] = np.array(array)
    arrays["extractor/base/conv1/conv/b"] = np.full(64, 2, np.float32)
    return arrays


@pytest.mark.slow
def test_every_array_has_a_place_in_the_network(tmp_path):
    set_seed(0)
    model = MaskRCNNFPN(80, settings=chainercv_config(50))
    arrays = chainercv_file(model)
    assert "extractor/base/res4/b5/conv3/bn/avg_var" in arrays
    assert arrays["bbox_head/loc/W"].shape == (324, 1024)
    write_npz(tmp_path / "coco.npz", arrays)
    again = MaskRCNNFPN(pretrained_model=tmp_path / "coco.npz")
    assert again.load_report.is_clean
    assert again.settings == chainercv_config(50)
    assert again.label_names == coco_bbox_label_names
    for name, array in again.state_arrays().items():
        want = model.state_arrays()[name]
        bias = 2 if name == "regions/extractor/conv1/bn/avg_mean" else 0  # it is taken off behind the convolution
        np.testing.assert_array_equal(array, want - bias, err_msg=name)
    arrays["odd/W"] = np.zeros(3, np.float32)
    write_npz(tmp_path / "more.npz", arrays)
    with pytest.raises(WeightsMismatchError, match="odd/W"):
        MaskRCNNFPN(pretrained_model=tmp_path / "more.npz")


def test_names_without_a_place_stay():
    arrays = {"bbox_head/loc/W": np.ones((8, 2)), "bbox_head/loc/b": np.ones(8), "odd/W": np.ones(1)}
    assert NAMES["chainercv"](arrays).keys() == {"regions/box_head/loc/W", "regions/box_head/loc/b", "odd/W"}


def test_anchors_lie_around_the_middle_of_their_place():
    finest, *_, coarsest = region_anchors(chainercv_config(50)).by_level((64, 128))
    assert finest.shape == (16 * 32 * 3, 4)
    # a square of side 4 becomes 3 x 6, 4 x 4 and 6 x 3, eight times enlarged
    np.testing.assert_array_equal(
        finest[:3],
        [[2 - 12, 2 - 24, 2 + 12, 2 + 24], [2 - 16, 2 - 16, 2 + 16, 2 + 16], [2 - 24, 2 - 12, 2 + 24, 2 + 12]],
    )
    np.testing.assert_array_equal(finest[4] - finest[1], [0, 4, 0, 4])
    np.testing.assert_array_equal(coarsest[4] - coarsest[1], [0, 64, 0, 64])
    np.testing.assert_array_equal(coarsest[1], [32 - 256, 32 - 256, 32 + 256, 32 + 256])
    several = dataclasses.replace(chainercv_config(50), anchor_sizes=((32, 64),) * 5)
    assert region_anchors(several).by_level((64, 64))[0].shape == (16 * 16 * 6, 4)
