"""Light-Head R-CNN: names of ChainerCV's files, its head step by step, hard examples, training."""

import numpy as np
import pytest
from few_steps import losses_of_steps
from zoo_family import family_of

from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import (
    LightHeadRCNNResNet101,
    LightHeadRCNNResNet101Head,
)
from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain, ohem_losses
from cvzoo.links.model.light_head_rcnn.weights import resnet101_files
from cvzoo.optimizers.adam import Adam
from cvzoo.weights.formats.npz import write_npz

NARROW = {"n_layer": 50, "base_channels": 4, "rpn_channels": 8, "mid_channels": 4, "fc_channels": 16}
COUNTS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}


def tiny(n_fg_class=3, **settings):
    set_seed(2)
    creator = ProposalCreator(min_size=0, n_train_post_nms=60, n_test_post_nms=40)
    small = {"min_size": 64, "max_size": 120, "anchor_scales": (1, 2, 4), "proposal_creator": creator}
    return LightHeadRCNNResNet101(n_fg_class, **(NARROW | {"n_layer": 10} | small | settings))


def own_name(name):
    (ours,) = resnet101_files("", "head/score/b", default_names=()).names["chainercv"]({name: None})
    return ours


def photo(height=60, width=90, seed=0):
    return np.random.default_rng(seed).integers(0, 255, (3, height, width)).astype(np.float32)


def resnet_file(n_layer, width, prefix=""):
    """name -> shape, as ChainerCV's serializer names the arrays of a ResNet's convolutions."""
    shapes = {}

    def conv_bn(name, n_out, n_in, k):
        shapes[f"{prefix}{name}/conv/W"] = (n_out, n_in, k, k)
        shapes.update({f"{prefix}{name}/bn/{leaf}": (n_out,) for leaf in ("gamma", "beta", "avg_mean", "avg_var")})
        shapes[f"{prefix}{name}/bn/N"] = ()

    conv_bn("conv1", width, 3, 7)
    n_in = width
    for stage, count in enumerate(COUNTS[n_layer]):
        mid = width * 2**stage
        for i in range(count):
            block = f"res{stage + 2}/{f'b{i}' if i else 'a'}"
            conv_bn(f"{block}/conv1", mid, n_in, 1)
            conv_bn(f"{block}/conv2", mid, mid, 3)
            conv_bn(f"{block}/conv3", 4 * mid, mid, 1)
            if not i:
                conv_bn(f"{block}/residual_conv", 4 * mid, n_in, 1)
            n_in = 4 * mid
    return shapes


def chainercv_file(n_class=81, n_layer=101, width=64, rpn=512, mid=256, fc=2048, n_anchor=15):
    shapes = resnet_file(n_layer, width, "extractor/")
    for name, n_out, n_in, k in (
        ("conv1", rpn, 16 * width, 3),
        ("score", 2 * n_anchor, rpn, 1),
        ("loc", 4 * n_anchor, rpn, 1),
    ):
        shapes |= {f"rpn/{name}/W": (n_out, n_in, k, k), f"rpn/{name}/b": (n_out,)}
    module = "head/global_context_module"
    for name, n_out, n_in, size in (
        ("col_max", mid, 32 * width, (15, 1)),
        ("col", 490, mid, (1, 15)),
        ("row_max", mid, 32 * width, (1, 15)),
        ("row", 490, mid, (15, 1)),
    ):
        shapes |= {f"{module}/{name}/W": (n_out, n_in, *size), f"{module}/{name}/b": (n_out,)}
    for name, n_out, n_in in (("fc1", fc, 490), ("score", n_class, fc), ("cls_loc", 4 * n_class, fc)):
        shapes |= {f"head/{name}/W": (n_out, n_in), f"head/{name}/b": (n_out,)}
    return shapes


