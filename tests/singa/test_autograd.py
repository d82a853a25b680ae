"""Functions under SINGA's names: values, gradients, and what they refuse."""

import threading

import numpy as np
import pytest

from cvzoo.config import switches
from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.singa import autograd, tensor
from cvzoo.singa.tensor import Tensor

X = np.array([[0.5, -1.5, 0.25], [2.0, -0.1, 0.75]], np.float32)
Y = np.array([[1.0, 0.5, 2.0]], np.float32)
P = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]], np.float32)
ONE = np.float32(1)


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


UNARY = [
    ("relu", lambda x: np.maximum(x, 0), X),
    ("leakyrelu", lambda x: np.where(x > 0, x, 0.01 * x), X),
    ("elu", lambda x: np.where(x > 0, x, np.expm1(x)), X),
    ("selu", lambda x: 1.0507 * np.where(x > 0, x, 1.67326 * np.expm1(x)), X),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), X),
    ("hardsigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1), X),
    ("tanh", np.tanh, X),
    ("softmax", softmax, X),
    ("softplus", lambda x: np.log1p(np.exp(x)), X),
    ("softsign", lambda x: x / (1 + np.abs(x)), X),
    ("gelu", None, X),
    ("identity", lambda x: x * 1.0, X),
    ("exp", np.exp, X),
    ("log", np.log, P),
    ("sqrt", np.sqrt, P),
    ("abs", np.abs, X),
    ("negative", np.negative, X),
    ("reciprocal", np.reciprocal, X),
    ("erf", None, X),
    ("cos", np.cos, X),
    ("sin", np.sin, X),
    ("tan", np.tan, P),
    ("cosh", np.cosh, X),
    ("sinh", np.sinh, X),
    ("acos", np.arccos, P),
    ("asin", np.arcsin, P),
    ("atan", np.arctan, X),
    ("acosh", np.arccosh, P + 1),
    ("asinh", np.arcsinh, X),
    ("atanh", np.arctanh, P),
]


def gradient(function, x, step=1e-3):
    """By differences, of the sum of cos(function)."""
    found = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.astype(np.float64)
            moved[index] += sign * step
            ends.append(np.cos(tensor.to_numpy(function(Tensor(data=moved))).astype(np.float64)).sum())
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize(("name", "formula", "x"), UNARY)
def test_values_and_gradients_of_elements(name, formula, x):
    function = getattr(autograd, name)
    if formula is not None:
        np.testing.assert_allclose(tensor.to_numpy(function(Tensor(data=x))), formula(x), rtol=1e-5, atol=1e-6)
    autograd.training = True
    W = Tensor(data=x, stores_grad=True)
    ((_, grad),) = autograd.backward(tensor.sum(autograd.cos(function(W))))
    np.testing.assert_allclose(tensor.to_numpy(grad), gradient(function, x), rtol=2e-2, atol=2e-3)


