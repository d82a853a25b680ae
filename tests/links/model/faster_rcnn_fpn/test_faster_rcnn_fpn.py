"""A two-stage detector is built, filled from files, saved and found again; its parts keep their rules."""

import dataclasses
import json
import re

import numpy as np
import pytest
from by_our_names import by_our_names
from zoo_family import family_of

from cvzoo.backends.dispatch import backend_of
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.decoding.regions import LevelProposals, Proposals, Regions, cut_frames
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import (
    FasterRCNNFPN,
    FasterRCNNFPNMobileNetV3Large,
    FasterRCNNFPNMobileNetV3Large320,
    FasterRCNNFPNResNet50,
    FasterRCNNFPNResNet101,
)
from cvzoo.links.model.faster_rcnn_fpn.names import NAMES as PUBLISHERS
from cvzoo.links.model.faster_rcnn_fpn.names import torchvision_config
from cvzoo.links.model.faster_rcnn_fpn.region_network import pyramid_regions, region_anchors, region_levels
from cvzoo.links.model.faster_rcnn_fpn.weights import MOBILENET_V3_LARGE_320_FPN, RESNET50_FPN
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.formats.safetensors import read_safetensors_metadata, write_safetensors

TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)
NAMES = ("ape", "bee", "cat")


@pytest.fixture
def model():
    set_seed(0)
    return FasterRCNNFPN(label_names=NAMES, settings=TINY)


def test_levels_follow_the_golden_sides(shared):
    want = json.loads((shared / "reference" / "torchvision_golden.json").read_text())["level_mapper_k2_5"]
    bbox = np.array([[0, 0, side, side] for side in want["side"]], np.float32)
    np.testing.assert_array_equal(region_levels(bbox, (4, 8, 16, 32)) + 2, want["level"])
    assert region_levels(np.zeros((1, 4), np.float32), (4, 8)).tolist() == [0]
    np.testing.assert_array_equal(region_levels(bbox, (16, 32)) + 4, np.clip(want["level"], 4, 5))
    assert region_levels(bbox, (32, 32)).tolist() == [0] * len(bbox)  # the MobileNets' two maps are of one stride


def test_anchors_of_a_place_equal_the_golden_ones(shared):
    want = json.loads((shared / "reference" / "torchvision_golden.json").read_text())["anchors"]
    for anchors, cell in zip(
        region_anchors(RESNET50_FPN).by_level((800, 1088)), want["fasterrcnn_fpn_cell"], strict=True
    ):
        np.testing.assert_array_equal(anchors[:3][:, [1, 0, 3, 2]], cell)


def test_steps_of_anchors_are_whole_only_where_corners_are():
    size = (800, 800)  # the coarsest map has 13 places: 61 pixels a place, or 64
    rounded = region_anchors(RESNET50_FPN).by_level(size)[-1]
    exact = region_anchors(dataclasses.replace(RESNET50_FPN, anchor_style="detectron2")).by_level(size)[-1]
    assert rounded[3, 1] - rounded[0, 1] == 61
    assert exact[3, 1] - exact[0, 1] == 64


@dataclasses.dataclass(frozen=True)
class Fixed:
    """Four anchors, of one level or of two."""

    n: tuple = (4,)

    def boxes(self, size):
        return np.array([[0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 40, 40], [90, 90, 99, 99]], np.float32)

    def counts(self, size):
        return self.n


def proposed(conf, counts=(4,), n_proposal=10, score_thresh=0.0):
    decoding = LevelProposals(anchors=Fixed(counts), n_proposal=n_proposal, nms_thresh=0.7, score_thresh=score_thresh)
    loc, frames = np.zeros((1, 4, 4), np.float32), cut_frames([(30, 30)])
    return decoding.propose(loc, conf[None], (99, 99), frames).on_images()[0]


def test_proposals_are_cut_suppressed_within_levels_and_limited():
    conf = np.array([3, 2, 1, 5], np.float32)
    # the fourth lies in the padding
    np.testing.assert_array_equal(proposed(conf), [[0, 0, 10, 10], [20, 20, 30, 30]])
    assert len(proposed(conf, (1, 3))) == 3  # levels do not suppress each other
    assert len(proposed(conf, n_proposal=1)) == 0  # the best of the level was cut
    np.testing.assert_array_equal(proposed(conf, score_thresh=0.9), [[0, 0, 10, 10]])
    assert proposed(conf, score_thresh=1.0).shape == (0, 4)


