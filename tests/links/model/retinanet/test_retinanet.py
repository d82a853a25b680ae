"""RetinaNet: shapes, anchors, decoding, fitting photos, fine-tuning."""

import dataclasses
import json
import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import cvzoo.functions as F
from cvzoo.errors.exceptions import CvzooError, ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.geometry.coding import encode_bbox
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.preparation.abstract import MEAN_OF_255 as MEAN
from cvzoo.links.model.preparation.abstract import STD_OF_255 as STD
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.links.model.preparation.resize_shortest_edge import fitted_size, torchvision_detector_preparation
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.retinanet import (
    RetinaNet,
    retinanet_resnet18,
    retinanet_resnet50_fpn,
    retinanet_resnet50_fpn_v2,
)
from cvzoo.serializers.model_file import save_model
from cvzoo.serializers.npz import save_npz
from cvzoo.weights.formats.safetensors import read_safetensors_metadata, write_safetensors

SMALL = RetinaNetSettings(
    n_layer=10,
    base_channels=8,
    channels=16,
    head_depth=1,
    anchor_sizes=((16,), (32,), (64,), (128,), (256,)),
    anchor_ratios=(0.125, 0.5, 1),
    min_size=64,
    max_size=96,
)
LEVELS = {2: ((8,), (16,), (32,), (64,), (128,), (256,)), 3: SMALL.anchor_sizes, 4: ((32,), (64,), (128,), (256,))}


def small(n_fg_class=2, pretrained_model=None, label_names=None, **settings):
    return RetinaNet(
        n_fg_class, pretrained_model, label_names=label_names, settings=dataclasses.replace(SMALL, **settings)
    )


# --- the network --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [(64, 96), (128, 32), (97, 61)])
@pytest.mark.parametrize("first_level", [2, 3, 4])
def test_there_is_an_anchor_for_every_row(size, first_level):
    model = small(first_level=first_level, anchor_sizes=LEVELS[first_level])
    loc, conf = model(np.zeros((2, 3, *size), np.float32))
    anchor = model.anchors(size)
    assert anchor.dtype == np.float32
    assert loc.shape == (2, len(anchor), 4)
    assert conf.shape == (2, len(anchor), 2)


def test_anchors_stand_where_their_maps_look():
    model = small()
    anchor = model.anchors((64, 96))
    center, side = (anchor[:, :2] + anchor[:, 2:]) / 2, np.sqrt(np.prod(anchor[:, 2:] - anchor[:, :2], axis=1))
    start = 0
    for stride, (height, width), (size,) in zip((8, 16, 32, 64, 96), model.grids((64, 96)), SMALL.anchor_sizes):
        count = height * width * 3
        part = center[start : start + count].reshape(height, width, 3, 2)
        np.testing.assert_allclose(side[start : start + count], size, rtol=1e-5)
        if stride < 64:
            places = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), axis=-1)
            np.testing.assert_allclose(part, stride * places[:, :, None].repeat(3, axis=2))
        start += count
    assert start == len(anchor)


@pytest.mark.parametrize(
    "settings", [{}, {"extra_from": "C5"}, {"head_groups": 4}, {"norm": "frozen"}, {"norm": "group"}, {"head_depth": 3}]
)
def test_gradients_reach_every_parameter(settings):
    model = small(**settings)
    x = np.random.default_rng(0).standard_normal((2, 3, 64, 96), "float32")
    loc, conf = model(x)
    model.cleargrads()
    (F.sum(loc * loc) + F.sum(conf)).backward()
    assert [name for name, p in model.namedparams() if p.grad is None or not np.abs(p.grad).sum() > 0] == []


@pytest.mark.parametrize("prior", [0.01, 0.2])
def test_a_new_network_expects_objects_with_the_prior_probability(prior):
    model = small(prior=prior)
    _, conf = model(np.zeros((1, 3, 64, 64), np.float32))
    assert F.sigmoid(conf).array.mean() == pytest.approx(prior, rel=0.05)


