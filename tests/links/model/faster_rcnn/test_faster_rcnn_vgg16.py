"""Faster R-CNN on VGG16: names of ChainerCV's files, other classes, training, and the figure of the KDD'19 paper."""

import json
import math
import pathlib
import warnings
import zlib

import numpy as np
import pytest
from few_steps import losses_of_steps
from zoo_family import family_of

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.functions.activation.softmax import softmax
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.faster_rcnn.targets import loc2bbox
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
from cvzoo.links.model.faster_rcnn.transform import FasterRCNNTransform
from cvzoo.links.model.faster_rcnn.weights import WEIGHTS
from cvzoo.links.model.retinanet.augmentation import collate_images
from cvzoo.optimizers.adam import Adam
from cvzoo.serializers.npz import save_npz
from cvzoo.weights.cache import cached_path
from cvzoo.weights.formats.npz import write_npz

CONVOLUTIONS = [f"conv{stage}_{i}" for stage, n in enumerate((2, 2, 3, 3, 3), start=1) for i in range(1, n + 1)]
NARROW = {"base_channels": 4, "rpn_channels": 8, "fc_channels": 16}


def tiny(n_fg_class=3, **settings):
    set_seed(2)
    creator = ProposalCreator(min_size=4, n_train_post_nms=60, n_test_post_nms=40)
    settings = {"min_size": 64, "max_size": 120, "anchor_scales": (1, 2, 4), "proposal_creator": creator} | settings
    return FasterRCNNVGG16(n_fg_class, **NARROW, **settings)


def photo(height=60, width=90, seed=0):
    return np.random.default_rng(seed).integers(0, 255, (3, height, width)).astype(np.float32)


def chainercv_file(n_class=21, width=64, rpn=512, fc=4096):
    """name -> shape, as ChainerCV's serializer names the arrays of FasterRCNNVGG16."""
    shapes, n_in = {}, 3
    for name in CONVOLUTIONS:
        n = width * min(2 ** (int(name[4]) - 1), 8)
        shapes |= {f"extractor/{name}/conv/W": (n, n_in, 3, 3), f"extractor/{name}/conv/b": (n,)}
        n_in = n
    for name, n_out, m, k in (("conv1", rpn, n_in, 3), ("score", 18, rpn, 1), ("loc", 36, rpn, 1)):
        shapes |= {f"rpn/{name}/W": (n_out, m, k, k), f"rpn/{name}/b": (n_out,)}
    for name, n_out, m in (
        ("fc6", fc, n_in * 49),
        ("fc7", fc, fc),
        ("cls_loc", n_class * 4, fc),
        ("score", n_class, fc),
    ):
        shapes |= {f"head/{name}/W": (n_out, m), f"head/{name}/b": (n_out,)}
    return shapes


def test_its_arrays_are_those_of_chainercv():
    narrow = FasterRCNNVGG16(**NARROW)
    assert {name: array.shape for name, array in narrow.state_arrays().items()} == chainercv_file(21, 4, 8, 16)
    assert narrow.label_names == voc_bbox_label_names


def test_find_is_the_definition_step_by_step():
    model = tiny()
    model.score_thresh = 0.2
    x = model.prepare(photo())[None]
    with using_config("train", False), no_backprop_mode():
        (bbox, label, score), *_ = model.find(x, [(60, 90)])
        locs, scores, rois, indices = model.forward(x, x.shape[3] / 90)
    prob = softmax(scores).array
    assert not indices.any()
    wanted = []
    for r, c in np.ndindex(len(rois), 3):
        if prob[r, c + 1] > 0.2:
            loc = locs.array[r, 4 * c + 4 : 4 * c + 8] * (0.1, 0.1, 0.2, 0.2)
            box = loc2bbox(rois[r : r + 1] / (x.shape[3] / 90), loc[None].astype("f"))[0]
            wanted.append((*np.clip(box, 0, (60, 90, 60, 90)), c, prob[r, c + 1]))
    assert len(bbox)
    np.testing.assert_allclose(np.column_stack([bbox, label, score]), np.array(wanted), atol=1e-3)


