"""A fully connected layer, a sum and an activation fused to one kernel, for inference."""

from cvzoo.autodiff.function_hook import this_thread
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.sigmoid import gelu
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d
from cvzoo.functions.connection.linear import linear as linear_function
from cvzoo.links.connection.fused_convolution import folded
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link_hook import between_hooks
from cvzoo.typing.aliases import Array


def fused_linear(
    linear: Linear,
    x: Variable | Array,
    *,
    b: Variable | Array | None = None,
    with_gelu: bool = False,
    scale: Parameter | None = None,
    add: Variable | Array | None = None,
) -> Variable:
    """gelu(linear(x)) * scale + add, for each row of x; each but linear is optional.

    linear: an initialized layer
    x: (B, ..., I)
    b: (O,) instead of the layer's own; not together with `scale`
    scale: a Parameter (O,), or None; not together with `with_gelu`
    add: (B, ..., O), or None; not together with `with_gelu`
    Returns (B, ..., O).
    Raises ShapeError if x's rows have the wrong length.

    In inference it is a 1 x 1 convolution with a fused sum and activation, in which images are separate, so that the
    result is batch invariant. A layer's own kernel is used if it has one.
    """
    x = as_variable(x)
    w_shape = linear.W.shape
    if w_shape is None or x.ndim < 2 or x.shape[-1] != w_shape[1]:
        raise ShapeError("fused_linear: x and W do not fit", expected=f"x (B, ..., I), W {w_shape}  O I", got=x.shape)
    run = float_rows if linear.kernel is None else linear.kernel.multiply_rows
    if "_hooks" in linear.__dict__ or this_thread.link_hooks:
        y = between_hooks(linear, lambda h: run(linear, h, b=b), (x,), {})  # hooks see what the layer itself returns
        return _finished(y, with_gelu=with_gelu, scale=scale, add=add)
    return run(linear, x, b=b, with_gelu=with_gelu, scale=scale, add=add)


def _finished(y: Variable, *, with_gelu: bool, scale: Parameter | None, add: Variable | Array | None) -> Variable:
    y = gelu(y) if with_gelu else y
    y = y if scale is None else y * scale
    return y if add is None else y + add


def float_rows(
    linear: Linear,
    x: Variable | Array,
    *,
    b: Variable | Array | None = None,
    with_gelu: bool = False,
    scale: Parameter | None = None,
    add: Variable | Array | None = None,
) -> Variable:
    """The same in float32, ignoring the layer's kernel."""
    x = as_variable(x)
    if switches.enable_backprop:
        y = linear_function(x, linear.W, linear.b if b is None else b, n_batch_axes=x.ndim - 1)
        return _finished(y, with_gelu=with_gelu, scale=scale, add=add)
    W, own, pack = filters_of_rows(linear, scale)
    y = fused_convolution_2d(
        rows_as_map(x),
        W,
        own if b is None else b,
        add=None if add is None else rows_as_map(add),
        activation="gelu_erf" if with_gelu else None,
        pack=pack,
    )
    return map_as_rows(y, x.shape)


def rows_as_map(x: Variable | Array) -> Variable:
    """(B, I, 1, N) channels-last of x (B, ..., I); a view if x is C-contiguous."""
    x = as_variable(x)
    n = 1
    for size in x.shape[1:-1]:
        n *= size
    return transpose(reshape(x, (x.shape[0], 1, n, x.shape[-1])), (0, 3, 1, 2))


def map_as_rows(y: Variable, x_shape: tuple[int, ...]) -> Variable:
    """(B, ..., O) of y (B, O, 1, N), where x_shape is (B, ..., I)."""
    return reshape(transpose(y, (0, 2, 3, 1)), (*x_shape[:-1], y.shape[1]))


def filters_of_rows(linear: Linear, scale: Parameter | None) -> tuple[Array, Variable | Array | None, PreparedWeights]:
    """W (O, I, 1, 1) and b of a scaled layer, and the cache for their reordered copies."""
    if scale is None:
        _, b, pack = factors_of_rows(linear, None)
        return linear.W._array[:, :, None, None], b, pack
    return folded(linear.W, "scaled filters", (scale, linear.b), lambda: _scaled(linear, scale))


def factors_of_rows(
    linear: Linear, scale: Parameter | None
) -> tuple[Array | None, Variable | Array | None, PreparedWeights]:
    """factor (O,) or None and b (O,) or None, so that a scaled layer is factor * (W * x) + b; and the cache for
    copies of W that depend on the factor.
    """
    if scale is None:
        packs = linear.W.packs()
        assert packs is not None  # None only while gradients are recorded, when nothing is fused
        return None, linear.b, packs.made.setdefault("filters of one pixel", PreparedWeights())
    return folded(linear.W, "scale", (scale, linear.b), lambda: (scale._array, _scaled_bias(linear, scale)))


def _scaled(linear: Linear, scale: Parameter) -> tuple[Array, Array | None]:
    return (linear.W._array * scale._array[:, None])[:, :, None, None], _scaled_bias(linear, scale)


def _scaled_bias(linear: Linear, scale: Parameter) -> Array | None:
    return None if linear.b is None else linear.b._array * scale._array