def test_values_of_several():
    x, y, p = (Tensor(data=each) for each in (X, Y, P))
    table = [
        (autograd.add(x, y), X + Y),
        (autograd.sub(x, y), X - Y),
        (autograd.mul(x, y), X * Y),
        (autograd.div(x, y), X / Y),
        (autograd.pow(p, y), P**Y),
        (autograd.add_all(x, y, p), X + Y + P),
        (autograd.sum(x, p), X + P),
        (autograd.mean(x, p), (X + P) / 2),
        (autograd.max(x, p), np.maximum(X, P)),
        (autograd.min(x, p), np.minimum(X, P)),
        (autograd.less(x, p), X < P),
        (autograd.greater(x, p), X > P),
        (autograd.equal(x, x), X == X),
        (autograd.clip(x, -0.5, 0.5), np.clip(X, -0.5, 0.5)),
        (autograd.prelu(x, y), np.where(X > 0, X, Y * X)),
        (autograd.sign(x), np.sign(X)),
        (autograd.ceil(x), np.ceil(X)),
        (autograd.floor(x), np.floor(X)),
        (autograd.round(Tensor(data=np.array([0.5, -0.5, 1.4]))), [1, -1, 1]),
        (autograd.matmul(x, Tensor(data=Y.T)), X @ Y.T),
        (autograd.gemm(x, y, transB=1), X @ Y.T),
        (autograd.gemm(x, y, Tensor(data=ONE.reshape(1, 1)), 2.0, 3.0, 0, 1), 2 * X @ Y.T + 3),
        (autograd.cossim(x, p), (X * P).sum(1) / np.sqrt((X * X).sum(1) * (P * P).sum(1))),
        (autograd.reshape(x, (3, 2)), X.reshape(3, 2)),
        (autograd.transpose(x, (1, 0)), X.T),
        (autograd.flatten(Tensor(data=X[None]), 1), X.reshape(1, 6)),
        (autograd.flatten(Tensor(data=X[None]), 0), X.reshape(1, 6)),
        (autograd.flatten(Tensor(data=X[None]), -1), X),
        (autograd.unsqueeze(x, 0), X[None]),
        (autograd.unsqueeze(x, [0, 3]), X[None, :, :, None]),
        (autograd.squeeze(Tensor(data=X[None]), 0), X),
        (autograd.squeeze(Tensor(data=X[None])), X),
        (autograd.tile(x, [2, 1]), np.tile(X, (2, 1))),
        (autograd.cat((x, p), 1), np.concatenate([X, P], 1)),
        (autograd.split(x, 1, [1, 2])[1], X[:, 1:]),
        (autograd.split(x, 0, None, 2)[0], X[:1]),
        (autograd.slice(x, [0, 2], [2, 0], steps=[1, -1]), X[0:2, 2:0:-1]),
        (autograd.slice(x, [1], [3], axes=[1]), X[:, 1:3]),
        (autograd.gather(x, 1, [2, 0]), X[:, [2, 0]]),
        (autograd.where(x, p, X > 0), np.where(X > 0, X, P)),
        (autograd.reduce_sum(x), X.sum(keepdims=True)),
        (autograd.reduce_sum(x, [1], 0), X.sum(1)),
        (autograd.reduce_mean(x, [0]), X.mean(0, keepdims=True)),
        (autograd.embedding(Tensor(data=np.array([[1, 0]])), x), X[[[1, 0]]]),
        (autograd.globalaveragepool(Tensor(data=X.reshape(1, 2, 1, 3))), X.mean(1).reshape(1, 2, 1, 1)),
        (autograd.cast(x, tensor.int32), np.trunc(X)),
        (autograd.add_bias(x, Tensor(data=Y[0])), X + Y),
        (autograd.add_bias(x, y), X + Y),
        (autograd.add_bias(x, Tensor(data=np.array([1.0, 2.0])), axis=1), X + [[1], [2]]),
    ]
    for k, (found, wanted) in enumerate(table):
        assert isinstance(found, Tensor)
        assert found.shape == np.shape(wanted), k
        np.testing.assert_allclose(tensor.to_numpy(found), wanted, rtol=1e-5, err_msg=str(k))


def of_labels(x, t):
    return -np.log(softmax(x))[np.arange(len(t)), t].mean()


@pytest.mark.parametrize(
    ("t", "wanted"),
    [
        (np.array([2, 0]), of_labels(X, [2, 0])),
        (np.array([[2], [0]]), of_labels(X, [2, 0])),
        (np.array([2.0, 0.0]), of_labels(X, [2, 0])),
        (np.array([[0, 0, 1], [1, 0, 0]]), of_labels(X, [2, 0])),
        (np.array([[0, 0, 5.0], [0.5, 0, 0]]), of_labels(X, [2, 0])),
        (np.array([[1, 0, 3.0], [1, 0, 0]]), (-np.log(softmax(X)) * [[0.25, 0, 0.75], [1, 0, 0]]).sum() / 2),
    ],
)
def test_softmax_cross_entropy_takes_numbers_and_rows(t, wanted):
    autograd.training = True
    x = Tensor(data=X, stores_grad=True)
    loss = autograd.softmax_cross_entropy(x, Tensor(data=t))
    assert loss.shape == (1,)
    assert loss.item() == pytest.approx(wanted, rel=1e-5)
    ((_, grad),) = autograd.backward(loss)
    rows = np.eye(3)[t.astype(int).reshape(-1)] if t.size == 2 else t / t.sum(1, keepdims=True)
    np.testing.assert_allclose(tensor.to_numpy(grad), (softmax(X) - rows) / 2, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("t", "error"),
    [
        (np.array([3, 0]), ValueRangeError),
        (np.array([-1, 0]), ValueRangeError),
        (np.array([0.5, 0]), ValueRangeError),
        (np.zeros((2, 3)), ValueRangeError),
        (np.array([0, 1, 2]), ShapeError),
        (np.zeros((3, 2)), ShapeError),
    ],
)
def test_wrong_labels_are_refused(t, error):
    with pytest.raises(error, match="softmax_cross_entropy"):
        autograd.softmax_cross_entropy(Tensor(data=X), Tensor(data=t))


