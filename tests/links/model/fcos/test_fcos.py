"""FCOS is torchvision's, and learns."""

import dataclasses

import numpy as np
import pytest
from by_our_names import by_our_names
from zoo_family import family_of

import cvzoo.functions as F
from cvzoo import optimizers
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.links.model.decoding.point_levels import PointLevels
from cvzoo.links.model.fcos.fcos import FCOS, STRIDES, FCOSSettings
from cvzoo.links.model.fcos.loss import FCOSLoss, assign_targets, centredness, match_places
from cvzoo.links.model.fcos.weights import NAMES
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.links.model.pretrained.names import COCO_ROWS
from cvzoo.reporting.reporter import Reporter

NAME = "fcos_resnet50_fpn"
GOLDEN = "fcos_resnet50_fpn(COCO_V1 config: FrozenBN eps=1e-5)"
TINY = FCOSSettings(
    n_layer=10, base_channels=8, norm="batch", channels=16, head_depth=1, head_groups=4, min_size=64, max_size=128
)


def numbers(array):
    array = np.asarray(array)
    return [array.mean(dtype=np.float64), array.std(dtype=np.float64, ddof=1), array.min(), array.max()]


def test_it_has_torchvisions_names_and_shapes(shared, seeds):
    arrays = seeds.empty_network(shared, NAME)
    for n in (None, 91):
        model = FCOS(n or 80)
        named = NAMES["torchvision"](arrays, n)
        assert {k: v.shape for k, v in named.items()} == {k: np.shape(v) for k, v in model.state_arrays().items()}


@pytest.mark.slow
def test_it_equals_the_golden_numbers(shared, seeds):
    golden = seeds.golden(shared, "detection", GOLDEN)
    arrays = by_our_names(seeds.seeded_network(shared, NAME), NAMES, 91)
    model = FCOS(91)
    assert model.load_arrays(arrays).is_clean
    model.use_preset("evaluate")
    img = 255 * seeds.seeded_photo(*golden["input"])
    x = model.prepare(img)[None]
    with using_config("train", False), no_backprop_mode():
        maps = model.fpn(model.extractor(x)[1:])
        loc, conf, center = model.head(maps)
    pairs = [(h.array, golden["feats"][k]) for h, k in zip(maps, ("0", "1", "2", "p6", "p7"))]
    pairs += [(x, golden["batch"]), (loc.array[..., [1, 0, 3, 2]], golden["head"]["bbox_regression"])]
    pairs += [(conf.array, golden["head"]["cls_logits"]), (center.array, golden["head"]["bbox_ctrness"])]
    for array, want in pairs:
        assert list(array.shape) == want["shape"]
        want = [want[k] for k in ("mean", "std", "min", "max")]
        np.testing.assert_allclose(numbers(array), want, rtol=1e-4, atol=2e-4)
    (bbox,), (label,), (score,) = model.predict([img])
    assert len(bbox) == golden["n_det"]
    np.testing.assert_array_equal(label[:5], golden["top5_labels"])
    np.testing.assert_allclose(bbox[:5][:, [1, 0, 3, 2]], golden["top5_boxes"], atol=0.01)
    np.testing.assert_allclose(score[:5], golden["top5_scores"], atol=1e-4)


@pytest.mark.slow
def test_the_loss_is_torchvisions(shared, seeds):
    """Of torchvision 0.29.2, with the seeded weights; statistics of the backbone stay."""
    bbox = np.array([[30, 20, 90, 120], [100, 150, 260, 290], [170, 60, 280, 110]], np.float32)
    model = FCOS(91, settings=FCOSSettings(min_size=320, max_size=320))
    model.load_arrays(by_our_names(seeds.seeded_network(shared, NAME), NAMES, 91))
    loss, reporter = FCOSLoss(model), Reporter()
    reporter.add_observer("main", loss)
    with no_backprop_mode(), reporter:
        loss(model.prepare(255 * seeds.seeded_photo("loss:fcos", 320, 320))[None], [bbox], [np.array([3, 17, 40])])
    found = [float(as_array(reporter.observation[f"main/loss/{part}"])) for part in ("conf", "loc", "center")]
    np.testing.assert_allclose(found, [839.339172, 0.999999, 1.046092], rtol=1e-5)


def pyramid_places(size):
    return PointLevels(strides=STRIDES, n_class=3, n_candidate=1).places(size)


