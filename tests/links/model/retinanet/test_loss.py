"""RetinaNet's training: the loss by hand, what it reports, and what it divides by."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.config import set_seed
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.loss.focal_loss import sigmoid_focal_loss
from cvzoo.geometry.bbox_giou import bbox_giou
from cvzoo.geometry.coding import decode_bbox, encode_bbox
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.loss import RetinaNetLoss, decoded
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.targets import assign_targets
from cvzoo.reporting.reporter import Reporter
from cvzoo.serializers import load_npz, save_npz

BBOXES = [np.array([[3, 4, 40, 50], [20, 20, 60, 30]], "f"), np.zeros((0, 4), "f")]
LABELS = [np.array([2, 0], "i"), np.zeros(0, "i")]
X = np.random.default_rng(0).normal(size=(2, 3, 64, 64)).astype("f")


@pytest.fixture
def model():
    set_seed(0)
    sizes = ((16,), (32,), (64,))
    settings = RetinaNetSettings(
        n_layer=10, base_channels=8, channels=8, head_depth=1, last_level=5, anchor_sizes=sizes
    )
    return RetinaNet(3, settings=settings)


def _expected(model, box_loss):
    loc, conf = model(X)
    anchors = model.anchors((64, 64))
    net = RetinaNetLoss(model)
    targets = assign_targets(net._anchor_rows((64, 64)), BBOXES, LABELS)
    n = len(targets.positive)
    yes = np.where(targets.label[..., None] == -2, -1, targets.label[..., None] == np.arange(3))
    conf_loss = float(sigmoid_focal_loss(conf, yes, reduce="sum").array) / n
    code, mine = loc.array.reshape(-1, 4)[targets.positive], anchors[targets.positive % len(anchors)]
    if box_loss == "giou":
        pairs = zip(decode_bbox(code, mine), targets.bbox)
        loc_loss = sum(1 - bbox_giou(a[None], b[None])[0, 0] for a, b in pairs) / n
    else:
        d = np.abs(code - encode_bbox(targets.bbox, mine))
        loc_loss = np.where(d < 1 / 9, d**2 * 9 / 2, d - 1 / 18).sum() / n
    return n, conf_loss, loc_loss


@pytest.mark.parametrize("box_loss", ["smooth_l1", "giou"])
def test_the_loss_is_what_the_paper_says_and_is_reported(model, box_loss):
    n, conf_loss, loc_loss = _expected(model, box_loss)
    assert n > 2
    net = RetinaNetLoss(model, box_loss=box_loss, loc_weight=2.0)
    reporter = Reporter()
    reporter.add_observer("main", net)
    with reporter:
        loss = net(X, BBOXES, LABELS)
    seen = {name: float(value) for name, value in reporter.observation.items()}
    assert set(seen) == {"main/loss", "main/loss/loc", "main/loss/conf"}
    np.testing.assert_allclose(seen["main/loss/conf"], conf_loss, rtol=1e-5)
    np.testing.assert_allclose(seen["main/loss/loc"], 2 * loc_loss, rtol=1e-5)
    np.testing.assert_allclose(float(loss.array), conf_loss + 2 * loc_loss, rtol=1e-5)


@pytest.mark.parametrize("box_loss", ["smooth_l1", "giou"])
def test_every_parameter_learns(model, box_loss):
    net = RetinaNetLoss(model, box_loss=box_loss)
    loss = net(X, BBOXES, LABELS)
    net.cleargrads()
    loss.backward()
    idle = [name for name, param in net.namedparams() if param.grad is None or not np.any(param.grad)]
    assert idle == []
    assert all(np.isfinite(param.grad).all() for param in net.params())


def test_photos_without_objects_teach_the_background_only(model):
    net = RetinaNetLoss(model)
    loss = net(X, [BBOXES[1]] * 2, [LABELS[1]] * 2)
    net.cleargrads()
    loss.backward()
    assert np.isfinite(loss.array)
    assert not np.any(model.loc_head.out.W.grad)
    assert (model.conf_head.out.b.grad > 0).all()


def test_ignored_objects_change_what_is_learned(model):
    net = RetinaNetLoss(model)
    skip = [np.array([True, False]), np.zeros(0, bool)]
    assert net(X, BBOXES, LABELS, skip).array != net(X, BBOXES, LABELS).array


def test_a_moving_divisor_goes_on_after_loading(model, tmp_path):
    n = _expected(model, "smooth_l1")[0]
    net = RetinaNetLoss(model, momentum=0.9)
    net(X, BBOXES, LABELS)
    assert net.normalizer == n
    net(X, [BBOXES[1]] * 2, [LABELS[1]] * 2)
    np.testing.assert_allclose(net.normalizer, 0.9 * n + 0.1, rtol=1e-6)
    save_npz(tmp_path / "net.npz", net)
    other = RetinaNetLoss(model, momentum=0.9)
    load_npz(tmp_path / "net.npz", other)
    assert other.normalizer == net.normalizer
    assert other(X, BBOXES, LABELS).array == net(X, BBOXES, LABELS).array


def test_offsets_are_decoded_with_gradients():
    random = np.random.default_rng(1)
    anchor = np.array([[0, 0, 10, 20], [5, 5, 9, 30]], "d")
    code = random.normal(0, 0.5, (2, 4))
    np.testing.assert_allclose(decoded(Variable(code), anchor).array, decode_bbox(code, anchor), rtol=1e-12)
    check_backward(lambda code: decoded(code, anchor), code)
    wild = decoded(Variable(np.full((1, 4), 99.0)), anchor[:1]).array
    np.testing.assert_allclose(wild, decode_bbox(np.full((1, 4), 99.0), anchor[:1]))


def test_bad_calls_teach(model):
    for bad in ({"box_loss": "l2"}, {"momentum": 1.0}):
        with pytest.raises(ValueRangeError):
            RetinaNetLoss(model, **bad)
    with pytest.raises(ShapeError, match="one element per image"):
        RetinaNetLoss(model)(X, BBOXES[:1], LABELS[:1])
