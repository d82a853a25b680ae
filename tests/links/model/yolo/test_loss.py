"""The loss of the YOLO networks against plain loops, and what it does to them."""

import dataclasses

import numpy as np
import pytest
from zoo_family import family_of

from cvzoo import optimizers
from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.chain import Chain
from cvzoo.links.model.decoding.grid_cells import GridCells, RegionHead, YoloHead
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.links.model.yolo.augmentation import YOLOTransform
from cvzoo.links.model.yolo.loss import YOLOLoss
from cvzoo.links.model.yolo.targets import assign_targets, head_grid, predicted_boxes
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

ANCHORS = (((30, 40), (50, 30)), ((10, 8), (16, 20)))
SHAPES = ((2, 3), (4, 6))
SIZE = (64, 96)
BBOX = np.array([[4, 10, 40, 44], [30, 60, 38, 70], [33, 64, 60, 95]], np.float32)
LABEL = np.array([1, 0, 2], np.int32)


TINY = {
    "YOLOv2": lambda: YOLOv2(3, insize=64, base_channels=2),
    "YOLOv2Tiny": lambda: YOLOv2Tiny(3, insize=64, base_channels=2, mid_channels=16),
    "YOLOv3": lambda: YOLOv3(3, insize=64, base_channels=2, blocks=(1, 1, 1, 1, 1)),
}


def heads():
    return tuple(YoloHead(anchors, 3) for anchors in ANCHORS)


class Stub(Chain):
    """A network that says what it was given."""

    n_fg_class = 3

    def __init__(self, heads):
        self.heads = heads
        self.outputs = ()

    def forward(self, x):
        return self.outputs


def raw(seed, heads, n_photo=2):
    rng = np.random.default_rng(seed)
    return [0.5 * rng.standard_normal((n_photo, head.n_channel, *shape)) for head, shape in zip(heads, SHAPES)]


def plain(outputs, heads, bboxes, labels, thresh):
    """The loss by loops over photos, heads, cells and anchors."""

    def bce(x, t):
        least = 0 if t in (0, 1) else -t * np.log(t) - (1 - t) * np.log(1 - t)
        return np.logaddexp(0, x) - t * x - least

    total = 0.0
    for i, (bbox, label) in enumerate(zip(bboxes, labels)):
        owner = {}
        for r, (y0, x0, y1, x1) in enumerate(bbox):
            best = (-1.0, None)
            for h, (head, (gh, gw)) in enumerate(zip(heads, SHAPES)):
                sy, sx = SIZE[0] / gh, SIZE[1] / gw
                for a, anchor in enumerate(head.anchors):
                    ah, aw = (anchor[0] * sy, anchor[1] * sx) if isinstance(head, RegionHead) else anchor
                    inter = min(ah, y1 - y0) * min(aw, x1 - x0)
                    iou = inter / (ah * aw + (y1 - y0) * (x1 - x0) - inter)
                    if iou > best[0]:
                        best = (iou, (h, int((y0 + y1) / 2 / sy), int((x0 + x1) / 2 / sx), a))
            owner[best[1]] = r
        for h, (head, (gh, gw)) in enumerate(zip(heads, SHAPES)):
            sy, sx = SIZE[0] / gh, SIZE[1] / gw
            y = outputs[h][i].reshape(len(head.anchors), 8, gh, gw)
            for a, anchor in enumerate(head.anchors):
                ah, aw = (anchor[0] * sy, anchor[1] * sx) if isinstance(head, RegionHead) else anchor
                for v in range(gh):
                    for u in range(gw):
                        tx, ty, tw, th, obj, *cls = y[a, :, v, u]
                        r = owner.get((h, v, u, a))
                        if r is not None:
                            y0, x0, y1, x1 = bbox[r]
                            weight = 2 - (y1 - y0) * (x1 - x0) / (SIZE[0] * SIZE[1])
                            box = bce(tx, (x0 + x1) / 2 / sx - u) + bce(ty, (y0 + y1) / 2 / sy - v)
                            box += (tw - np.log((x1 - x0) / aw)) ** 2 / 2 + (th - np.log((y1 - y0) / ah)) ** 2 / 2
                            total += weight * box + bce(obj, 1)
                            if isinstance(head, RegionHead):
                                total += np.log(np.exp(cls).sum()) - cls[label[r]]
                            else:
                                total += sum(bce(s, k == label[r]) for k, s in enumerate(cls))
                            continue
                        cy, cx = (v + 1 / (1 + np.exp(-ty))) * sy, (u + 1 / (1 + np.exp(-tx))) * sx
                        bh, bw = np.exp(th) * ah, np.exp(tw) * aw
                        said = np.array([[cy - bh / 2, cx - bw / 2, cy + bh / 2, cx + bw / 2]])
                        if not len(bbox) or bbox_iou(said, bbox.astype(np.float64)).max() <= thresh:
                            total += bce(obj, 0)
    return total / len(bboxes)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("kind", ["YoloHead", "RegionHead"])
