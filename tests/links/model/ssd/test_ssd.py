"""SSD is torchvision's and ChainerCV's, by their own files, and learns."""

import dataclasses
import functools

import numpy as np
import pytest
from by_our_names import by_our_names
from zoo_family import family_of

import cvzoo.functions as F
from cvzoo import optimizers
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.ssd.config import SSD300_TORCHVISION, SSDSettings
from cvzoo.links.model.ssd.loss import SSDLoss, multibox_loss
from cvzoo.links.model.ssd.ssd import SSD, SSD300, SSD512
from cvzoo.links.model.ssd.weights import NAMES, SSD300_WEIGHTS
from cvzoo.weights.cache import cached_path

TINY = SSDSettings(
    insize=64,
    base_channels=4,
    extras=("halve", "halve"),
    sizes=(8, 16, 28, 40, 56),
    aspect_ratios=((2,), (2, 3), (2,), (2,)),
    steps=None,
)


def write(path, model):
    np.savez(path, **model.state_arrays())
    return path


def numbers(array):
    array = np.asarray(array)
    return [array.mean(dtype=np.float64), array.std(dtype=np.float64, ddof=1), array.min(), array.max()]


@pytest.mark.slow
def test_ssd300_equals_the_golden_numbers(shared, seeds):
    golden = seeds.golden(shared, "detection", "ssd300_vgg16")
    arrays = seeds.seeded_network(shared, "ssd300_vgg16")
    model = SSD(90, settings=SSD300_TORCHVISION)
    assert model.load_arrays(by_our_names(arrays, NAMES, 90)).is_clean
    model.use_preset("evaluate")
    img = 255 * seeds.seeded_photo(*golden["input"])
    x = model.prepare(img)[None]
    with using_config("train", False), no_backprop_mode():
        maps = model.extractor(x)
        loc, conf = model.multibox(maps)
    loc = loc.array[..., [1, 0, 3, 2]]
    pairs = [(h.array, golden["feats"][str(i)]) for i, h in enumerate(maps)]
    pairs += [(x, golden["batch"]), (loc, golden["head"]["bbox_regression"])]
    pairs += [(conf.array, golden["head"]["cls_logits"])]
    for array, want in pairs:
        assert list(array.shape) == want["shape"]
        got, want = numbers(array), [want[k] for k in ("mean", "std", "min", "max")]
        np.testing.assert_allclose(got[2:], want[2:], rtol=1e-4, atol=1e-4)
        if array.size > 1000:  # of a single place the publisher's deviation is a sample's
            np.testing.assert_allclose(got[:2], want[:2], rtol=1e-3, atol=1e-4)
    (bbox,), (label,), (score,) = model.predict([img])
    assert len(bbox) == golden["n_det"] - 1  # torchvision gives one that the photo's edge has cut to nothing, too
    np.testing.assert_array_equal(label[:5] + 1, golden["top5_labels"])
    np.testing.assert_allclose(bbox[:5][:, [1, 0, 3, 2]], golden["top5_boxes"], atol=0.01)
    np.testing.assert_allclose(score[:5], golden["top5_scores"], atol=1e-4)


@pytest.mark.slow
def test_the_loss_is_torchvisions(shared, seeds):
    """Of torchvision 0.29.2, with the seeded weights, in training."""
    bbox = np.array([[30, 20, 90, 120], [100, 150, 260, 290], [170, 60, 280, 110]], np.float32)
    model = SSD(90, settings=SSD300_TORCHVISION)
    model.load_arrays(by_our_names(seeds.seeded_network(shared, "ssd300_vgg16"), NAMES, 90))
    mb_loc, mb_label = model.coder.encode(bbox, np.array([2, 16, 39], np.int32))
    with no_backprop_mode():
        outputs = model.forward(model.prepare(255 * seeds.seeded_photo("loss:ssd", 300, 300))[None])
        losses = multibox_loss(*outputs, mb_loc[None], mb_label[None], 3)
    np.testing.assert_allclose([float(loss.array) for loss in losses], [18.558653, 105.460861], rtol=1e-5)