@pytest.mark.parametrize("thresh", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("n_candidate", [5, 1000])
def test_decode_is_a_plain_loop(thresh, n_candidate):
    rng = np.random.default_rng(0)
    places = pyramid_places((64, 96))
    n = len(places.center)
    loc = rng.uniform(0, 3, (n, 4)).astype(np.float32)
    conf, center = rng.standard_normal((n, 3)).astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)
    decoding = PointLevels(strides=STRIDES, n_class=3, n_candidate=n_candidate)
    found = decoding.decode((loc, conf, center), (120, 90), Placement((60, 90), (64, 96)), thresh)
    score = np.sqrt(1 / (1 + np.exp(-conf.astype(np.float64))) / (1 + np.exp(-center.astype(np.float64))))
    want, start = [], 0
    for count in places.counts:
        pairs = [(score[a, k], a, k) for a in range(start, start + count) for k in range(3) if score[a, k] > thresh]
        for s, a, k in sorted(pairs, key=lambda pair: -pair[0])[:n_candidate]:
            (y, x), stride = places.center[a], places.stride[a]
            top, left, bottom, right = loc[a] * stride
            box = np.clip([y - top, x - left, y + bottom, x + right], 0, [60, 90, 60, 90])
            want.append((*box * [2, 1, 2, 1], k, s))
        start += count
    got = np.column_stack(found)
    want = np.array(want)
    assert len(got) == len(want)
    order = [np.lexsort((rows[:, 1], rows[:, 0], rows[:, 4], rows[:, 5].round(5))) for rows in (got, want)]
    np.testing.assert_allclose(got[order[0]], want[order[1]], rtol=1e-4, atol=1e-3)


def test_boxes_cut_to_nothing_count_against_the_limit_and_are_not_given():
    """As torchvision's postprocess_detections, which removes no box for its size."""
    model = FCOS(1, settings=TINY)
    model.limit, model.score_thresh = 2, 0.5
    photo = np.zeros((3, 64, 70), np.float32)
    places = pyramid_places((64, 96))
    loc, conf = np.ones((len(places.center), 4), np.float32), np.full((len(places.center), 1), -9, np.float32)
    in_padding = np.flatnonzero((places.stride == 8) & (places.center[:, 1] > 75))[0]
    loc[in_padding], conf[in_padding] = 0.1, 9
    conf[[0, 30], 0] = 8, 7
    model.forward = lambda x: tuple(map(Variable, (loc[None], conf[None], np.full_like(conf, 9)[None])))
    (bbox,), _, (score,) = model.predict([photo])
    assert len(bbox) == 1  # the second best of two: the best lies in the padding
    np.testing.assert_allclose(score, np.sqrt(1 / (1 + np.exp(-8)) / (1 + np.exp(-9))), rtol=1e-6)


@pytest.mark.parametrize(("n", "rows"), [(91, range(91)), (90, range(1, 91)), (None, COCO_ROWS), (80, COCO_ROWS)])
def test_a_file_of_ninety_one_rows_gives_as_many_classes_as_are_asked_for(n, rows):
    arrays = {f"head.regression_head.bbox_reg.{leaf}": np.zeros((4, 1)) for leaf in ("weight", "bias")}
    arrays |= {f"head.classification_head.cls_logits.{leaf}": np.arange(91.0)[:, None] for leaf in ("weight", "bias")}
    named = NAMES["torchvision"](arrays, n)
    for leaf in ("W", "b"):
        np.testing.assert_array_equal(named[f"head/conf/{leaf}"][:, 0], list(rows))


def test_places_of_awkward_sizes_are_whole_steps_apart():
    places = pyramid_places((800, 1088))
    assert places.counts == (13600, 3400, 850, 221, 63)
    assert sum(places.counts) == len(places.center) == len(places.stride) == 18134
    p6 = places.center[17850:18071].reshape(13, 17, 2)
    assert (p6[1, 0, 0], p6[0, 1, 1]) == (61, 64)


def test_places_belong_to_the_smallest_object_they_lie_in():
    places = pyramid_places((128, 128))
    bbox = np.array([[0, 0, 120, 120], [20, 20, 50, 50], [0, 0, 0, 0]], np.float32)
    match = match_places(places, bbox)
    for a in np.flatnonzero(match >= 0):
        (y, x), stride = places.center[a], places.stride[a]
        own = []
        for i, (low_y, low_x, high_y, high_x) in enumerate(bbox):
            sides = (y - low_y, x - low_x, high_y - y, high_x - x)
            off = max(abs(y - (low_y + high_y) / 2), abs(x - (low_x + high_x) / 2))
            near, far = (0 if stride == 8 else 4 * stride), (np.inf if stride == 128 else 8 * stride)
            if min(sides) > 0 and off < 1.5 * stride and near < max(sides) < far:
                own.append(((high_y - low_y) * (high_x - low_x), i))
        assert min(own)[1] == match[a]
    assert set(match.tolist()) == {-1, 0, 1}
    assert set(places.stride[match == 1].tolist()) == {8}
    assert (match_places(places, bbox[:0]) == -1).all()