def test_it_can_be_small_enough_to_ship():
    settings = dataclasses.replace(SMALL, n_layer=18, base_channels=32, channels=64, head_depth=2)
    assert RetinaNet(1, settings=settings).count_params() < 3_500_000


@pytest.mark.parametrize(
    ("make", "n_layer", "extra_from", "groups"),
    [
        (retinanet_resnet18, 18, "P5", None),
        (retinanet_resnet50_fpn, 50, "P5", None),
        (retinanet_resnet50_fpn_v2, 50, "C5", 32),
    ],
)
def test_the_known_ones_by_name(make, n_layer, extra_from, groups):
    model = make(2)
    assert (model.settings.n_layer, model.settings.extra_from, model.settings.head_groups) == (
        n_layer,
        extra_from,
        groups,
    )
    assert model.settings.n_anchor == 9


# --- settings -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"first_level": 1}, "first_level"),
        ({"last_level": 8}, "last_level"),
        ({"anchor_sizes": ((8,),)}, "anchor_sizes"),
        ({"anchor_sizes": ((8,), (8,), (8,), (8,), (8, 9))}, "anchor_sizes"),
        ({"prior": 0}, "prior"),
        ({"min_size": 0}, "min_size"),
        ({"min_size": 100, "max_size": 99}, "min_size"),
        ({"extra_from": "P4"}, "extra_from"),
        ({"channels": 0}, "channels"),
    ],
)
def test_settings_check_themselves(settings, word):
    with pytest.raises(ValueRangeError, match=word):
        dataclasses.replace(SMALL, **settings)


def test_settings_survive_json():
    assert RetinaNetSettings(**json.loads(json.dumps(dataclasses.asdict(SMALL)))) == SMALL


@pytest.mark.parametrize("n_fg_class", [None, 0, -1, True, 1.5, "two"])
def test_the_number_of_classes_must_be_known(n_fg_class):
    with pytest.raises(ValueRangeError, match="n_fg_class"):
        small(n_fg_class)


def test_names_must_be_one_a_class():
    assert small(None, label_names=("a", "b", "c")).n_fg_class == 3
    with pytest.raises(ValueRangeError, match="label_names"):
        small(2, label_names=("a", "b", "c"))


# --- photos -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((480, 640), (800, 1066)),
        ((640, 480), (1066, 800)),
        ((97, 97), (799, 799)),  # 97 * (800 / 97) is a little less than 800
        ((801, 1334), (800, 1332)),
        ((600, 1200), (666, 1333)),
        ((100, 1000), (133, 1333)),
        ((2, 3), (800, 1200)),
        ((1, 4000), (1, 1333)),
    ],
)
def test_photos_are_fitted_as_torchvision_does(size, expected):
    assert fitted_size(size, 800, 1333) == expected


@hypothesis.given(st.tuples(st.integers(1, 5000), st.integers(1, 5000)))
def test_a_fitted_photo_keeps_its_bounds(size):
    (height, width), padded, _ = torchvision_detector_preparation(800, 1333, antialias=False).placement(size)
    assert 1 <= min(height, width) <= 800
    assert max(height, width) <= 1333
    assert all(p % 32 == 0 and 0 <= p - s < 32 for p, s in zip(padded, (height, width)))


@pytest.mark.parametrize("antialias", [False, True])
def test_a_photo_that_fits_is_normalized_and_padded_with_zeros(antialias):
    img = np.random.default_rng(0).integers(0, 256, (3, 60, 90)).astype(np.float32)
    x = torchvision_detector_preparation(60, 90, antialias=antialias)(img)
    assert x.shape == (3, 64, 96)
    np.testing.assert_allclose(x[:, :60, :90], (img - MEAN[:, None, None]) / STD[:, None, None], atol=1e-6)
    assert not x[:, 60:].any()
    assert not x[:, :, 90:].any()


