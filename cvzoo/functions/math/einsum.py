"""Products of arrays over axes that are named by letters, or by number."""

import math
import string
from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import all_axes, reshape, transpose
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.math.matmul import matmul
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array


def einsum(subscripts: str, *operands: Variable | Array) -> Variable:
    """The sum of products of the operands' elements over all letters that the result does not have.

    subscripts: one letter for each axis of each operand, commas between them, then "->" and the result's letters, such
        as "bij,bjk->bik"; without "->" the letters that come once, in the order of the alphabet. "..." is for axes
        that broadcast. A letter that comes twice in an operand takes its diagonal
    operands: arrays of one dtype
    Raises ValueRangeError for subscripts that make no sense, ShapeError where an axis has two sizes.
    Operands are multiplied from left to right, each pair by `matmul`.
    """
    if not isinstance(subscripts, str):
        raise DtypeError("einsum: subscripts must be a text such as 'ij,jk->ik'", got=type(subscripts).__name__)
    xs = [as_variable(x) for x in operands]
    inputs, output = _letters(subscripts, [x.ndim for x in xs])
    sizes = _sizes(inputs, xs, subscripts)
    terms = [_distinct(x, letters, sizes) for x, letters in zip(xs, inputs)]
    y, letters = terms[0]
    for k, (x, others) in enumerate(terms[1:], 2):
        # a letter is summed as soon as neither the result nor a later operand has it
        needed = set(output).union(*[each for _, each in terms[k:]])
        y, letters = _product(y, letters, x, others, needed)
    y, letters = _summed(y, letters, set(output))
    y = transpose(y, [letters.index(c) for c in output if c in letters])
    shape = tuple([sizes[c] for c in output])
    with_ones = tuple([sizes[c] if c in letters else 1 for c in output])
    return broadcast_to(reshape(y, with_ones), shape) if with_ones != shape else reshape(y, shape)


def _letters(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """Each operand's letters and the result's; unused letters name the axes of "..."."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        raise ValueRangeError(f"einsum: {len(inputs)} groups of letters for {len(ndims)} operands", got=subscripts)
    free = [c for c in string.ascii_letters if c not in subscripts]
    widths = [n - len(letters.replace("...", "")) for letters, n in zip(inputs, ndims)]
    for letters, width in zip(inputs, widths):
        dots = letters.count("...")
        if (
            dots > 1
            or width < 0
            or (width and not dots)
            or not set(letters.replace("...", "")) <= set(string.ascii_letters)
        ):
            raise ValueRangeError(f"einsum: {letters!r} does not name the axes of its operand", got=subscripts)
    widest = max([width for letters, width in zip(inputs, widths) if "..." in letters], default=0)
    names = "".join(free[:widest])
    # dots align from the right, as broadcasting does
    full = [letters.replace("...", names[widest - width :]) for letters, width in zip(inputs, widths)]
    # without an arrow, as NumPy: the dots' axes, then letters that occur once, in alphabetical order
    once = "".join(sorted([c for c in set("".join(full)) - set(names) if "".join(full).count(c) == 1]))
    output = right.replace("...", names) if arrow else names + once
    if len(set(output)) != len(output) or not set(output) <= set("".join(full)):
        raise ValueRangeError("einsum: the result's letters must be those of operands, each once", got=subscripts)
    return full, output


def _sizes(inputs: Sequence[str], xs: Sequence[Variable], subscripts: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for letters, x in zip(inputs, xs):
        for letter, size in zip(letters, x.shape):
            if sizes.setdefault(letter, size) != size and 1 not in (size, sizes[letter]):
                shapes = ", ".join([str(each.shape) for each in xs])
                raise ShapeError(
                    f"einsum: an axis of {subscripts!r} has two sizes", got=f"{sizes[letter]} and {size} in {shapes}"
                )
            if size != 1:
                sizes[letter] = size
    return sizes


def _distinct(x: Variable, letters: str, sizes: dict[str, int]) -> tuple[Variable, str]:
    """x and its letters without axes that are to be repeated, and with diagonals for letters that come twice."""
    axes = [i for i, c in enumerate(letters) if x.shape[i] == sizes[c]]
    x = reshape(x, tuple([x.shape[i] for i in axes]))
    letters = "".join([letters[i] for i in axes])
    for letter in sorted({c for c in letters if letters.count(c) > 1}):
        places = [i for i, c in enumerate(letters) if c == letter]
        rest = [i for i in range(len(letters)) if i not in places]
        x = transpose(x, places + rest)
        x = get_item(x, (np.arange(sizes[letter]),) * len(places))
        letters = letter + "".join([letters[i] for i in rest])
    return x, letters


def _summed(x: Variable, letters: str, needed: set[str]) -> tuple[Variable, str]:
    axes = tuple([i for i, c in enumerate(letters) if c not in needed])
    return (sum(x, axes) if axes else x), "".join([c for c in letters if c in needed])


def _product(a: Variable, first: str, b: Variable, second: str, needed: set[str]) -> tuple[Variable, str]:
    """The product of two operands summed over the axes that are not needed later, and its letters."""
    a, first = _summed(a, first, needed.union(second))
    b, second = _summed(b, second, needed.union(first))
    # letters of both operands are batch axes if they are needed later; the matrix product sums over the others
    batch = "".join([c for c in first if c in second and c in needed])
    inner = "".join([c for c in first if c in second and c not in needed])
    rows, columns = ["".join([c for c in mine if c not in other]) for mine, other in ((first, second), (second, first))]
    sizes = {**dict(zip(second, b.shape)), **dict(zip(first, a.shape))}
    parts = [
        reshape(
            transpose(x, [letters.index(c) for group in groups for c in group]),
            (*[sizes[c] for c in batch], *[math.prod([sizes[c] for c in group]) for group in groups[1:]]),
        )
        for x, letters, groups in ((a, first, (batch, rows, inner)), (b, second, (batch, inner, columns)))
    ]
    y = matmul(parts[0], parts[1])
    return reshape(y, tuple([sizes[c] for c in batch + rows + columns])), batch + rows + columns


def tensordot(a: Variable | Array, b: Variable | Array, axes: int | Sequence[int | Sequence[int]] = 2) -> Variable:
    """The sum of products of a and b over pairs of axes; what is left of a's axes comes first, then b's.

    a, b: of one dtype
    axes: how many of a's last and b's first axes are paired; or a pair: a's axes and b's, each a number or several
    Raises ShapeError if the axes do not fit, DtypeError if dtypes differ.
    """
    a, b = as_variable(a), as_variable(b)
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ShapeError(f"tensordot: a and b do not have {axes} axes each", got=f"{a.shape} and {b.shape}")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        if len(axes) != 2:
            raise DtypeError("tensordot: axes must be a number, or a's axes and b's", got=repr(axes))
        left, right = [all_axes(each, x.ndim, "tensordot") for each, x in zip(axes, (a, b))]
    if [a.shape[i] for i in left] != [b.shape[i] for i in right]:
        raise ShapeError("tensordot: paired axes have two sizes", got=f"{a.shape} and {b.shape}, axes {axes}")
    rows = [i for i in range(a.ndim) if i not in left]
    columns = [i for i in range(b.ndim) if i not in right]
    n = math.prod([a.shape[i] for i in left])
    shape = (*[a.shape[i] for i in rows], *[b.shape[i] for i in columns])
    first = reshape(transpose(a, (*rows, *left)), (math.prod(shape[: len(rows)]), n))
    second = reshape(transpose(b, (*right, *columns)), (n, math.prod(shape[len(rows) :])))
    return reshape(matmul(first, second), shape)