@pytest.mark.parametrize("thresh", [0.3, 0.7])
def test_the_loss_is_that_of_plain_loops(backend, kind, thresh):
    some = heads()
    if kind == "RegionHead":
        some = tuple(RegionHead(((1.0, 1.4), (0.4, 0.3)), 3) for _ in some)
    stub = Stub(some)
    outputs = raw(1, some)
    stub.outputs = tuple(Variable(y.astype(np.float32)) for y in outputs)
    x = np.zeros((2, 3, *SIZE), np.float32)
    bboxes, labels = [BBOX, np.empty((0, 4), np.float32)], [LABEL, np.empty(0, np.int32)]
    with using_config("backend", backend):
        loss = YOLOLoss(stub, ignore_thresh=thresh)(x, bboxes, labels)
    np.testing.assert_allclose(float(loss.array), plain(outputs, some, bboxes, labels, thresh), rtol=1e-5)


def test_gradients_against_numbers():
    some = heads()
    x = np.zeros((2, 3, *SIZE), np.float64)
    stub = Stub(some)
    loss = YOLOLoss(stub)

    def function(*outputs):
        stub.outputs = outputs
        return loss(x, [BBOX.astype(np.float64)] * 2, [LABEL] * 2)

    outputs = tuple(raw(3, some))
    check_backward(function, outputs, None, eps=1e-5)
    check_double_backward(function, outputs, (np.ones(()),), tuple(np.ones_like(y) for y in outputs), eps=1e-5)


@pytest.mark.parametrize("scale_xy", [1, 1.2])
def test_what_a_prediction_says_is_where_decode_finds_it(scale_xy):
    some = tuple(dataclasses.replace(head, scale_xy=scale_xy) for head in heads())
    y = [each[0].astype(np.float32) for each in raw(5, some)]
    grid = head_grid(some, SHAPES, SIZE)
    code = np.concatenate([each.transpose(1, 2, 0).reshape(-1, 8)[:, :4] for each in y])
    said = predicted_boxes(code, grid)
    want = GridCells(heads=some).decode(y, SIZE, Placement(SIZE, SIZE), -1.0).bbox[::3]
    np.testing.assert_allclose(said, want, rtol=1e-5, atol=1e-4)


def test_crowds_do_not_matter_and_the_later_of_two_has_the_place():
    some = heads()
    grid = head_grid(some, SHAPES, SIZE)
    code = np.zeros((1, len(grid.cell), 4), np.float32)
    bbox = np.array([[0, 0, 64, 48], [33, 64, 60, 95], [33, 65, 60, 94]], np.float32)
    flags = [np.array([True, False, False])]
    targets = assign_targets(code, grid, some, [bbox], [np.array([0, 1, 2])], flags)
    assert targets.label.tolist() == [2]
    assert set(targets.objectness[0].tolist()) == {-1, 0, 1}
    left = grid.cell[:, 1] * grid.step[:, 1] < 32
    assert (targets.objectness[0, ~left & (grid.cell[:, 1] * grid.step[:, 1] > 64)] >= 0).all()
    np.testing.assert_array_equal(targets.positive, np.flatnonzero(targets.objectness[0] == 1))
    with pytest.raises(ShapeError, match="one element per image"):
        assign_targets(code, grid, some, [bbox, bbox], [LABEL, LABEL])
    with pytest.raises(ShapeError, match="differ in number"):
        assign_targets(code, grid, some, [bbox], [LABEL[:1]])


@pytest.mark.parametrize("name", TINY)
def test_steps_of_training_lower_the_loss(name):
    set_seed(0)
    model = TINY[name]()
    loss = YOLOLoss(model)
    x = np.random.default_rng(0).random((2, 3, 64, 64), np.float32)
    bboxes, labels = [BBOX.clip(0, 64), BBOX[:1]], [LABEL, LABEL[:1]]
    optimizer = optimizers.MomentumSGD(1e-3, 0.9).setup(loss)
    values = []
    for _ in range(12):
        optimizer.update(loss, x, bboxes, labels)
        values.append(float(loss(x, bboxes, labels).array))
    assert values[-1] < values[0]
    assert all(parameter.grad is not None for parameter in model.params())
    with pytest.raises(ShapeError, match="one element per image"):
        loss(x, bboxes[:1], labels)