def test_ssd300_has_torchvisions_names_and_shapes(shared, seeds):
    arrays = seeds.empty_network(shared, "ssd300_vgg16")
    for n in (None, 90):
        named = by_our_names(arrays, NAMES, n)
        wanted = SSD(n or 80, settings=SSD300_TORCHVISION).state_arrays()
        assert {k: v.shape for k, v in named.items()} == {k: v.shape for k, v in wanted.items()}


def test_ssd300_and_ssd512_have_chainercvs_names_and_numbers():
    arrays = SSD300().state_arrays()
    assert len(arrays) == 71
    assert round(sum(array.size for array in arrays.values()) / 1e6, 1) == 26.3
    assert arrays["extractor/conv1_1/W"].shape == (64, 3, 3, 3)
    assert arrays["extractor/norm4/scale"].shape == (512,)
    assert arrays["multibox/loc/5/W"].shape == (16, 256, 3, 3)
    large = SSD512()
    assert [len(model.coder.default) for model in (SSD300(), large)] == [8732, 24564]
    arrays = large.state_arrays()
    assert arrays["extractor/conv12_2/W"].shape == (256, 128, 4, 4)
    assert arrays["multibox/conf/6/W"].shape == (4 * 21, 256, 3, 3)


def test_ssd512_gives_a_number_for_every_default_box():
    set_seed(0)
    model = SSD(2, settings=dataclasses.replace(SSD512().settings, base_channels=2))
    with using_config("train", False), no_backprop_mode():
        loc, conf = model.forward(np.zeros((1, 3, 512, 512), np.float32))
    assert (loc.shape, conf.shape) == ((1, 24564, 4), (1, 24564, 3))


@pytest.mark.slow
def test_the_first_figure_of_the_paper_runs_as_written(tmp_path, monkeypatch):
    """KDD 2019: two lines, with a file of the published format in the cache."""
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    set_seed(0)
    path = cached_path(SSD300_WEIGHTS["voc0712"])
    path.parent.mkdir(parents=True)
    made = SSD300(20)
    write(path, made)
    img = np.random.default_rng(0).uniform(0, 255, (3, 90, 120)).astype(np.float32)

    model = SSD300(pretrained_model="voc0712")
    model.score_thresh = 0.1
    bboxes, labels, scores = model.predict([img])

    assert model.label_names == voc_bbox_label_names
    assert model.load_report.is_clean
    assert len(bboxes[0]) == len(labels[0]) == len(scores[0]) > 0
    made.score_thresh = 0.1
    np.testing.assert_array_equal(made.predict([img]).bboxes[0], bboxes[0])


def test_a_file_is_recognised_by_its_names(tmp_path):
    set_seed(0)
    path = write(tmp_path / "small.npz", SSD(3, settings=TINY))
    model = SSD(pretrained_model=path, settings=TINY)
    assert (model.n_fg_class, model.label_names) == (3, None)
    with pytest.warns(UserWarning, match="8 initialized anew: multibox/conf/0/W"):
        other = SSD(5, path, settings=TINY)
    assert {name.split("/")[1] for name in other.load_report.mismatching} == {"conf"}
    np.testing.assert_array_equal(other.extractor.conv4_3.W.array, model.extractor.conv4_3.W.array)
    np.testing.assert_array_equal(other.multibox.loc[0].W.array, model.multibox.loc[0].W.array)


def test_vgg16_alone_starts_a_training(tmp_path):
    set_seed(0)
    made = SSD(3, settings=TINY)
    arrays = made.extractor.state_arrays()
    kept = {name: array for name, array in arrays.items() if not name.startswith(("conv8", "conv9", "norm4"))}
    np.savez(tmp_path / "vgg.npz", **kept)
    model = SSD(7, tmp_path / "vgg.npz", settings=TINY)
    np.testing.assert_array_equal(model.extractor.conv7.W.array, made.extractor.conv7.W.array)
    assert np.any(model.extractor.conv8_1.W.array != made.extractor.conv8_1.W.array)
    del kept["conv5_1/b"]
    np.savez(tmp_path / "torn.npz", **kept)
    with pytest.raises(WeightsMismatchError, match="conv5_1/b"):
        SSD(7, tmp_path / "torn.npz", settings=TINY)