def test_photos_are_resized_as_torchvision_does(shared):
    golden = json.loads((shared / "reference" / "torchvision_golden.json").read_text())["resize_values"]
    name, height, width = golden["input"]
    import zlib

    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    img = 255 * rng.random((3, height, width), dtype=np.float32)
    size = fitted_size((height, width), golden["min_size"], 1333)
    assert list(size) == golden["size"]
    x = torchvision_detector_preparation(golden["min_size"], 1333, antialias=False)(img)
    assert list(x.shape[1:]) == golden["padded"]
    rows = [row for row in x.reshape(-1, 32) if np.allclose(row[:12], golden["rowR"], atol=1e-5)]
    assert len(rows) == 1


# --- decoding -----------------------------------------------------------------------------------------------------
ANCHORS = np.array([[0, 0, 10, 10], [20, 20, 40, 40], [0, 50, 30, 90], [90, 90, 120, 120]], np.float32)


@dataclasses.dataclass(frozen=True)
class TwoLevels:
    """Three anchors of a level and one of the next."""

    def boxes(self, size):
        return ANCHORS

    def counts(self, size):
        return (3, 1)


def decoded(loc, conf, score_thresh=0.3, n_candidate=10):
    decoding = AnchorLevels(anchors=TwoLevels(), n_class=2, scores="sigmoid", n_candidate=n_candidate, clip=True)
    seen = Placement((100, 100), (128, 128))
    return decoding.decode((np.float32(loc), np.float32(conf)), (50, 200), seen, score_thresh)


def test_decode_gives_boxes_in_the_photos_pixels():
    want = np.array([[1, 2, 9, 12], [25, 20, 35, 44], [10, 60, 40, 90], [80, 80, 130, 110]], np.float32)
    conf = np.full((4, 2), -5.0)
    conf[0, 1], conf[2, 0], conf[3, 1] = 2, 1, 0
    bbox, label, score = decoded(encode_bbox(want, ANCHORS), conf)
    np.testing.assert_allclose(bbox, [[0.5, 4, 4.5, 24], [5, 120, 20, 180], [40, 160, 50, 200]], atol=1e-4)
    np.testing.assert_array_equal(label, [1, 0, 1])
    np.testing.assert_allclose(score, 1 / (1 + np.exp([-2.0, -1, 0])), rtol=1e-6)
    assert (bbox.dtype, label.dtype, score.dtype) == (np.float32, np.int32, np.float32)


def test_an_anchor_may_show_several_classes():
    _, label, _ = decoded(np.zeros((4, 4)), [[1, 2], [-9, -9], [-9, -9], [-9, -9]])
    assert sorted(label) == [0, 1]


def test_each_level_gives_its_best_candidates():
    _, _, score = decoded(np.zeros((4, 4)), [[1, 2], [3, -9], [0, 0], [0.5, -9]], n_candidate=2)
    np.testing.assert_allclose(np.sort(score)[::-1], 1 / (1 + np.exp([-3, -2, -0.5])), rtol=1e-6)


def test_what_lies_wholly_in_the_padding_is_a_candidate_without_an_area():
    loc = np.zeros((4, 4), np.float32)
    loc[3] = 1, 0, 0, 0  # below the photo, which ends at 100
    bbox, _, _ = decoded(loc, [[-9, -9], [-9, -9], [-9, -9], [5, -9]])
    np.testing.assert_allclose(bbox, [[50, 180, 50, 200]])


@pytest.mark.parametrize("thresh", [0.0, 0.05, 0.5, 0.999, 1.0])
def test_only_scores_above_the_threshold_are_given(thresh):
    logit = np.linspace(-12, 12, 8).reshape(4, 2)
    logit[1, 0] = np.log(thresh / (1 - thresh)) if 0 < thresh < 1 else 0
    _, _, score = decoded(np.zeros((4, 4)), logit, score_thresh=thresh)
    everything = 1 / (1 + np.exp(-logit.astype(np.float32).astype(np.float64)))
    expected = np.sort(everything.astype(np.float32)[everything.astype(np.float32) > thresh])
    np.testing.assert_array_equal(np.sort(score), expected)