@pytest.mark.parametrize("name", TINY)
def test_a_network_of_ones_own_can_be_described_and_built_again(name):
    model = TINY[name]()
    model.label_names = ("ape", "bee", "cat")
    (kind,) = (each for each in family_of(YOLOv2).architectures if each.name == name)
    settings = kind.settings(model)
    twin = kind.build(settings, model.label_names)
    assert kind.settings(twin) == settings
    assert twin.label_names == model.label_names
    assert twin.load_arrays(model.state_arrays()).is_clean
    assert model.preparation.to_header()["letterbox"] == [64, 64]


@pytest.mark.parametrize("insize", [0, 100, 416.0, True])
def test_photos_are_seen_in_multiples_of_32(insize):
    with pytest.raises(ValueRangeError, match="multiple of 32"):
        YOLOv2Tiny(3, insize=insize)


def test_a_batch_is_resized_with_its_boxes_and_the_draws_go_on():
    seen = []

    class Watch(Stub):
        def forward(self, x):
            seen.append(x.shape[2])
            return model.forward(x)

    set_seed(0)
    model = TINY["YOLOv2Tiny"]()
    x, bboxes = np.zeros((1, 3, 64, 64), np.float32), [BBOX[:1]]

    def watched():
        return YOLOLoss(Watch(model.heads), sizes=(32, 64, 96), every=2, seed=1)

    loss = watched()
    for _ in range(20):
        loss(x, bboxes, [LABEL[:1]])
    assert set(seen) == {32, 64, 96}
    assert seen[0::2] == seen[1::2]
    whole, half = list(seen), watched()
    seen.clear()
    half.load_arrays({"n_batch": np.asarray(8)})
    for _ in range(12):
        half(x, bboxes, [LABEL[:1]])
    assert seen == whole[8:]
    with using_config("train", False):
        half(x, bboxes, [LABEL[:1]])
    assert seen[-1] == 64
    with pytest.raises(ValueRangeError, match="multiples of 32"):
        YOLOLoss(model, sizes=(33,))
    with pytest.raises(ValueRangeError, match="every"):
        YOLOLoss(model, every=0)


def test_examples_are_letterboxed_and_boxes_follow():
    img = np.full((3, 50, 100), 255, np.float32)
    bbox, label = np.array([[10, 20, 30, 60]], np.float32), np.array([2], np.int32)
    x, boxes, labels, ignored = YOLOTransform((64, 64), augment=False)((img, bbox, label))
    assert (x.shape, x.dtype, x.max()) == ((3, 64, 64), np.float32, 1)
    np.testing.assert_allclose(x[:, 0], 0.5)
    np.testing.assert_allclose(boxes, [[16 + 6.4, 12.8, 16 + 19.2, 38.4]], atol=1e-4)
    assert (labels.tolist(), ignored.tolist()) == ([2], [False])
    _, _, _, ignored = YOLOTransform((64, 64), augment=False, min_side=20)((img, bbox, label, np.array([False])))
    assert ignored.tolist() == [True]
    set_seed(0)
    for _ in range(5):
        x, boxes, labels, ignored = YOLOTransform((64, 96))((img, bbox, label, np.array([True])))
        assert x.shape == (3, 64, 96)
        assert len(boxes) == len(labels) == len(ignored)
        assert ignored.all()
    with pytest.raises(ShapeError, match="fourth value"):
        YOLOTransform((64, 64))((img, bbox, label, np.array([1.0])))


def test_perfect_predictions_of_heads_whose_centers_may_leave_their_cells_are_targets():
    heads = (YoloHead(((30, 40),), 3, scale_xy=1.2),)
    size, shape = (64, 96), (2, 3)
    grid = head_grid(heads, [shape], size)
    # its center is 0.05 of a cell below the upper edge of its cell, where a plain sigmoid's would be 0.05
    bbox = np.array([[18.6, 10, 48.6, 50]], np.float32)
    zeros = np.zeros((1, 6, 4), np.float32)
    targets = assign_targets(zeros, grid, heads, [bbox], [np.array([1])])
    np.testing.assert_allclose(targets.center[0, 0], (0.05 + 0.1) / 1.2, atol=1e-5)
    code = np.zeros((6, 4), np.float32)
    y, x = np.log(targets.center[0] / (1 - targets.center[0]))
    code[targets.positive[0]] = x, y, targets.side[0, 1], targets.side[0, 0]
    np.testing.assert_allclose(predicted_boxes(code, grid)[targets.positive], bbox, atol=1e-3)