def test_boxes_of_every_class_come_with_their_own_offsets():
    bbox = np.array([[10, 10, 30, 30], [0, 0, 20, 20]], np.float32)
    loc = np.zeros((2, 8), np.float32)
    loc[0, 4] = 5  # class 1: half the height down, at a deviation of 0.1
    conf = np.log(np.array([[0.2, 0.2, 0.6], [0.9, 0.06, 0.04]], np.float32))
    decoding = Regions(n_class=2, std=(0.1, 0.1, 0.2, 0.2), min_side=1e-2)

    def decoded(n):
        proposals, frames = Proposals(bbox[None, :n], np.array([n])), cut_frames([(35, 100)])
        options = {"frames": frames, "score_thresh": 0.05}
        found = decoding.candidates(proposals, loc[None, :n], conf[None, :n], **options)
        return backend_of(bbox).candidate_boxes(found)[0]

    found, label, score = decoded(2)
    np.testing.assert_allclose(found, [[10, 10, 30, 30], [20, 10, 35, 30], [0, 0, 20, 20]], atol=1e-4)
    assert label.tolist() == [0, 1, 0]
    np.testing.assert_allclose(score, [0.2, 0.6, 0.06], atol=1e-6)
    assert [len(part) for part in decoded(0)] == [0, 0, 0]


