"""`autograd`'s losses: each a Tensor of shape (1,), the mean over the batch."""

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.activation.softmax import log_softmax
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.loss.differences import mean_squared_error
from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy as _softmax_cross_entropy
from cvzoo.functions.math.arithmetic import add, multiply, subtract
from cvzoo.functions.math.exponential import log
from cvzoo.functions.math.sum import sum
from cvzoo.singa.beside import beside, on_host
from cvzoo.singa.tensor_class import Tensor, apply
from cvzoo.typing.aliases import ArrayLike

_SHIFT = 1e-4  # of binary_cross_entropy, to avoid log(0)


def softmax_cross_entropy(x: Tensor, t: Tensor) -> Tensor:
    """(1,): the mean over the batch of -log(softmax(x)[t]).

    x: (B, C) scores
    t: (B,) or (B, 1) class indices 0 to C - 1, or (B, C) weights of the classes; each row is divided by its sum
    Raises ShapeError if they do not fit, ValueRangeError for an invalid class.
    """
    _check_scores("softmax_cross_entropy", x, t)
    return apply(_of_scores, x, on_host(t))


def _of_scores(x: Variable, t: np.ndarray) -> Variable:
    if t.size == x.shape[0]:
        return reshape(_softmax_cross_entropy(x, beside(x, _classes(t, x.shape[1]))), (1,))
    weight = t.astype(x.dtype)
    total = weight.sum(axis=1, keepdims=True)
    if not (total > 0).all() or (weight < 0).any():
        raise ValueRangeError("softmax_cross_entropy: a row of t has no positive weight, or a negative one")
    weight /= total * -x.shape[0]
    return reshape(sum(multiply(log_softmax(x), beside(x, weight))), (1,))


def _classes(t: np.ndarray, n_class: int) -> np.ndarray:
    flat = t.reshape(-1)
    if t.dtype.kind == "f" and (flat != np.trunc(flat)).any():
        raise ValueRangeError("softmax_cross_entropy: t has fractions", expected=f"class numbers 0 to {n_class - 1}")
    if flat.size and not 0 <= flat.min() <= flat.max() < n_class:
        wrong = flat[(flat < 0) | (flat >= n_class)][0]
        raise ValueRangeError("softmax_cross_entropy: no such class", expected=f"0 to {n_class - 1}", got=wrong)
    return flat.astype(np.int32)


def cross_entropy(x: Tensor, t: Tensor) -> Tensor:
    """(1,): the mean over the batch of -sum(t log x).

    x: (B, C) probabilities
    t: (B, C) weights of the classes
    Raises ShapeError if they do not fit.
    """
    _check_alike("cross_entropy", x, t)
    if len(x.shape) != 2:
        raise ShapeError("cross_entropy: x has one row for each image", expected="(B, C)", got=x.shape)
    factor = beside(x, on_host(t) * np.float32(-1 / x.shape[0]))
    return apply(lambda p: reshape(sum(multiply(log(p), factor)), (1,)), x)


def binary_cross_entropy(x: Tensor, t: Tensor) -> Tensor:
    """(1,): the mean over the batch of -sum(t log(x + 0.0001) + (1 - t) log(1.0001 - x)).

    x: (B,) or (B, C) probabilities
    t: x's shape, 0 or 1 or in between
    Raises ShapeError if they do not fit.
    """
    _check_alike("binary_cross_entropy", x, t)
    target = beside(x, on_host(t).astype(np.float32))

    def loss(p: Variable) -> Variable:
        yes = multiply(log(add(p, _SHIFT)), target)
        no = multiply(log(subtract(1 + _SHIFT, p)), 1 - target)
        return reshape(multiply(sum(add(yes, no)), -1 / p.shape[0]), (1,))

    return apply(loss, x)


def mse_loss(x: Tensor, t: Tensor) -> Tensor:
    """(1,): the mean over all elements of (x - t)^2.

    Raises ShapeError if the shapes differ.
    """
    _check_alike("mse_loss", x, t)
    target = beside(x, on_host(t).astype(np.float32))
    return apply(lambda y: reshape(mean_squared_error(y, target), (1,)), x)


def ranking_loss(pos: Tensor, neg: Tensor, M: float = 0.2) -> Tensor:
    """(1,): the mean over the batch of max(0, M - pos + neg).

    Raises ShapeError if the shapes differ.
    """
    _check_alike("ranking_loss", pos, neg)

    def loss(a: Variable, b: Variable) -> Variable:
        return reshape(multiply(sum(relu(add(subtract(b, a), M))), 1 / a.shape[0]), (1,))

    return apply(loss, pos, neg)


def _check_scores(name: str, x: Tensor, t: Variable | ArrayLike) -> None:
    rows, shape = x.shape[:1], on_host(t).shape
    if len(x.shape) != 2 or shape not in (rows, (*rows, 1), x.shape):
        raise ShapeError(
            f"{name}: x and t do not fit", expected="x (B, C), t (B,), (B, 1) or (B, C)", got=f"x {x.shape}, t {shape}"
        )


def _check_alike(name: str, x: Tensor, t: Variable | ArrayLike) -> None:
    if x.shape != on_host(t).shape or not x.shape:
        raise ShapeError(f"{name}: both arguments have one shape", got=f"{x.shape} and {on_host(t).shape}")