def test_its_arrays_are_those_of_chainercv():
    narrow = LightHeadRCNNResNet101(**NARROW | {"n_layer": 101})
    wanted = {own_name(name): shape for name, shape in chainercv_file(81, 101, 4, 8, 4, 16).items()}
    assert {name: np.shape(array) for name, array in narrow.state_arrays().items()} == wanted
    assert narrow.label_names == coco_bbox_label_names
    assert own_name("extractor/res4/b22/residual_conv/bn/N") == "extractor/res4/22/shortcut/bn/N"
    assert own_name("head/score/W") == "head/score/W"


def test_a_file_of_chainercv_loads_whole_and_nothing_else_does(tmp_path):
    rng = np.random.default_rng(0)
    shapes = chainercv_file(81, 50, 4, 8, 4, 16)
    arrays = {name: rng.normal(size=shape).astype("f") for name, shape in shapes.items()}
    arrays |= {name: np.array(3, "i") for name, shape in shapes.items() if shape == ()}
    path = tmp_path / "coco.npz"
    write_npz(path, arrays)
    model = LightHeadRCNNResNet101(pretrained_model=path, **NARROW)
    mine = model.state_arrays()
    for name, array in arrays.items():
        np.testing.assert_array_equal(mine[own_name(name)], array)
    with pytest.warns(UserWarning, match="initialized anew"):
        other = LightHeadRCNNResNet101(2, path, **NARROW)
    assert {name.split("/")[1] for name in other.load_report.mismatching} == {"score", "cls_loc"}
    del arrays["head/global_context_module/col/b"]
    write_npz(path, arrays)
    with pytest.raises(WeightsMismatchError, match="col/b"):
        LightHeadRCNNResNet101(pretrained_model=path, **NARROW)
    write_npz(path, {"a/W": np.zeros(2, "f")})
    with pytest.raises(WeightsMismatchError, match="contains neither"):
        LightHeadRCNNResNet101(pretrained_model=path, **NARROW)


def test_a_resnet_gives_the_backbone_and_a_bias_before_a_normalization_changes_its_mean(tmp_path):
    rng = np.random.default_rng(0)
    shapes = resnet_file(50, 4)
    arrays = {name: rng.random(size=shape).astype("f") + 0.5 for name, shape in shapes.items()}
    arrays |= {
        "conv1/conv/b": np.arange(4, dtype="f"),
        "fc6/W": np.zeros((1000, 128), "f"),
        "fc6/b": np.zeros(1000, "f"),
    }
    path = tmp_path / "resnet.npz"
    write_npz(path, arrays)
    model = LightHeadRCNNResNet101(3, path, **NARROW)
    x = photo(32, 32)[None]
    conv1 = model.extractor.conv1
    with using_config("train", False), no_backprop_mode():
        got = conv1(x).array
        h = conv1.conv(x).array + arrays["conv1/conv/b"][:, None, None]
    bn = {leaf: arrays[f"conv1/bn/{leaf}"][:, None, None] for leaf in ("gamma", "beta", "avg_mean", "avg_var")}
    wanted = (h - bn["avg_mean"]) / np.sqrt(bn["avg_var"] + 1e-5) * bn["gamma"] + bn["beta"]
    np.testing.assert_allclose(got, np.maximum(wanted, 0), rtol=1e-3, atol=1e-2)


def test_both_maps_have_stride_16():
    model = tiny()
    x = np.zeros((1, 3, 64, 96), "f")
    with using_config("train", False), no_backprop_mode():
        for_rpn, for_head = model.features(x)
    assert for_rpn.shape == (1, 16, 4, 6)
    assert for_head.shape == (1, 32, 4, 6)


