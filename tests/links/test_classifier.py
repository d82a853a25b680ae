"""A predictor with a loss."""

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors import ValueRangeError
from cvzoo.reporting import Reporter

X = np.float32([[1, 0, 0], [0, 3, 0]])
T = np.int32([0, 2])


def identity():
    return L.Linear(3, 3, initialW=np.eye(3, dtype=np.float32), nobias=True)


def test_it_gives_the_loss_and_reports_it_with_the_accuracy():
    model, reporter = L.Classifier(identity()), Reporter()
    reporter.add_observer("main", model)
    with reporter:
        loss = model(X, T)
    assert float(loss.array) == pytest.approx(float(F.softmax_cross_entropy(X, T).array))
    assert reporter.observation == {"main/loss": loss.array, "main/accuracy": 0.5}
    assert model.loss is loss
    assert float(model.accuracy.array) == 0.5
    np.testing.assert_array_equal(model.y.array, X)


def test_accuracy_can_be_left_out():
    model, reporter = L.Classifier(identity(), accfun=lambda y, t: pytest.fail("asked")), Reporter()
    reporter.add_observer("main", model)
    model.compute_accuracy = False
    with reporter:
        model(X, T)
    assert list(reporter.observation) == ["main/loss"]
    assert model.accuracy is None


@pytest.mark.parametrize(
    ("key", "args", "kwargs"),
    [(-1, (X, T), {}), (1, (X, T), {}), (0, (T, X), {}), ("t", (X,), {"t": T}), ("t", (), {"x": X, "t": T})],
)
def test_labels_are_where_label_key_says(key, args, kwargs):
    model = L.Classifier(identity(), label_key=key)
    assert float(model(*args, **kwargs).array) == pytest.approx(float(F.softmax_cross_entropy(X, T).array))


@pytest.mark.parametrize(
    ("key", "args", "kwargs"), [(-1, (), {}), (2, (X, T), {}), (-3, (X, T), {}), ("t", (X, T), {"y": T})]
)
def test_labels_that_are_not_there_are_told(key, args, kwargs):
    with pytest.raises(ValueRangeError, match="Classifier: no"):
        L.Classifier(identity(), label_key=key)(*args, **kwargs)


def test_other_losses_can_be_learnt():
    model = L.Classifier(identity(), lossfun=F.mean_squared_error)
    model.compute_accuracy = False
    model.cleargrads()
    model(X, X + 1).backward()
    assert model.predictor.W.grad is not None
    assert float(model.loss.array) == 1


def test_its_predictor_is_a_child():
    assert [path for path, _ in L.Classifier(identity()).namedparams()] == ["/predictor/W"]
