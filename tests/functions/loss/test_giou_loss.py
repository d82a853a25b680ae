"""The loss of boxes by their generalized IoU."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.loss.giou_loss import giou_loss
from cvzoo.geometry.bbox_giou import bbox_giou

random = np.random.default_rng(3)
LOW = random.uniform(0, 10, (6, 2))
BBOX = np.concatenate([LOW, LOW + random.uniform(2, 9, (6, 2))], axis=1)
TRUE = BBOX + random.normal(0, 1, BBOX.shape)


@pytest.mark.parametrize(("reduce", "wanted"), [("no", lambda x: x), ("sum", np.sum), ("mean", np.mean)])
def test_it_is_one_less_the_generalized_iou(reduce, wanted):
    loss = 1 - np.diag(bbox_giou(BBOX, TRUE))
    np.testing.assert_allclose(giou_loss(BBOX, TRUE, reduce=reduce).array, wanted(loss), rtol=1e-6)


def test_its_gradients_are_right_twice():
    check_backward(lambda bbox: giou_loss(bbox, TRUE), BBOX)
    check_double_backward(lambda bbox: giou_loss(bbox, TRUE), BBOX)


def test_equal_boxes_cost_nothing_and_distant_ones_pull():
    np.testing.assert_allclose(giou_loss(BBOX, BBOX, reduce="no").array, 0, atol=1e-6)
    far = Variable(np.array([[0, 0, 1, 1]], "f"))
    loss = giou_loss(far, np.array([[0, 9, 1, 10]], "f"))
    np.testing.assert_allclose(loss.array, 1.8, rtol=1e-5)
    loss.backward()
    assert far.grad[0, 3] < 0  # it grows to the right


def test_empty_boxes_and_no_boxes_have_finite_losses():
    bbox = Variable(np.array([[5, 5, 5, 5], [5, 5, 4, 4]], "f"))
    loss = giou_loss(bbox, bbox.array.copy())
    loss.backward()
    assert np.isfinite(loss.array)
    assert np.isfinite(bbox.grad).all()
    assert giou_loss(np.zeros((0, 4), "f"), np.zeros((0, 4), "f")).array == 0


def test_bad_calls_teach():
    with pytest.raises(ShapeError, match="one shape"):
        giou_loss(BBOX, TRUE[:2])
    with pytest.raises(ShapeError, match=r"\(R, 4\)"):
        giou_loss(BBOX.T, TRUE.T)
    with pytest.raises(DtypeError):
        giou_loss(BBOX.astype(int), TRUE)