def test_a_trained_box_is_found_where_it_is():
    model = small(1)
    img = np.zeros((3, 128, 192), np.float32)
    anchor = model.anchors((64, 96))
    want = np.array([[20, 30, 44, 60]], np.float32)  # in the photo's pixels
    loc = encode_bbox(np.repeat(want / 2, len(anchor), axis=0), anchor)
    conf = np.full((len(anchor), 1), -9, np.float32)
    conf[[5, 90], 0] = 4, 5
    model.forward = lambda x: (F.stack([loc]), F.stack([conf]))
    (bbox,), (label,), _ = model.predict([img])
    np.testing.assert_allclose(bbox, want, atol=1e-3)  # two anchors, one box
    np.testing.assert_array_equal(label, [0])


# --- fine-tuning --------------------------------------------------------------------------------------------------
def test_a_file_of_the_same_classes_comes_back_whole(tmp_path):
    first = small(None, label_names=("a", "b"))
    first.presets, first.limit = {"visualize": Preset(0.4, 0.3), "evaluate": Preset(0.4, 0.01)}, 9
    save_model(tmp_path / "m.safetensors", first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = RetinaNet(pretrained_model=tmp_path / "m.safetensors")
    assert (again.presets, again.limit, again.score_thresh) == (first.presets, 9, 0.3)
    assert (again.n_fg_class, again.label_names, again.settings) == (2, ("a", "b"), first.settings)
    assert again.load_report.is_clean
    for name, array in first.state_arrays().items():
        np.testing.assert_array_equal(array, again.state_arrays()[name])


def test_fine_tuning_to_other_classes_says_what_starts_anew(tmp_path):
    first = small(None, label_names=("a", "b"))
    save_model(tmp_path / "m.safetensors", first)
    with pytest.warns(UserWarning, match="conf_head/out/W, conf_head/out/b"):
        model = RetinaNet(3, tmp_path / "m.safetensors")
    assert model.label_names is None
    assert model.settings == first.settings
    assert set(model.load_report.mismatching) == {"conf_head/out/W", "conf_head/out/b"}
    np.testing.assert_array_equal(model.loc_head.out.W.array, first.loc_head.out.W.array)
    assert F.sigmoid(model.conf_head.out.b).array.mean() == pytest.approx(0.01)


def test_fine_tuning_to_other_anchors(tmp_path):
    save_npz(tmp_path / "m.npz", small())
    with pytest.warns(UserWarning, match="initialized anew") as caught:
        model = small(2, tmp_path / "m.npz", anchor_ratios=(1,))
    assert len(model.load_report.mismatching) == 4
    assert all(name in str(caught[0].message) for name in model.load_report.mismatching)


@pytest.mark.parametrize("n_layer", [10, 18, 50])
def test_a_classifier_initialises_the_backbone_alone(n_layer, tmp_path):
    backbone = ResNet(n_layer, 7, base_channels=8)
    backbone(np.random.default_rng(0).standard_normal((2, 3, 64, 64), "float32"))
    save_npz(tmp_path / "m.npz", backbone)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # heads are always initialized anew
        model = RetinaNet(3, tmp_path / "m.npz")
    assert (model.settings.n_layer, model.settings.base_channels, model.settings.norm) == (n_layer, 8, "frozen")
    assert model.load_report.unexpected == ()  # the classifier's last layer has no use here
    assert all(name.startswith(("fpn/", "loc_head/", "conf_head/")) for name in model.load_report.missing)
    np.testing.assert_array_equal(
        model.extractor.res5[0].conv1.bn.avg_mean, backbone.extractor.res5[0].conv1.bn.avg_mean
    )


DAMAGES = {
    "one is lacking": ("extractor/res3/0/conv1/conv/W", lambda array: None),
    "one is left over": ("odd/W", lambda array: np.zeros(3, np.float32)),
    "one has another shape": ("extractor/res3/0/conv1/conv/W", lambda array: array[:1]),
    "a head's is lacking": ("conf_head/convs/0/b", lambda array: None),
}


@pytest.mark.parametrize(("name", "change"), DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("asked", [{}, {"n_fg_class": 3}, {"min_size": 48}, {"anchor_ratios": (1,)}, {"head_depth": 2}])
@pytest.mark.parametrize("told", [True, False])
def test_a_damaged_file_is_refused_by_name_whatever_is_asked_for(name, change, asked, told, tmp_path):
    first = small(2)
    arrays = first.state_arrays()
    arrays |= {name: change(arrays.get(name))}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    save_model(tmp_path / "m.safetensors", first)
    header = read_safetensors_metadata(tmp_path / "m.safetensors") if told else None
    write_safetensors(tmp_path / "m.safetensors", arrays, metadata=header)
    with pytest.raises(WeightsMismatchError, match=name):
        small(**{"n_fg_class": 2, **asked}, pretrained_model=tmp_path / "m.safetensors")


def test_how_a_photo_is_seen_changes_nothing_of_what_is_taken(tmp_path):
    save_model(tmp_path / "m.safetensors", small(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small(2, tmp_path / "m.safetensors", min_size=48, antialias=False, prior=0.1)
    assert model.load_report.is_clean
    assert model.settings.min_size == 48


def test_another_structure_that_was_asked_for_starts_anew_where_it_differs(tmp_path):
    first = small(2)
    save_model(tmp_path / "m.safetensors", first)
    with pytest.warns(UserWarning, match=r"4 initialized anew: conf_head/convs/1/W"):
        model = small(2, tmp_path / "m.safetensors", head_depth=2)
    np.testing.assert_array_equal(model.conf_head.convs[0].W.array, first.conf_head.convs[0].W.array)
    with pytest.warns(UserWarning, match=r"4 dropped: conf_head/convs/0/W"):
        small(2, tmp_path / "m.safetensors", head_depth=0)


@pytest.mark.parametrize(("name", "change"), list(DAMAGES.values())[:3], ids=list(DAMAGES)[:3])
def test_a_damaged_backbone_is_refused_by_name(name, change, tmp_path):
    arrays = ResNet(10, 7, base_channels=8).state_arrays()
    arrays |= {name: change(arrays.get(name))}
    write_safetensors(tmp_path / "m.safetensors", {k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(WeightsMismatchError, match=name):
        RetinaNet(3, tmp_path / "m.safetensors")


def test_known_ones_on_a_backbone_have_its_depth_and_an_eps(tmp_path):
    save_npz(tmp_path / "m.npz", ResNet(10, 7, base_channels=8))
    for make, norm, groups in ((retinanet_resnet50_fpn, "frozen", None), (retinanet_resnet50_fpn_v2, "batch", 32)):
        s = make(2, tmp_path / "m.npz").settings
        assert (s.n_layer, s.base_channels, s.norm, s.bn_eps, s.head_groups) == (10, 8, norm, 1e-5, groups)


def test_a_file_in_which_nothing_fits_is_refused(tmp_path):
    np.savez(tmp_path / "m.npz", a=np.zeros(3, np.float32))
    with pytest.raises(WeightsMismatchError, match="contains neither a RetinaNet"):
        small(2, tmp_path / "m.npz")


def test_an_unknown_name_is_told_with_the_known_ones():
    with pytest.raises(ValueRangeError, match="coco_v2"):
        RetinaNet(2, "nonsense")
    with pytest.raises(ValueRangeError, match="imagenet"):
        small(2, "imagenet")  # there is no published ResNet-10


def test_wrong_inputs_are_told():
    with pytest.raises(ShapeError):
        small()(np.zeros((3, 64, 64), np.float32))
    with pytest.raises(CvzooError):
        small()(np.zeros((1, 1, 64, 64), np.float32))
