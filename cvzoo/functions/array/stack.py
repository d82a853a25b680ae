"""Arrays of one shape laid side by side along a new axis, and taken apart again."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.axes import one_axis
from cvzoo.functions.array.concat import concat, split_axis
from cvzoo.functions.array.expand_dims import expand_dims
from cvzoo.functions.array.reshape import reshape


def _listed(xs: Sequence[Variable | Any], function: str) -> list[Variable | Any]:
    if isinstance(xs, Variable):
        raise DtypeError(f"{function}: wants several arrays", got="a Variable", hint=f"{function}([x, y])")
    return [as_variable(x) for x in xs]


def stack(xs: Sequence[Variable | Any], axis: int = 0) -> Variable:
    """Arrays of one shape along a new axis.

    Raises ShapeError if the shapes differ or there are none, DtypeError if dtypes differ.
    """
    xs = _listed(xs, "stack")
    if any(x.shape != xs[0].shape for x in xs):
        raise ShapeError("stack: shapes differ", expected=xs[0].shape, got=", ".join(str(x.shape) for x in xs))
    return concat([expand_dims(x, axis) for x in xs], axis)


def hstack(xs: Sequence[Variable | Any]) -> Variable:
    """Arrays one after another along their second axis; vectors along their only one.

    Raises ShapeError if they differ elsewhere.
    """
    xs = [reshape(x, (1,)) if x.ndim == 0 else x for x in _listed(xs, "hstack")]
    return concat(xs, 0 if xs and xs[0].ndim == 1 else 1)


def vstack(xs: Sequence[Variable | Any]) -> Variable:
    """Arrays one after another along their first axis; vectors as rows.

    Raises ShapeError if they differ elsewhere.
    """
    return concat([reshape(x, (1, x.size)) if x.ndim < 2 else x for x in _listed(xs, "vstack")], 0)


def separate(x: Variable | Any, axis: int = 0) -> tuple[Variable, ...]:
    """The slices of x along `axis`, which they no longer have: what `stack` joins.

    Raises ShapeError if there is no such axis.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "separate")
    if not x.shape[axis]:
        return ()
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return tuple([reshape(y, shape) for y in split_axis(x, x.shape[axis], axis)])
