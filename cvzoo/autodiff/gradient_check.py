"""Gradient checks by central differences, of first and second order."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.config.switches import force_backprop_mode
from cvzoo.errors.exceptions import DtypeError, GradientError, ShapeError, explain
from cvzoo.typing.aliases import Array, ArrayLike

_SEED = 20190804
# an input with more elements is checked along random directions and at some elements: of first, of second order
_FULL, _FULL_SECOND = 200, 40
_DIRECTIONS = 4
_SAMPLES = 24


def numerical_grad(
    f: Callable[[], Sequence[Variable | Array]],
    inputs: Sequence[Array],
    grad_outputs: Sequence[Array | None],
    eps: float = 1e-3,
) -> tuple[np.ndarray, ...]:
    """The gradients of sum(gy * y) with respect to `inputs`, by central differences: one array per input.

    f: takes nothing, reads `inputs`, returns a tuple of arrays (or of Variables)
    inputs: float arrays; changed in place meanwhile, and as before afterwards
    grad_outputs: the weights of f's outputs, an array each, or None for an output that does not count
    eps: the step to each side
    """
    for i, x in enumerate(inputs):
        got = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
        if getattr(got, "kind", None) != "f":
            raise DtypeError(f"numerical_grad: input {i} must be an array of floats", got=got)

    def loss() -> float:
        return _weighted(f(), grad_outputs)

    gradients = []
    for x in inputs:
        g = np.empty_like(x)
        for index in np.ndindex(x.shape):
            g[index] = _slope_at(loss, x, index, eps)
        gradients.append(g)
    return tuple(gradients)


def check_backward(
    func: Callable[..., Variable | Sequence[Variable]],
    x_data: Array | Sequence[Array],
    y_grad: Array | Sequence[Array | None] | None = None,
    params: Sequence[Variable] = (),
    *,
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    dtype: npt.DTypeLike | None = None,
    no_grads: Sequence[bool] | None = None,
) -> None:
    """Check the backward of `func` against central differences.

    func: takes Variables, returns a Variable or a tuple of them; random numbers it draws from
        `config.random_generator` are the same in every call
    x_data: its inputs, an array or a sequence of arrays; those of floats are cast to `dtype`
    y_grad: the weights of the outputs, an array or a sequence of arrays; None takes random numbers
    params: Parameters that func reads, checked like inputs; their values and gradients are put back
    dtype: dtype of the computation; float64 by default
    no_grads: True for inputs that have no gradient; by default those that are not floats
    Inputs of up to 200 elements are checked element by element, larger ones along random directions and at some
    elements. The error names the input, the element, both values, and whether `func` is not differentiable there.
    Raises GradientError if a gradient is wrong, missing or of another dtype, or func changes its inputs.
    """
    _check(func, x_data, y_grad, params, eps, atol, rtol, dtype, no_grads, _FULL)


def _check(
    func: Callable[..., Variable | Sequence[Variable]],
    x_data: Array | Sequence[Array],
    y_grad: Array | Sequence[Array | None] | None,
    params: Sequence[Variable],
    eps: float,
    atol: float,
    rtol: float,
    dtype: npt.DTypeLike | None,
    no_grads: Sequence[bool] | None,
    full: int,
) -> None:
    """`check_backward`, with the number of elements up to which an input is checked element by element."""
    dtype = np.dtype("float64" if dtype is None else dtype)
    x_data = _sequence(x_data)
    no_grads = [as_array(x).dtype.kind != "f" for x in x_data] if no_grads is None else list(no_grads)
    if len(no_grads) != len(x_data):
        raise ShapeError("check_backward: one no_grads for each input", expected=len(x_data), got=len(no_grads))
    random = np.random.default_rng(_SEED)
    with _as_dtype(params, dtype), force_backprop_mode():
        xs = [Variable(_cast(x, dtype), requires_grad=not no) for x, no in zip(x_data, no_grads)]
        targets = [(f"input {i}", x) for i, x in enumerate(xs) if x.requires_grad]
        targets += [(f"parameter {p.name or i}", p) for i, p in enumerate(params)]
        state = get_random_state()

        def call() -> tuple[Variable, ...]:
            with using_random_state(state):
                # fresh Variables, so that calls do not share a graph
                return _outputs(func(*[Variable(x.array, requires_grad=x.requires_grad) for x in xs]))

        with using_random_state(state):
            befores = [x.array.copy() for x in xs]
            ys = _outputs(func(*xs))
            gys = _weights(ys, y_grad, dtype, random)
            pairs = [(y, gy) for y, gy in zip(ys, gys) if gy is not None]
            copies = [gy.copy() for _, gy in pairs]
            gradients = grad([y for y, _ in pairs], [x for _, x in targets], [gy for _, gy in pairs])
        _must_be_unchanged([x.array for x in xs], befores, "input")
        _must_be_unchanged([gy for _, gy in pairs], copies, "gradient of output")
        # frees the graph before the function is called many more times
        del ys, pairs
        for (name, x), gx in zip(targets, gradients):
            _check_one(lambda: _weighted(call(), gys), name, x.array, gx, eps, atol, rtol, random, full)


def check_double_backward(
    func: Callable[..., Variable | Sequence[Variable]],
    x_data: Array | Sequence[Array],
    y_grad: Array | Sequence[Array | None] | None = None,
    x_grad_grad: Array | Sequence[Array | None] | None = None,
    params: Sequence[Variable] = (),
    *,
    params_grad_grad: Array | Sequence[Array | None] | None = None,
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    dtype: npt.DTypeLike | None = None,
    no_grads: Sequence[bool] | None = None,
) -> None:
    """Check the second derivatives of `func` against central differences.

    The function (x, gy, params) -> gx is checked as in `check_backward`, whose arguments these are; element by element
    are checked inputs of up to 40 elements, as each takes several times as long. Before that the gradients must be the
    same whether they can be differentiated again or not: a function may compute them in two ways.
    x_grad_grad, params_grad_grad: the weights of the first gradients of the inputs that have one, and of the
        parameters; None takes random numbers
    Raises GradientError if a second derivative is wrong or missing.
    """
    dtype = np.dtype("float64" if dtype is None else dtype)
    x_data = tuple(_cast(x, dtype) for x in _sequence(x_data))
    params = tuple(params)
    no_grads = [x.dtype.kind != "f" for x in x_data] if no_grads is None else list(no_grads)
    random = np.random.default_rng(_SEED + 1)
    with _as_dtype(params, dtype), force_backprop_mode(), using_random_state(get_random_state()):
        ys = _outputs(func(*[Variable(x, requires_grad=not no) for x, no in zip(x_data, no_grads)]))
        gys = _weights(ys, y_grad, dtype, random)
        del ys
    counted = [i for i, gy in enumerate(gys) if gy is not None]

    def first_order(*inputs: Variable, double: bool = True) -> tuple[Variable, ...]:
        xs, weights = inputs[: len(x_data)], inputs[len(x_data) :]
        outputs = _outputs(func(*xs))
        targets = [x for x, no in zip(xs, no_grads) if not no] + list(params)
        gxs = grad([outputs[i] for i in counted], targets, weights, enable_double_backprop=double)
        # a gradient of None (no dependence) becomes zeros, so that the number of outputs is fixed
        return tuple(
            Variable(np.zeros_like(x.array), requires_grad=False) if gx is None else gx for x, gx in zip(targets, gxs)
        )

    state = get_random_state()
    with _as_dtype(params, dtype), force_backprop_mode():
        xs = [Variable(x, requires_grad=not no) for x, no in zip(x_data, no_grads)]
        both = []
        # a function may have a kernel for its gradient and a differentiable formula besides: both must agree
        for double in (False, True):
            with using_random_state(state):
                gxs = first_order(*xs, *[Variable(gys[i], requires_grad=False) for i in counted], double=double)
                both.append([gx.array for gx in gxs])
    for i, (once, twice) in enumerate(zip(*both)):
        excess = _excess(twice, once, atol, rtol)
        if excess.size and excess.max() > 0:
            worst = _index(int(excess.argmax()), once.shape)
            raise GradientError(
                f"gradient {i} differs with enable_double_backprop=True, at {worst}",
                expected=f"{once[worst]:.9g}, as in an ordinary backward",
                got=f"{twice[worst]:.9g}",
            )

    n_x = len(no_grads) - sum(no_grads)
    weights: list[Array | None] = [None] * (n_x + len(params))
    if x_grad_grad is not None:
        weights[:n_x] = _sequence(x_grad_grad)
    if params_grad_grad is not None:
        weights[n_x:] = _sequence(params_grad_grad)
    if len(weights) != n_x + len(params):
        raise ShapeError("check_double_backward: one grad_grad for each gradient", expected=n_x, got=len(weights))
    weights = [
        random.normal(size=x.shape) if w is None else w
        for w, x in zip(weights, [x for x, no in zip(x_data, no_grads) if not no] + [p.array for p in params])
    ]
    inputs = (*x_data, *[gys[i] for i in counted])
    without = [*no_grads, *[False] * len(counted)]
    _check(first_order, inputs, weights, params, eps, atol, rtol, dtype, without, _FULL_SECOND)


def assert_allclose(
    actual: Variable | ArrayLike, expected: Variable | ArrayLike, *, atol: float = 1e-5, rtol: float = 1e-4
) -> None:
    """Check that |actual - expected| <= atol + rtol * |expected| everywhere; NaN equals NaN.

    actual, expected: arrays, Variables or numbers of one shape
    Raises AssertionError with the number of elements that differ and the largest difference.
    """
    actual, expected = np.asarray(as_array(actual)), np.asarray(as_array(expected))
    if actual.shape != expected.shape:
        raise AssertionError(explain("arrays of different shapes", expected=expected.shape, got=actual.shape))
    bad = ~np.isclose(actual, expected, atol=atol, rtol=rtol, equal_nan=True)
    if bad.any():
        with np.errstate(all="ignore"):
            excess = np.where(bad, np.nan_to_num(np.abs(actual - expected) - rtol * np.abs(expected), nan=np.inf), -1)
        worst = _index(int(excess.argmax()), actual.shape)
        raise AssertionError(
            explain(
                f"{bad.sum()} of {bad.size} elements differ (atol {atol:g}, rtol {rtol:g}), most at {worst}",
                expected=repr(expected[worst]),
                got=repr(actual[worst]),
            )
        )


def _check_one(
    loss: Callable[[], float],
    name: str,
    x: np.ndarray,
    grad: Variable | None,
    eps: float,
    atol: float,
    rtol: float,
    random: np.random.Generator,
    full: int,
) -> None:
    missing = grad is None
    gx = np.zeros_like(x) if grad is None else grad.array
    if gx.dtype != x.dtype:
        raise GradientError(f"the gradient of {name} has another dtype", expected=x.dtype, got=gx.dtype)
    if x.size <= full:
        indexes = list(np.ndindex(x.shape))
    else:
        # the largest gradient, where a wrong factor shows most, and random elements
        flat = {int(np.abs(gx).argmax()), *random.choice(x.size, _SAMPLES, replace=False).tolist()}
        indexes = [_index(i, x.shape) for i in sorted(flat)]
    numbers = np.array([_slope_at(loss, x, index, eps) for index in indexes])
    values = np.array([gx[index] for index in indexes], "float64")
    excess = _excess(values, numbers, atol, rtol)
    if excess.size and excess.max() > 0:
        worst = int(excess.argmax())
        raise _error(loss, name, x, indexes[worst], eps, values[worst], numbers[worst], missing, (excess > 0).sum())
    if x.size <= full:
        return
    for _ in range(_DIRECTIONS):
        direction = random.normal(size=x.shape)
        direction /= np.sqrt(np.square(direction).sum())
        number = _slope_along(loss, x, direction, eps)
        value = float((gx * direction).sum())
        if _excess(value, number, atol, rtol) > 0:
            raise GradientError(
                f"the gradient of {name} is {'missing' if missing else 'wrong'} along a random direction, "
                f"shape {x.shape}",
                expected=f"{number:.9g} by central differences",
                got=f"{value:.9g}",
            )


def _excess(value: Array | float, number: Array | float, atol: float, rtol: float) -> Array:
    """The difference in excess of the tolerance; infinite for NaN."""
    return np.nan_to_num(np.abs(value - number) - atol - rtol * np.abs(number), nan=np.inf)


def _error(
    loss: Callable[[], float],
    name: str,
    x: np.ndarray,
    index: tuple[int, ...],
    eps: float,
    value: float,
    number: float,
    missing: bool,
    count: int,
) -> GradientError:
    left, right = _one_sided(loss, x, index, eps)
    near_left, near_right = _one_sided(loss, x, index, eps / 8)
    # one-sided slopes of a smooth function approach each other as the step shrinks, those at a kink do not
    kink = abs(near_right - near_left) > 1e-3 * max(abs(left), abs(right)) and abs(near_right - near_left) > 0.5 * abs(
        right - left
    )
    return GradientError(
        f"the gradient of {name} is {'missing (None)' if missing else 'wrong'} at {index}, where x is {x[index]:.9g}; "
        f"{count} elements differ",
        expected=f"{number:.9g} by central differences",
        got=f"{value:.9g}",
        hint=f"other inputs: not differentiable here, slopes {near_left:.6g} and {near_right:.6g}" if kink else None,
    )


@contextlib.contextmanager
def _moved(x: np.ndarray, index: tuple[int, ...], by: float) -> Iterator[None]:
    before = x[index]
    x[index] = before + by
    try:
        yield
    finally:
        x[index] = before


def _at(loss: Callable[[], float], x: np.ndarray, index: tuple[int, ...], by: float) -> float:
    with _moved(x, index, by):
        return loss()


def _slope_at(loss: Callable[[], float], x: np.ndarray, index: tuple[int, ...], eps: float) -> float:
    return (_at(loss, x, index, eps) - _at(loss, x, index, -eps)) / (2 * eps)


def _one_sided(loss: Callable[[], float], x: np.ndarray, index: tuple[int, ...], eps: float) -> tuple[float, float]:
    here = loss()
    return (here - _at(loss, x, index, -eps)) / eps, (_at(loss, x, index, eps) - here) / eps


def _slope_along(loss: Callable[[], float], x: np.ndarray, direction: np.ndarray, eps: float) -> float:
    before = x.copy()
    try:
        x[...] = before + eps * direction
        high = loss()
        x[...] = before - eps * direction
        low = loss()
    finally:
        x[...] = before
    return (high - low) / (2 * eps)


def _weighted(ys: Any, gys: Sequence[Array | None]) -> float:
    outputs: Sequence[Variable | Array] = ys if isinstance(ys, tuple | list) else (ys,)
    return float(
        sum(np.multiply(as_array(y), gy, dtype="float64").sum() for y, gy in zip(outputs, gys) if gy is not None)
    )


def _weights(
    ys: Sequence[Variable],
    y_grad: Array | Sequence[Array | None] | None,
    dtype: npt.DTypeLike,
    random: np.random.Generator,
) -> list[Array | Any]:  # Any stands for None
    """The weight of each output; None for outputs that are not floats or that the caller leaves out."""
    if y_grad is None:
        return [random.normal(size=y.shape).astype(dtype) if y.dtype.kind == "f" else None for y in ys]
    gys = _sequence(y_grad)
    if len(gys) != len(ys):
        raise ShapeError("gradient check: one y_grad for each output", expected=len(ys), got=len(gys))
    weights = [None if gy is None else _cast(gy, dtype) for gy in gys]
    for i, (y, gy) in enumerate(zip(ys, weights)):
        if gy is not None and gy.shape != y.shape:
            raise ShapeError(f"gradient check: y_grad {i} has another shape", expected=y.shape, got=gy.shape)
    return weights


def _outputs(ys: object) -> tuple[Variable, ...]:
    outputs: tuple[Any, ...] = tuple(ys) if isinstance(ys, tuple | list) else (ys,)
    for y in outputs:
        if not isinstance(y, Variable):
            raise DtypeError("gradient check: func must return Variables", got=type(y).__name__)
    return outputs


def _must_be_unchanged(arrays: Sequence[Array], befores: Sequence[Array], what: str) -> None:
    for i, (array, before) in enumerate(zip(arrays, befores)):
        if not np.array_equal(array, before, equal_nan=array.dtype.kind == "f"):
            raise GradientError(f"the function changes its {what} {i} in place", hint="write into a new array")


def _sequence(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _cast(x: Variable | Array, dtype: npt.DTypeLike) -> np.ndarray:
    x = np.asarray(as_array(x))
    return x.astype(dtype) if x.dtype.kind == "f" else x.copy()


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))


@contextlib.contextmanager
def _as_dtype(params: Sequence[Variable], dtype: npt.DTypeLike) -> Iterator[None]:
    befores = [(p.array, p.grad_var) for p in params]
    try:
        for p in params:
            p.array = _cast(p.array, dtype)
            p.cleargrad()
        yield
    finally:
        for p, (array, gradient) in zip(params, befores):
            p.array = array
            p.cleargrad()
            if gradient is not None:
                p.grad_var = gradient