def test_a_file_of_chainercv_loads_and_other_classes_start_anew_with_a_warning(tmp_path):
    model, path = tiny(20, anchor_scales=(8, 16, 32)), tmp_path / "voc.npz"
    save_npz(path, model)
    again = FasterRCNNVGG16(pretrained_model=path, **NARROW)
    assert again.label_names == voc_bbox_label_names
    assert again.load_report.is_clean
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(again.state_arrays()[name], array)
    with pytest.warns(UserWarning, match="initialized anew"):
        other = FasterRCNNVGG16(2, path, label_names=("a", "b"), **NARROW)
    assert set(other.load_report.mismatching) == {
        f"head/{layer}/{leaf}" for layer in ("cls_loc", "score") for leaf in "Wb"
    }
    np.testing.assert_array_equal(other.head.fc7.W.array, model.head.fc7.W.array)


def test_what_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "other.npz"
    write_npz(path, {"a/W": np.zeros(3, "f")})
    with pytest.raises(WeightsMismatchError, match="contains neither a FasterRCNNVGG16"):
        FasterRCNNVGG16(pretrained_model=path)
    save_npz(path, tiny(20))
    with pytest.raises(WeightsMismatchError):
        FasterRCNNVGG16(pretrained_model=path, base_channels=8, rpn_channels=8, fc_channels=16)
    with pytest.raises(ValueRangeError, match="voc0712"):
        FasterRCNNVGG16(pretrained_model="voc1899")
    with pytest.raises(ValueRangeError, match="n_fg_class"):
        FasterRCNNVGG16(0)
    with pytest.raises(ValueRangeError, match="label_names"):
        FasterRCNNVGG16(3, label_names=("a",))


def test_a_vgg16_gives_the_backbone_and_the_fully_connected_layers(tmp_path):
    model = tiny(20, anchor_scales=(8, 16, 32))
    values = {
        name.removeprefix("extractor/").removeprefix("head/"): array
        for name, array in model.state_arrays().items()
        if name.startswith(("extractor/", "head/fc"))
    }
    path = tmp_path / "vgg.npz"
    write_npz(path, values | {"fc8/W": np.zeros((1000, 16), "f"), "fc8/b": np.zeros(1000, "f")})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = FasterRCNNVGG16(5, path, **NARROW)
    np.testing.assert_array_equal(other.extractor["conv4_2"].conv.W.array, model.extractor["conv4_2"].conv.W.array)
    np.testing.assert_array_equal(other.head.fc6.W.array, model.head.fc6.W.array)


def test_it_is_described_by_its_settings():
    (architecture,) = family_of(FasterRCNNVGG16).architectures
    model = tiny(2, label_names=("a", "b"))
    again = architecture.build(architecture.settings(model), model.label_names)
    again.load_arrays(model.state_arrays())
    for one, other in zip(model.predict([photo()]), again.predict([photo()])):
        np.testing.assert_array_equal(one[0], other[0])
    assert [member.name for member in family_of(FasterRCNNVGG16).members] == [
        "faster_rcnn_vgg16_voc0712",
        "faster_rcnn_vgg16_voc07",
    ]


def test_training_two_photos_lowers_the_loss_and_reaches_every_parameter():
    model = tiny()
    chain = FasterRCNNTrainChain(model)
    examples = [
        (photo(60, 90), np.array([[5, 5, 50, 40], [20, 50, 55, 85]], "f"), np.array([0, 2], "i")),
        (photo(50, 60, 1), np.zeros((0, 4), "f"), np.zeros(0, "i")),  # nothing in it
    ]
    transform = FasterRCNNTransform(model)
    x, bboxes, labels, scales, sizes = collate_images([transform(example) for example in examples], multiple=1)
    assert x.shape[2:] == (64, 96)
    assert sizes == [(64, 96), (64, 76)]
    losses = losses_of_steps(lambda: chain(x, bboxes, labels, scales, sizes), Adam(1e-3).setup(chain), 12)
    assert losses[-1] < 0.6 * losses[0]
    with pytest.raises(ShapeError, match="one element per image"):
        chain(x, bboxes[:1], labels, scales)