def test_a_file_of_another_network_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", **{"fc/W": np.zeros((2, 2), np.float32)})
    with pytest.raises(WeightsMismatchError, match="contains neither a SSD"):
        SSD(3, tmp_path / "other.npz", settings=TINY)
    arrays = SSD(3, settings=TINY).state_arrays() | {"extractor/conv99/W": np.zeros(1, np.float32)}
    np.savez(tmp_path / "more.npz", **arrays)
    with pytest.raises(WeightsMismatchError, match="conv99"):
        SSD(3, tmp_path / "more.npz", settings=TINY)
    with pytest.raises(ValueRangeError, match="voc0712"):
        SSD300(pretrained_model="voc07")


def test_a_tiny_one_can_be_described_and_built_again():
    set_seed(0)
    model = SSD(2, label_names=("ape", "bee"), settings=TINY)
    (kind,) = family_of(SSD).architectures
    twin = kind.build(kind.settings(model), model.label_names)
    twin.load_arrays(model.state_arrays())
    assert (twin.settings, twin.label_names) == (model.settings, model.label_names)
    assert model.preparation.to_header()["size"] == [64, 64]
    with pytest.raises((TypeError, ValueRangeError)):
        kind.build({"n_fg_class": 2, "settings": {"pretrained_model": "x"}}, None)


def test_all_published_ones_are_listed():
    names = [member.name for member in family_of(SSD).members]
    assert sorted(names) == sorted(set(names))
    assert {"ssd300_voc0712", "ssd512_voc0712", "ssd300_coco"} <= set(names)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("insize", 8),
        ("extras", ("double",)),
        ("sizes", (1, 2)),
        ("aspect_ratios", ((2,),)),
        ("steps", (8,)),
        ("variance", (0.1,)),
        ("mean", (1, 2)),
    ],
)
def test_wrong_settings_are_refused(name, value):
    with pytest.raises(ValueRangeError, match=name):
        dataclasses.replace(TINY, **{name: value})


def test_a_copy_has_its_own_numbers():
    model = SSD(2, settings=TINY)
    twin = model.copy("copy")
    twin.extractor.conv8_1.W.array[...] = 0
    twin.extractor.conv8_1.b.array[...] = 1
    x = np.ones((1, 3, 64, 64), np.float32)
    with using_config("train", False), no_backprop_mode():
        assert np.any(model.forward(x)[1].array != twin.forward(x)[1].array)


@functools.cache
def batch():
    rng = np.random.default_rng(1)
    bbox = np.array([[10, 12, 40, 50], [5, 30, 20, 60]], np.float32)
    return rng.standard_normal((2, 3, 64, 64)).astype(np.float32), bbox, np.array([0, 1], np.int32)


def test_a_step_of_training_lowers_the_loss_and_reaches_every_parameter():
    set_seed(0)
    model = SSD(2, settings=TINY)
    loss = SSDLoss(model)
    x, bbox, label = batch()
    loc, found = zip(model.coder.encode(bbox, label), model.coder.encode(bbox[:1], label[:1]))
    loc, found = np.stack(loc), np.stack(found)
    optimizer = optimizers.MomentumSGD(1e-3, 0.9).setup(loss)
    values = []
    for _ in range(8):
        optimizer.update(loss, x, loc, found)
        values.append(float(loss(x, loc, found).array))
    assert values[-1] < values[0]
    model.cleargrads()
    heads = model.forward(50 * x)  # photos' numbers are large
    F.sum(F.square(heads[0])).backward()
    F.sum(F.square(heads[1])).backward()
    dead = [name for name, parameter in model.namedparams() if parameter.grad is None or not parameter.grad.any()]
    assert not dead
