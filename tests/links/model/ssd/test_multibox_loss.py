"""The loss of SSD against plain loops, with its gradients."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.model.ssd.loss import hard_negatives, multibox_loss
from cvzoo.links.model.ssd.ssd import Normalize


def make(seed=0, B=2, A=9, L=3):
    rng = np.random.default_rng(seed)
    label = rng.integers(-3, L + 1, (B, A)).clip(-1).astype(np.int32)
    label[0, :4] = [0, 1, -1, 0]
    loc, gt = rng.standard_normal((2, B, A, 4)).astype(np.float32) * 1.5
    conf = rng.standard_normal((B, A, L + 1)).astype(np.float32)
    return loc, conf, gt, label


def plain(loc, conf, gt, label, k):
    n = max((label > 0).sum(), 1)
    loc_loss = conf_loss = 0.0
    for i in range(len(label)):
        costs = []
        for a in range(label.shape[1]):
            logit = conf[i, a].astype(np.float64)
            cost = np.log(np.exp(logit).sum()) - logit[max(label[i, a], 0)]
            if label[i, a] > 0:
                conf_loss += cost
                d = np.abs(loc[i, a].astype(np.float64) - gt[i, a])
                loc_loss += np.where(d < 1, d * d / 2, d - 0.5).sum()
            elif label[i, a] == 0:
                costs.append(cost)
        conf_loss += sum(sorted(costs)[::-1][: int(k * (label[i] > 0).sum())])
    return loc_loss / n, conf_loss / n


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_loss_is_that_of_plain_loops(backend, k, seed):
    arrays = make(seed)
    with using_config("backend", backend):
        losses = [float(loss.array) for loss in multibox_loss(*arrays, k)]
    np.testing.assert_allclose(losses, plain(*arrays, k), rtol=1e-5)


def test_without_objects_nothing_is_lost():
    loc, conf, gt, label = make()
    losses = multibox_loss(loc, conf, gt, np.minimum(label, 0), 3)
    assert [float(loss.array) for loss in losses] == [0, 0]


def test_the_divisor_can_be_that_of_all_devices():
    loc, conf, gt, label = make()
    n = int((label > 0).sum())
    for one, other in zip(multibox_loss(loc, conf, gt, label, 3), multibox_loss(loc, conf, gt, label, 3, n_positive=4)):
        np.testing.assert_allclose(float(one.array) * n, float(other.array) * 4, rtol=1e-6)


def test_gradients_against_numbers():
    loc, conf, gt, label = make(4)
    loc, conf = loc.astype(np.float64), conf.astype(np.float64)

    def function(loc, conf):
        loc_loss, conf_loss = multibox_loss(loc, conf, gt.astype(np.float64), label, 3)
        return loc_loss * conf_loss  # a product: the second derivatives are not all 0

    check_backward(function, (loc, conf), None, eps=1e-5)
    check_double_backward(function, (loc, conf), (np.ones(()),), (loc * 0 + 1, conf * 0 + 0.5), eps=1e-5)


def test_hard_negatives_are_the_worst_and_never_ignored():
    loss = np.array([[0.1, 0.9, 0.5, 0.7, 0.2, 5.0]])
    label = np.array([[1, 0, 0, 0, 0, -1]])
    np.testing.assert_array_equal(hard_negatives(loss, label, 2), [[0, 1, 0, 1, 0, 0]])
    np.testing.assert_array_equal(hard_negatives(loss, label, 9), [[0, 1, 1, 1, 1, 0]])
    assert not hard_negatives(loss, np.minimum(label, 0), 3).any()


def test_what_does_not_fit_is_refused():
    loc, conf, gt, label = make()
    with pytest.raises(ShapeError, match="wrong shapes"):
        multibox_loss(loc[:, :-1], conf, gt, label, 3)
    with pytest.raises(ShapeError, match="wrong shapes"):
        multibox_loss(loc, conf, gt, label[0], 3)
    with pytest.raises(ValueRangeError, match="k must not"):
        multibox_loss(loc, conf, gt, label, -1)
    with pytest.raises(ValueRangeError, match="n_positive"):
        multibox_loss(loc, conf, gt, label, 3, n_positive=0)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_normalize_gives_vectors_of_one_length(backend):
    x = np.random.default_rng(0).standard_normal((2, 5, 3, 4)).astype(np.float32)
    link = Normalize(5, 20)
    with using_config("backend", backend):
        y = link(x).array
    np.testing.assert_allclose(y, 20 * x / np.sqrt((x * x).sum(axis=1, keepdims=True)), rtol=1e-4)
    check_backward(
        lambda x, scale: x * 1 if scale is None else _normalized(link, x, scale),
        (x[:1, :, :2, :2].astype(np.float64), np.linspace(1, 2, 5)),
        np.ones((1, 5, 2, 2)),
        eps=1e-5,
    )


def _normalized(link, x, scale):
    twin = Normalize(5, 20)
    with twin.init_scope():
        twin.__dict__["scale"] = scale
    return twin(x)