LOSSES = [
    ("mse_loss", (X, P), lambda x, t: ((x - t) ** 2).mean()),
    ("cross_entropy", (P, np.abs(X)), lambda x, t: -(t * np.log(x)).sum() / 2),
    (
        "binary_cross_entropy",
        (P, (X > 0).astype(float)),
        lambda x, t: -(t * np.log(x + 1e-4) + (1 - t) * np.log(1.0001 - x)).sum() / 2,
    ),
    ("ranking_loss", (X[:, 0], P[:, 0]), lambda a, b: np.maximum(0, 0.2 - a + b).mean()),
]


@pytest.mark.parametrize(("name", "arrays", "formula"), LOSSES)
def test_other_losses(name, arrays, formula):
    function = getattr(autograd, name)
    first, second = (Tensor(data=each) for each in arrays)
    loss = function(first, second)
    assert loss.shape == (1,)
    assert loss.item() == pytest.approx(formula(*[np.asarray(each, np.float32) for each in arrays]), rel=1e-5)
    with pytest.raises(ShapeError, match="one shape"):
        function(first, Tensor((7, 3)))
    autograd.training = True
    W = Tensor(data=arrays[0], stores_grad=True)
    pairs = list(autograd.backward(autograd.cos(function(W, second))))
    found = gradient(lambda x: function(x, second), arrays[0])
    np.testing.assert_allclose(tensor.to_numpy(pairs[0][1]), found, rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: autograd.add_bias(x, Tensor((2,))),
        lambda x: autograd.add_bias(x, Tensor((3, 3))),
        lambda x: autograd.add_bias(x, Tensor((3,)), axis=2),
        lambda x: autograd.add_bias(Tensor((2, 3, 4)), Tensor((3,))),
        lambda x: autograd.matmul(x, Tensor((2, 3))),
        lambda x: autograd.split(x, 1, [1, 1]),
        lambda x: autograd.cossim(x, Tensor((2, 4))),
        lambda x: autograd.cross_entropy(Tensor((3,)), Tensor((3,))),
    ],
)
def test_shapes_that_do_not_fit_are_refused(use):
    with pytest.raises(ShapeError):
        use(Tensor(data=X))


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueRangeError):
        autograd.flatten(Tensor(data=X), 3)
    with pytest.raises(ValueRangeError):
        autograd.globalaveragepool(Tensor((1, 2, 3, 4)), "channels_last")


@pytest.mark.parametrize(
    ("use", "error"),
    [],
)
def test_modes_and_places_that_there_are_not_are_refused(use, error):
    with pytest.raises(error):
        use(Tensor(data=X))


def test_dropout_drops_while_training_and_keeps_the_mean():
    x = Tensor((200, 50)).set_value(1.0)
    assert (tensor.to_numpy(autograd.dropout(x, 0, 0.25)) == 1).all()
    autograd.training = True
    y = tensor.to_numpy(autograd.dropout(x, 0, 0.25))
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.75)}
    assert abs(y.mean() - 1) < 0.02


def test_training_is_an_attribute_of_the_module():
    W = Tensor(data=X, stores_grad=True)
    assert autograd.training is False
    assert autograd.relu(W).creator is None
    autograd.training = True
    assert autograd.relu(W).creator is not None
    assert switches.train  # cvzoo's own switches stay as they were
    assert switches.enable_backprop


def test_training_counts_in_all_threads():
    autograd.training = True
    found = []
    thread = threading.Thread(target=lambda: found.append(autograd.relu(Tensor(data=X, stores_grad=True)).creator))
    thread.start()
    thread.join()
    assert found[0] is not None


def test_every_name_is_there_and_described():
    for name in autograd.__all__:
        assert getattr(autograd, name).__doc__