def test_the_head_cuts_each_cell_from_channels_of_its_own():
    set_seed(0)
    head = LightHeadRCNNResNet101Head(4, 2, 1 / 4, in_channels=3, mid_channels=2, fc_channels=5)
    x = np.random.default_rng(0).normal(size=(1, 3, 8, 8)).astype("f")
    for link in (head.global_context_module.col, head.global_context_module.row):
        link.W.array = link.W.array * 50
    roi = np.array([[4, 4, 20, 28]], "f")
    thin = head.global_context_module(x).array[0].reshape(10, 2, 2, 8, 8)
    cells = np.zeros((10, 2, 2))
    for y, x_ in np.ndindex(2, 2):
        samples = []
        for sy, sx in np.ndindex(2, 2):
            at = 1 + (y + (sy + 0.5) / 2) * 2, 1 + (x_ + (sx + 0.5) / 2) * 3
            (top, left), (fy, fx) = map(int, at), (v - int(v) for v in at)
            plane = thin[:, y, x_]
            samples.append(
                (plane[:, top, left] * (1 - fx) + plane[:, top, left + 1] * fx) * (1 - fy)
                + (plane[:, top + 1, left] * (1 - fx) + plane[:, top + 1, left + 1] * fx) * fy
            )
        cells[:, y, x_] = np.max(samples, axis=0)
    assert cells.any()
    fc = np.maximum(head.fc1.W.array @ cells.ravel() + head.fc1.b.array, 0)
    locs, scores = head(x, roi, np.zeros(1, "i"))
    np.testing.assert_allclose(scores.array[0], head.score.W.array @ fc + head.score.b.array, atol=1e-5)
    np.testing.assert_allclose(locs.array[0], head.cls_loc.W.array @ fc + head.cls_loc.b.array, atol=1e-5)


def test_hard_examples_are_the_regions_of_greatest_loss():
    rng = np.random.default_rng(1)
    locs, scores = rng.normal(size=(9, 16)).astype("f"), rng.normal(size=(9, 4)).astype("f") * 3
    gt_loc, gt_label = rng.normal(size=(9, 4)).astype("f"), np.array([0, 1, 2, 3, 0, 0, 2, 1, 0], "i")
    loc = np.zeros(9)
    for r in range(9):
        if gt_label[r]:
            d = np.abs(locs[r].reshape(4, 4)[gt_label[r]] - gt_loc[r])
            loc[r] = np.where(d < 1 / 4, 2 * d**2, d - 1 / 8).sum()
    cls = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(9), gt_label]
    hard = np.argsort(-(loc + cls))[:4]
    got = ohem_losses(Variable(locs), Variable(scores), gt_loc, gt_label, 4, sigma=2)
    np.testing.assert_allclose([v.array for v in got], [loc[hard].mean(), cls[hard].mean()], rtol=1e-5)
    got = ohem_losses(Variable(locs), Variable(scores), gt_loc, gt_label, 400, sigma=2)
    np.testing.assert_allclose([v.array for v in got], [loc.mean(), cls.mean()], rtol=1e-5)


def test_training_two_photos_lowers_the_loss_and_reaches_every_parameter():
    model = tiny()
    chain = LightHeadRCNNTrainChain(model, n_ohem_sample=24)
    x = np.stack([model.prepare(photo(seed=seed)) for seed in (0, 1)])
    bboxes = [np.array([[5, 5, 50, 40], [20, 50, 55, 85]], "f"), np.zeros((0, 4), "f")]
    labels = [np.array([0, 2], "i"), np.zeros(0, "i")]
    losses = losses_of_steps(lambda: chain(x, bboxes, labels, [1.07, 1.07]), Adam(2e-3).setup(chain), 12)
    assert losses[-1] < 0.7 * losses[0]
    with pytest.raises(ShapeError, match="one element per image"):
        chain(x, bboxes[:1], labels)
    with pytest.raises(ValueRangeError, match="n_ohem_sample"):
        LightHeadRCNNTrainChain(model, n_ohem_sample=0)


def test_it_is_described_by_its_settings_and_predicts():
    (architecture,) = family_of(LightHeadRCNNResNet101).architectures
    model = tiny(2, label_names=("a", "b"))
    model.score_thresh = 0.1
    again = architecture.build(architecture.settings(model), model.label_names)
    again.load_arrays(model.state_arrays())
    again.score_thresh = 0.1
    for one, other in zip(model.predict([photo()]), again.predict([photo()])):
        assert len(one[0])
        np.testing.assert_array_equal(one[0], other[0])
    assert [member.name for member in family_of(LightHeadRCNNResNet101).members] == ["light_head_rcnn_resnet101_coco"]
