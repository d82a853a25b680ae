"""Concatenation, stacking and splitting of arrays."""

from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.axes import expand_dims, one_axis, reshape
from cvzoo.functions.array.dtypes import agreed
from cvzoo.typing.aliases import Array


class Concat(FunctionNode):
    def __init__(self, axis: int):
        self.axis = axis

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        first = inputs[0]
        backend = backend_of(first)
        self.axis = axis = one_axis(self.axis, first.ndim, "concat")
        head, tail = first.shape[:axis], first.shape[axis + 1 :]
        for x in inputs:
            backend_of(x)
            if x.ndim != first.ndim or x.shape[:axis] != head or x.shape[axis + 1 :] != tail:
                raise ShapeError(
                    f"concat: shapes differ elsewhere than along axis {axis}",
                    expected=f"{first.shape} but for axis {axis}",
                    got=", ".join(str(x.shape) for x in inputs),
                )
            if x.dtype != first.dtype:
                raise DtypeError("concat: arrays must have one dtype", expected=first.dtype, got=x.dtype)
        return (backend.concat(inputs, axis=axis),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        if len(self.inputs) == 1:
            return gys
        ends = []
        end = 0
        for x in self.inputs[:-1]:
            end += x.shape[self.axis]
            ends.append(end)
        gxs = SplitAxis(ends, self.axis).apply(gys)
        return tuple([gxs[i] for i in indexes])


class SplitAxis(FunctionNode):
    def __init__(self, sections: int | Sequence[int], axis: int):
        self.sections = sections
        self.axis = axis

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        self.axis = axis = one_axis(self.axis, x.ndim, "split_axis")
        size = x.shape[axis]
        if isinstance(self.sections, int):
            n = self.sections
            if n < 1 or size % n:
                raise ShapeError(
                    f"split_axis: {size} do not divide into {n} equal parts",
                    got=x.shape,
                    hint="a list of the indices to split at, such as [10, 30]",
                )
            ends = [size // n * (i + 1) for i in range(n)]
        else:
            ends = [*[int(end) for end in self.sections], size]
            if any(a > b for a, b in zip([0, *ends], ends)):
                raise ShapeError(
                    "split_axis: indices to split at must be ascending",
                    expected=f"0 to {size}",
                    got=list(self.sections),
                )
        lead = (slice(None),) * axis
        ys = tuple([x[(*lead, slice(start, end))] for start, end in zip([0, *ends], ends)])
        self.dtype = x.dtype
        self.shapes = [y.shape for y in ys]
        return ys

    def backward(self, indexes: tuple[int, ...], gys: tuple) -> tuple[Variable | None, ...]:
        # a part that no output depends on has no gradient
        if any(gy is None for gy in gys):
            known = next(gy for gy in gys if gy is not None).array
            zeros = backend_of(known).zeros
            gys = tuple([zeros(s, self.dtype) if gy is None else gy for gy, s in zip(gys, self.shapes)])
        return Concat(self.axis).apply(gys)


def concat(xs: Sequence[Variable | Array], axis: int = 1) -> Variable:
    """The arrays one after another along `axis`.

    xs: arrays of one dtype whose shapes differ along `axis` only
    Raises ShapeError if they differ elsewhere or there are none, DtypeError if dtypes differ.
    """
    if isinstance(xs, Variable):
        raise DtypeError("concat: needs several arrays", got="a Variable", hint="concat([x, y])")
    xs = tuple(xs)
    if not xs:
        raise ShapeError("concat: there is nothing to join", expected="at least one array", got="none")
    return Concat(axis).apply(agreed(*xs))[0]


def split_axis(
    x: Variable | Array, indices_or_sections: int | Sequence[int], axis: int, force_tuple: bool = True
) -> tuple[Variable, ...] | Variable:
    """The parts of x along `axis`; views.

    indices_or_sections: the number of equal parts, or the ascending indices to split at
    force_tuple: return a tuple even for a single part
    Raises ShapeError if x does not divide so.
    """
    ys = SplitAxis(indices_or_sections, axis).apply((x,))
    return ys[0] if len(ys) == 1 and not force_tuple else ys


def _listed(xs: Sequence[Variable | Array], function: str) -> list[Variable | Array]:
    if isinstance(xs, Variable):
        raise DtypeError(f"{function}: needs several arrays", got="a Variable", hint=f"{function}([x, y])")
    return [as_variable(x) for x in xs]


def stack(xs: Sequence[Variable | Array], axis: int = 0) -> Variable:
    """Arrays of one shape along a new axis.

    Raises ShapeError if the shapes differ or there are none, DtypeError if dtypes differ.
    """
    xs = _listed(xs, "stack")
    if any(x.shape != xs[0].shape for x in xs):
        raise ShapeError("stack: shapes differ", expected=xs[0].shape, got=", ".join(str(x.shape) for x in xs))
    return concat([expand_dims(x, axis) for x in xs], axis)


def hstack(xs: Sequence[Variable | Array]) -> Variable:
    """Arrays one after another along their second axis; vectors along their only one.

    Raises ShapeError if they differ elsewhere.
    """
    xs = [reshape(x, (1,)) if x.ndim == 0 else x for x in _listed(xs, "hstack")]
    return concat(xs, 0 if xs and xs[0].ndim == 1 else 1)


def vstack(xs: Sequence[Variable | Array]) -> Variable:
    """Arrays one after another along their first axis; vectors as rows.

    Raises ShapeError if they differ elsewhere.
    """
    return concat([reshape(x, (1, x.size)) if x.ndim < 2 else x for x in _listed(xs, "vstack")], 0)


def separate(x: Variable | Array, axis: int = 0) -> tuple[Variable, ...]:
    """The slices of x along `axis`, which they no longer have: what `stack` joins.

    Raises ShapeError if an axis is out of range.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "separate")
    if not x.shape[axis]:
        return ()
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return tuple([reshape(y, shape) for y in split_axis(x, x.shape[axis], axis)])