def test_regions_come_in_the_order_of_their_boxes():
    rng = np.random.default_rng(0)
    maps = [rng.standard_normal((2, 3, 64 // stride, 64 // stride)).astype(np.float32) for stride in (4, 8)]
    bbox = np.array([[0, 0, 60, 60], [0, 0, 10, 10], [0, 0, 64, 50], [3, 3, 9, 20]], np.float32) * 4
    photo = np.array([0, 1, 1, 0], np.int32)
    together = pyramid_regions(maps, bbox, photo, (4, 8), size=2).array
    for i in range(4):
        alone = pyramid_regions(maps, bbox[i : i + 1], photo[i : i + 1], (4, 8), size=2).array
        np.testing.assert_array_equal(together[i], alone[0])
    assert pyramid_regions(maps, bbox[:0], photo[:0], (4, 8), size=2).shape == (0, 3, 2, 2)


def test_sizes_of_photos_are_torchvisions_or_detectron2s(shared):
    for row in json.loads((shared / "reference" / "torchvision_golden.json").read_text())["resize_800_1333_div32"]:
        assert list(pyramid_preparation(RESNET50_FPN).placement(row["hw"]).resized) == row["resized"]
        other = dataclasses.replace(RESNET50_FPN, antialias=True)
        assert np.abs(np.subtract(pyramid_preparation(other).placement(row["hw"]).resized, row["resized"])).max() <= 1
    img = np.random.default_rng(0).integers(0, 256, (3, 50, 70)).astype(np.float32)
    for antialias in (False, True):
        x = pyramid_preparation(dataclasses.replace(TINY, antialias=antialias))(img)
        assert (x.shape, x.dtype) == ((3, 64, 96), np.float32)
        assert (x[:, :, 90:] == 0).all()


def test_a_saved_model_is_found_again(model, tmp_path):
    (architecture,) = family_of(FasterRCNNFPN).architectures
    model.limit = 7
    settings = json.loads(json.dumps(architecture.settings(model)))
    again = architecture.build(settings, NAMES)
    assert (again.settings, again.label_names, again.limit) == (TINY, NAMES, 7)
    assert model.preparation.to_header()["short_side"] == 64
    again.load_arrays(model.state_arrays())
    img = np.random.default_rng(0).integers(0, 256, (3, 50, 70)).astype(np.float32)
    for each in (model, again):
        each.score_thresh = 0.0
    np.testing.assert_array_equal(again.predict([img]).bboxes[0], model.predict([img]).bboxes[0])


def test_a_file_without_a_header_must_fit(model, tmp_path):
    write_safetensors(tmp_path / "own.safetensors", model.state_arrays())
    again = FasterRCNNFPN(3, tmp_path / "own.safetensors", settings=TINY)
    np.testing.assert_array_equal(again.regions.rpn.loc.W.array, model.regions.rpn.loc.W.array)
    more = {**model.state_arrays(), "odd/W": np.zeros(3, np.float32)}
    write_safetensors(tmp_path / "more.safetensors", more)
    with pytest.raises(WeightsMismatchError, match="odd/W"):
        FasterRCNNFPN(3, tmp_path / "more.safetensors", settings=TINY)
    less = {name: array for name, array in model.state_arrays().items() if name != "regions/rpn/loc/W"}
    write_safetensors(tmp_path / "less.safetensors", less)
    with pytest.raises(WeightsMismatchError, match="regions/rpn/loc/W"):
        FasterRCNNFPN(3, tmp_path / "less.safetensors", settings=TINY)


DAMAGES = {
    "one is lacking": ("regions/extractor/res3/0/conv1/conv/W", lambda array: None),
    "one is left over": ("odd/W", lambda array: np.zeros(3, np.float32)),
    "one has another shape": ("regions/extractor/res3/0/conv1/conv/W", lambda array: array[:1]),
    "a head's is lacking": ("regions/box_head/conf/b", lambda array: None),
    "of the proposals' one is lacking": ("regions/rpn/conf/b", lambda array: None),
}


@pytest.mark.parametrize(("name", "change"), DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("asked", [{}, {"n": 5}, {"min_size": 48}, {"anchor_ratios": (1.0,)}, {"rpn_depth": 2}])
@pytest.mark.parametrize("told", [True, False])
def test_a_damaged_file_is_refused_by_name_whatever_is_asked_for(name, change, asked, told, model, tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, model)
    arrays = model.state_arrays()
    arrays |= {name: change(arrays.get(name))}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    write_safetensors(path, arrays, metadata=read_safetensors_metadata(path) if told else None)
    settings = dataclasses.replace(TINY, **{key: value for key, value in asked.items() if key != "n"})
    with pytest.raises(WeightsMismatchError, match=name):
        FasterRCNNFPN(asked.get("n", 3), path, settings=settings)


def test_what_is_asked_for_starts_anew_and_nothing_else(model, tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, model)
    assert FasterRCNNFPN(3, path, settings=dataclasses.replace(TINY, min_size=48)).load_report.is_clean
    for told in (True, False):
        if not told:
            write_safetensors(path, model.state_arrays())
        with pytest.warns(UserWarning, match="4 initialized anew: regions/rpn/conf/W"):
            FasterRCNNFPN(3, path, settings=dataclasses.replace(TINY, anchor_ratios=(1.0,)))
    save_model(path, model)
    with pytest.warns(UserWarning, match="2 initialized anew: regions/rpn/convs/1/conv/W"):
        FasterRCNNFPN(3, path, settings=dataclasses.replace(TINY, rpn_depth=2))


@pytest.mark.parametrize(("name", "change"), list(DAMAGES.values())[:3], ids=list(DAMAGES)[:3])
def test_a_damaged_backbone_is_refused_by_name(name, change, tmp_path):
    arrays = {f"regions/{k}": v for k, v in ResNet(10, 5, base_channels=8).state_arrays().items()}
    arrays |= {name: change(arrays.get(name))}
    arrays = {k.removeprefix("regions/"): v for k, v in arrays.items() if v is not None}
    write_safetensors(tmp_path / "m.safetensors", arrays)
    with pytest.raises(WeightsMismatchError, match=name):
        FasterRCNNFPN(3, tmp_path / "m.safetensors")


def _narrow_mobilenet(**settings):
    narrow = {"width": 0.25, "channels": 16, "head_width": 16}
    return dataclasses.replace(MOBILENET_V3_LARGE_320_FPN, **narrow, **settings)


def test_a_damaged_file_of_a_mobilenet_that_sees_small_photos_is_refused_by_name(tmp_path):
    set_seed(0)
    path = tmp_path / "m.safetensors"
    arrays = FasterRCNNFPNMobileNetV3Large320(2, settings=_narrow_mobilenet(min_size=64)).state_arrays()
    write_safetensors(path, arrays)
    assert FasterRCNNFPNMobileNetV3Large320(2, path, settings=_narrow_mobilenet()).load_report.is_clean
    gone = next(name for name in arrays if name.startswith("regions/extractor/") and name.endswith("/W"))
    del arrays[gone]
    write_safetensors(path, arrays)
    for n_fg_class in (2, 3):
        with pytest.raises(WeightsMismatchError, match=gone):
            FasterRCNNFPNMobileNetV3Large320(n_fg_class, path, settings=_narrow_mobilenet())


@pytest.mark.slow
@pytest.mark.parametrize("n_fg_class", [None, 5])
@pytest.mark.parametrize("name", ["fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_resnet50_fpn"])
def test_a_damaged_file_of_torchvision_is_refused_by_name(name, n_fg_class, shared, seeds, tmp_path):
    make = FasterRCNNFPNMobileNetV3Large320 if "mobilenet" in name else FasterRCNNFPNResNet50
    whole = {name: np.zeros(shape, np.float32) for name, shape in seeds.manifest(shared, name).items()}
    for gone, says in (
        ("fpn.inner_blocks.0.0.bias", "regions/fpn/inner/0/b"),
        ("roi_heads.box_predictor.cls_score.bias", "regions/box_head/conf/b"),
    ):
        gone = gone if gone in whole else f"backbone.{gone}"
        write_safetensors(tmp_path / "m.safetensors", {key: v for key, v in whole.items() if key != gone})
        with pytest.raises(WeightsMismatchError, match=says):
            make(n_fg_class, tmp_path / "m.safetensors")


def test_a_backbone_of_imagenet_fills_the_backbone_alone(tmp_path):
    backbone = ResNet(10, 5, base_channels=8)
    write_safetensors(tmp_path / "resnet.safetensors", backbone.state_arrays())
    model = FasterRCNNFPN(3, tmp_path / "resnet.safetensors")
    assert (model.settings.n_layer, model.settings.norm, model.settings.base_channels) == (10, "frozen", 8)
    np.testing.assert_array_equal(model.regions.extractor.conv1.conv.W.array, backbone.extractor.conv1.conv.W.array)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "n_fg_class must be a positive integer"),
        ({"n_fg_class": 0}, "n_fg_class must be a positive integer"),
        ({"n_fg_class": 2, "label_names": NAMES}, "one per class"),
        ({"n_fg_class": 2, "pretrained_model": "nonsense"}, "resnet50_coco"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, says):
    with pytest.raises(ValueRangeError, match=says):
        FasterRCNNFPN(**arguments, settings=TINY)


@pytest.mark.parametrize(
    "wrong",
    [
        {"anchor_sizes": ((32,),)},
        {"anchor_sizes": ((32,), (64,), (128,), (256,), (512, 513))},
        {"backbone": "vgg"},
        {"fpn_norm": "layer"},
        {"anchor_style": "gothic"},
        {"min_size": 0},
        {"loc_std": (1, 1, 1)},
        {"std": (0, 1, 1)},
        {"rpn_nms_thresh": 2},
        {"head_fcs": 0},
        {"n_proposal": 0},
    ],
)
def test_settings_check_themselves(wrong):
    with pytest.raises(ValueRangeError, match="FasterRCNNFPNConfig"):
        FasterRCNNFPNSettings(**wrong)


def test_named_constructors_build_what_they_say():
    small = dataclasses.replace(TINY, n_layer=18)
    assert FasterRCNNFPNResNet50(2, settings=small).settings.n_layer == 18
    assert FasterRCNNFPNResNet101(2, settings=small).settings.n_layer == 18
    mobile = FasterRCNNFPNSettings(
        backbone="mobilenet_v3_large", width=0.25, channels=16, head_width=16, anchor_sizes=((32, 64),) * 3, min_size=64
    )
    model = FasterRCNNFPNMobileNetV3Large(2, settings=mobile)
    model.score_thresh = 0.0
    bboxes, _, _ = model.predict([np.full((3, 64, 64), 99, np.float32)])
    assert len(bboxes[0])


def test_members_are_named_once_and_fetch_one_file():
    found = family_of(FasterRCNNFPN).members
    assert len({member.name for member in found}) == len(found) >= 4
    assert all(len(member.files) == 1 and member.task == "detection" for member in found)


def test_a_saved_model_is_fitted_to_other_classes_with_a_warning(model, tmp_path):
    save_model(tmp_path / "model.safetensors", model)
    again = FasterRCNNFPN(pretrained_model=tmp_path / "model.safetensors")
    assert (again.label_names, again.settings) == (NAMES, TINY)
    assert again.load_report.is_clean
    with pytest.warns(UserWarning, match="regions/box_head/conf/W"):
        other = FasterRCNNFPN(5, tmp_path / "model.safetensors")
    assert (other.n_fg_class, other.label_names) == (5, None)
    assert {name.rpartition("/")[0] for name in other.load_report.mismatching} == {
        "regions/box_head/conf",
        "regions/box_head/loc",
    }
    np.testing.assert_array_equal(other.regions.rpn.loc.W.array, model.regions.rpn.loc.W.array)


def test_torchvisions_rows_are_cocos_classes_unless_all_are_asked_for(shared, seeds):
    arrays = seeds.empty_network(shared, "maskrcnn_resnet50_fpn")
    for n_fg_class, n in ((None, 80), (80, 80), (5, 80), (90, 90)):
        named = by_our_names(arrays, PUBLISHERS, n_fg_class)
        assert named["regions/box_head/conf/b"].shape == (n + 1,)
        assert named["regions/box_head/loc/W"].shape == (4 * n, 1024)
        assert named["mask_head/out/W"].shape == (n, 256, 1, 1)


def test_older_names_of_torchvision_have_the_same_places(shared, seeds):
    arrays = seeds.empty_network(shared, "maskrcnn_resnet50_fpn")
    old = {}
    for name, array in arrays.items():
        name = re.sub(r"(inner_blocks|layer_blocks)\.(\d)\.0\.", r"\1.\2.", name)
        name = name.replace("rpn.head.conv.0.0.", "rpn.head.conv.")
        name = re.sub(r"mask_head\.(\d)\.0\.", lambda m: f"mask_head.mask_fcn{int(m[1]) + 1}.", name)
        old[name] = array
    assert old.keys() != arrays.keys()
    assert by_our_names(old, PUBLISHERS, 90).keys() == by_our_names(arrays, PUBLISHERS, 90).keys()


@pytest.mark.parametrize(("count", "norm", "eps"), [(0, "frozen", 0.0), (7, "batch", 1e-5)])
def test_normalizations_that_counted_batches_are_ordinary_ones(count, norm, eps, shared, seeds):
    arrays = seeds.empty_network(shared, "maskrcnn_resnet50_fpn")
    arrays = {k: np.array(count, np.int64) if k.endswith("tracked") else v for k, v in arrays.items()}
    settings = torchvision_config(None, arrays, by_our_names(arrays, PUBLISHERS, 90))
    assert (settings.norm, settings.bn_eps, settings.n_layer) == (norm, eps, 50)


def test_a_photo_without_proposals_has_nothing_in_it(model):
    shy = FasterRCNNFPN(3, settings=dataclasses.replace(TINY, rpn_score_thresh=1.0))
    shy.score_thresh = 0.0
    bboxes, labels, scores = shy.predict([np.zeros((3, 50, 70), np.float32)])
    assert bboxes[0].shape == (0, 4)
    assert len(labels[0]) == len(scores[0]) == 0


@pytest.mark.slow
def test_a_mobilenet_of_imagenet_fills_its_detectors_backbone(shared, seeds, tmp_path):
    arrays = {name: np.zeros(shape, np.float32) for name, shape in seeds.manifest(shared, "mobilenet_v3_large").items()}
    arrays["features.16.0.weight"][:] = 3
    write_safetensors(tmp_path / "mobilenet.safetensors", arrays)
    model = FasterRCNNFPNMobileNetV3Large(2, tmp_path / "mobilenet.safetensors")
    assert (model.regions.extractor.last.conv.W.array == 3).all()
    assert not [name for name in model.load_report.missing if "extractor" in name]
    with pytest.raises(ValueRangeError, match="imagenet_v2"):
        FasterRCNNFPNMobileNetV3Large(2, "nonsense")