def test_the_transform_moves_boxes_with_the_photo_and_leaves_out_what_is_not_to_be_learned():
    transform = FasterRCNNTransform(tiny())
    bbox = np.array([[0, 0, 30, 45], [0, 0, 1, 1]], "f")
    seen = set()
    for seed in range(8):
        set_seed(seed)
        img, moved, label, scale, size = transform((photo(), bbox, np.array([1, 0], "i"), np.array([False, True])))
        assert img.shape[1:] == size == (64, 96)
        assert scale == pytest.approx(96 / 90)
        assert label.tolist() == [1]
        seen.add(tuple(moved[0].round(3).tolist()))
    assert seen == {(0, 0, 32, 48), (0, 48, 32, 96)}
    with pytest.raises(ShapeError, match="fourth value"):
        transform((photo(), bbox, np.array([1, 0], "i"), np.array([False])))


def test_one_of_several_short_sides_is_drawn():
    transform = FasterRCNNTransform(tiny(), x_flip=False, scales=(0.5, 1.0))
    seen = set()
    for seed in range(8):
        set_seed(seed)
        img, moved, _, scale, size = transform((photo(), np.array([[0, 0, 30, 45]], "f"), np.array([1], "i")))
        assert img.shape[1:] == size
        assert scale == pytest.approx(size[1] / 90)
        seen.add((size, *moved[0].round(3).tolist()))
    assert seen == {((64, 96), 0, 0, 32, 48), ((32, 48), 0, 0, 16, 24)}


@pytest.mark.slow
def test_the_figure_of_the_paper_runs_as_written(tmp_path, monkeypatch):
    """A file of the published one's names and shapes stands in for it where downloads are kept."""
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    path = cached_path(WEIGHTS["voc0712"])
    path.parent.mkdir(parents=True)
    arrays = {name: np.zeros(shape, np.float32) for name, shape in chainercv_file().items()}
    arrays["head/score/b"][15] = 9.0  # it sees persons everywhere
    write_npz(path, arrays)
    del arrays

    model = FasterRCNNVGG16(pretrained_model="voc0712")
    path.unlink()
    img = photo(200, 300)
    bboxes, labels, scores = model.predict([img])
    assert len(bboxes) == len(labels) == len(scores) == 1
    assert len(bboxes[0])
    assert {model.label_names[i] for i in labels[0]} == {"person"}
    assert (scores[0] > 0.7).all()


def seeded(name, shape):
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    array = rng.standard_normal(shape, dtype=np.float32)
    array *= np.float32(0.1 if "loc" in name else 0.5 if "score" in name else 1)
    return array * np.float32(math.sqrt(2 / np.prod(shape[1:])) if len(shape) > 1 else 0.1)


def test_it_finds_what_torch_finds_with_the_same_numbers():
    """The stored boxes were made of torch's convolutions, torchvision's suppression and its pooling of regions."""
    stored = json.loads(pathlib.Path(__file__).with_name("torch_found.json").read_text())
    creator = ProposalCreator(n_test_pre_nms=200, n_test_post_nms=25, min_size=4)
    model = FasterRCNNVGG16(
        3, anchor_scales=(1, 2, 4), proposal_creator=creator, base_channels=8, rpn_channels=8, fc_channels=16
    )
    model.load_arrays({name: seeded(name, array.shape) for name, array in model.state_arrays().items()})
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(b"faster_rcnn_vgg16")))
    x = rng.random((1, 3, 90, 120), dtype=np.float32) * 2 - 1
    model.score_thresh = 0.1
    with using_config("train", False), no_backprop_mode():
        ((bbox, label, score),) = model.find(x, [tuple(stored["size"])])
    np.testing.assert_allclose(np.column_stack([bbox, label, score]), stored["found"], atol=1e-3)