def test_targets_of_a_batch():
    places = pyramid_places((64, 64))
    bbox = np.array([[0, 0, 40, 60], [10, 10, 30, 30]], np.float32)
    label = np.array([4, 2], np.int32)
    flags = [np.array([True, False]), np.array([False, False])]
    targets = assign_targets(places, [bbox, bbox[:1]], [label, label[:1]], [flags[0], flags[1][:1]])
    assert targets.label.shape == (2, len(places.center))
    assert set(targets.label[0].tolist()) == {-2, -1, 2}
    assert set(targets.label[1].tolist()) == {-1, 4}
    np.testing.assert_array_equal(targets.positive, np.flatnonzero(targets.label.reshape(-1) >= 0))
    assert len(targets.bbox) == len(targets.positive)
    with pytest.raises(ShapeError, match="one element per image"):
        assign_targets(places, [bbox], [label, label])
    with pytest.raises(ShapeError, match="differ in number"):
        assign_targets(places, [bbox], [label[:1]])


def test_centredness_is_one_in_the_middle():
    bbox = np.array([[0, 0, 10, 20]] * 3, np.float32)
    place = np.array([[5, 10], [0, 10], [2, 5]], np.float32)
    np.testing.assert_allclose(centredness(bbox, place), [1, 0, np.sqrt(2 / 8 * 5 / 15)], rtol=1e-6)


def test_other_classes_start_anew_and_a_backbone_starts_a_training(tmp_path):
    set_seed(0)
    made = FCOS(3, settings=TINY)
    arrays = made.state_arrays()
    np.savez(tmp_path / "own.npz", **arrays)
    with pytest.warns(UserWarning, match="2 initialized anew: head/conf/W"):
        model = FCOS(2, tmp_path / "own.npz", settings=TINY)
    np.testing.assert_array_equal(model.head.loc.W.array, made.head.loc.W.array)
    np.savez(tmp_path / "base.npz", **{name: array for name, array in arrays.items() if name.startswith("extractor/")})
    model = FCOS(5, tmp_path / "base.npz", settings=dataclasses.replace(TINY, norm="frozen"))
    np.testing.assert_array_equal(model.extractor.conv1.conv.W.array, made.extractor.conv1.conv.W.array)
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(WeightsMismatchError):
        FCOS(2, tmp_path / "other.npz", settings=TINY)
    with pytest.raises(ValueRangeError, match="imagenet"):
        FCOS(2, "voc")


def test_a_tiny_one_can_be_described_and_built_again():
    model = FCOS(2, label_names=("ape", "bee"), settings=TINY)
    (kind,) = family_of(FCOS).architectures
    twin = kind.build(kind.settings(model), model.label_names)
    twin.load_arrays(model.state_arrays())
    assert (twin.settings, twin.label_names) == (model.settings, model.label_names)
    assert model.preparation.to_header()["short_side"] == 64
    assert [member.name for member in family_of(FCOS).members] == ["fcos_resnet50_fpn_coco"]


@pytest.mark.parametrize(
    ("name", "value"), [("channels", 18), ("head_depth", -1), ("prior", 0), ("radius", 0), ("min_size", 500)]
)
def test_wrong_settings_are_refused(name, value):
    with pytest.raises(ValueRangeError, match=name):
        dataclasses.replace(TINY, **{name: value})


def test_steps_of_training_lower_the_loss_and_reach_every_parameter():
    set_seed(0)
    model = FCOS(2, settings=TINY)
    loss = FCOSLoss(model)
    x = np.random.default_rng(1).standard_normal((2, 3, 64, 64)).astype(np.float32)
    bboxes = [np.array([[10, 12, 40, 50], [5, 30, 20, 60]], np.float32), np.empty((0, 4), np.float32)]
    labels = [np.array([0, 1], np.int32), np.empty(0, np.int32)]
    optimizer = optimizers.MomentumSGD(1e-2, 0.9).setup(loss)
    values = []
    for _ in range(10):
        optimizer.update(loss, x, bboxes, labels)
        values.append(float(loss(x, bboxes, labels).array))
    assert values[-1] < values[0]
    with pytest.raises(ShapeError, match="one per image"):
        loss(x, bboxes[:1], labels)
    model.cleargrads()
    F.sum(sum(F.sum(F.square(head)) for head in model.forward(x))).backward()
    dead = [name for name, parameter in model.namedparams() if parameter.grad is None or not parameter.grad.any()]
    assert not dead
