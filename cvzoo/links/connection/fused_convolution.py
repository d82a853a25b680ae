"""A convolution layer, its batch normalization, a sum and an activation fused to one kernel, for inference."""

import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

import numpy as np

from cvzoo.autodiff.function_hook import this_thread
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import scaled_filters
from cvzoo.config.switches import switches
from cvzoo.functions.activation.relu import leaky_relu, relu, relu6
from cvzoo.functions.activation.sigmoid import hard_sigmoid, hard_swish, sigmoid, silu, tanh
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d
from cvzoo.links.connection.batch_normalization import BatchNormalization, FrozenBatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.link import Link
from cvzoo.links.link_hook import between_hooks
from cvzoo.typing.aliases import Array

# what weights in a kernel's format are computed from
Source: TypeAlias = Parameter | Array | Link | float | None


def folded(
    W: Parameter, name: Hashable, sources: tuple[Source, ...], make: Callable[[], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """make(), and a table for copies of it in the kernels' formats; cached in the prepared weights of `W` as `name`.

    sources: what else it is computed from: parameters, arrays of one dimension, numbers, links, None

    It is computed again when W or a source changes. A parameter's own table of prepared weights is discarded when a
    caller reads its `array` and might write to it (until then it is read-only, so that a write through an older handle
    fails). Running statistics are plain arrays that callers may write to, so their bytes are compared; on a GPU they
    are compared by identity, since reading them would synchronize at every layer: only the layer that learns them
    writes to them in place, and calls `touch()` of its parameters.
    """
    marks = tuple(map(_mark, sources))
    prepared = W.packs()
    cached = None if prepared is None else prepared.made.get(name)
    if cached is None or cached[0] != marks:
        cached = marks, sources, (*make(), PreparedWeights())  # keeps sources alive, for their ids
        if prepared is not None:
            prepared.made[name] = cached
    return cached[2]


def _mark(source: object) -> object:
    """A value that is equal as long as the source is unchanged."""
    if isinstance(source, Parameter):
        table = source.packs()
        return object() if table is None else table.mark  # in training parameters change all the time
    if isinstance(source, np.ndarray):
        return source.tobytes()
    return source if isinstance(source, int | float | None) else id(source)


Activ = Callable[[Variable], Variable]
BatchNorm: TypeAlias = BatchNormalization | FrozenBatchNormalization


def leaky(x: Variable | Array) -> Variable:
    """x where it is positive, else x / 10: darknet's leaky ReLU."""
    return leaky_relu(x, 0.1)


def hard_gate(x: Variable | Array) -> Variable:
    """min(max(x / 6 + 0.5, 0), 1): the hard sigmoid of MobileNetV3."""
    return hard_sigmoid(x, 1 / 6)


# function: (the backends' kind, alpha, beta)
_KERNELS: dict[Activ, tuple[str, float, float]] = {
    hard_gate: ("hard_sigmoid", 1 / 6, 0.5),
    hard_swish: ("hard_swish", 1 / 6, 0.5),
    leaky: ("leaky_relu", 0.1, 0.0),
    relu: ("relu", 0.0, 0.0),
    relu6: ("clip", 0.0, 6.0),
    sigmoid: ("sigmoid", 0.0, 0.0),
    silu: ("swish", 1.0, 0.0),
    tanh: ("tanh", 0.0, 0.0),
}
_ACTIVS = {kernel: activ for activ, kernel in _KERNELS.items()}


def fused_activation(activ: Activ | None) -> tuple[str | None, float, float] | None:
    """(activation, alpha, beta) as `fused_convolution_2d` takes them; None if no kernel has `activ`."""
    return (None, 0.0, 0.0) if activ is None else _KERNELS.get(activ)


def can_fold(conv: Convolution2D, norm: Link) -> bool:
    """Whether `fused_convolution` may replace norm(conv(x)): no gradients are computed, and statistics are fixed."""
    if switches.enable_backprop or conv.W._array is None:
        return False
    if "_hooks" in norm.__dict__ or (conv.kernel is None and ("_hooks" in conv.__dict__ or this_thread.link_hooks)):
        return False
    if isinstance(norm, FrozenBatchNormalization):
        return True
    return (
        isinstance(norm, BatchNormalization)
        and not switches.train
        and norm.avg_mean is not None
        and norm.gamma is not None
        and norm.beta is not None
    )


def fused_convolution(conv: Convolution2D, norm: BatchNorm | Any = None) -> Callable[..., Variable]:
    """The function of x that is activation(norm(conv(x)) + add), by the layer's own kernel if it has one (see
    `quantize`): call it with x (B, in_channels, H, W) and, as in `fused_convolution_2d`, add, activation, alpha, beta.

    conv: an initialized convolution
    norm: a batch normalization with fixed statistics (see `can_fold`), or None
    """
    is_hooked = "_hooks" in conv.__dict__ or this_thread.link_hooks
    if conv.kernel is None:
        return functools.partial(_one_by_one, conv, norm) if is_hooked else float_convolution(conv, norm)
    run: Callable[..., Variable] = functools.partial(conv.kernel.convolve, conv, norm)
    if is_hooked:
        return lambda x, **settings: between_hooks(conv, functools.partial(run, **settings), (x,), {})
    return run


def _one_by_one(
    conv: Convolution2D,
    norm: BatchNorm | None,
    x: Variable | Array,
    *,
    add: Variable | Array | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Variable:
    """The same layer by layer: hooks see what each returns."""
    h = conv(x)
    h = h if norm is None else norm(h)
    h = h if add is None else h + add
    return h if activation is None else _ACTIVS[activation, alpha, beta](h)


def float_convolution(conv: Convolution2D, norm: BatchNorm | None) -> Callable[..., Variable]:
    """The same in float32, ignoring the layer's kernel."""
    W, b, pack = _scaled_filters_of(conv, norm)
    return functools.partial(
        fused_convolution_2d,
        W=W,
        b=b,
        stride=conv.stride,
        pad=conv.pad,
        dilate=conv.dilate,
        groups=conv.groups,
        pack=pack,
    )


def filters_of(
    conv: Convolution2D, norm: BatchNorm | None
) -> tuple[Variable | Array, Variable | Array | None, PreparedWeights | None]:
    """W (O, C / groups, KH, KW) and b (O,) or None of norm(conv(x)), and the cache for copies of that W."""
    if norm is None:
        return conv.W, conv.b, conv.W.packs()
    return folded(conv.W, ("filters", id(norm)), _sources(conv, norm), lambda: _product(conv, norm))


def _scaled_filters_of(
    conv: Convolution2D, norm: BatchNorm | None
) -> tuple[Variable | Array, Variable | Array | None, PreparedWeights | None]:
    """The same, but W as it is if its cache has a scale: the product is not kept next to its reordered copies."""
    if norm is None or type(conv.W._array) is not np.ndarray:  # kernels of a GPU do not know the scale
        return filters_of(conv, norm)
    scale, b, pack = folded(conv.W, ("scale of filters", id(norm)), _sources(conv, norm), lambda: _factors(conv, norm))
    pack.scale = scale
    return conv.W, b, pack


def factors_of(
    conv: Convolution2D, norm: BatchNorm | None
) -> tuple[np.ndarray | None, Variable | Array | None, PreparedWeights | None]:
    """factor (O,) float64 or None and b (O,) or None, so that norm(conv(x)) is factor * (W * x) + b; and the cache
    for copies of W that depend on the factors.
    """
    if norm is None:
        return None, conv.b, conv.W.packs()
    return folded(conv.W, ("factors", id(norm)), _sources(conv, norm), lambda: _factors(conv, norm))


def _sources(conv: Convolution2D, norm: BatchNorm) -> tuple[Source, ...]:
    return norm, norm.gamma, norm.beta, norm.avg_mean, norm.avg_var, norm.eps, conv.b


def _factors(conv: Convolution2D, norm: BatchNorm) -> tuple[np.ndarray, np.ndarray]:
    # in float64: one rounding instead of four
    xp = backend_of(norm.avg_var).xp
    # 1e-30 prevents a division by zero where eps is 0, as for fixed statistics that are not folded
    scale = _array(norm.gamma).astype(np.float64) / xp.sqrt(norm.avg_var.astype(np.float64) + max(norm.eps, 1e-30))
    shift = 0.0 if conv.b is None else _array(conv.b).astype(np.float64)
    b = _array(norm.beta) + (shift - norm.avg_mean) * scale
    return scale, b.astype(conv.W._array.dtype)


def _product(conv: Convolution2D, norm: BatchNorm) -> tuple[np.ndarray, np.ndarray]:
    scale, b = _factors(conv, norm)
    return scaled_filters(conv.W._array, scale), b


def _array(value: Variable | Array | Any) -> np.ndarray:
    return value._array if isinstance(value, Variable) else value  # `.array` would discard prepared weights
