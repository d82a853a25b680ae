"""Checks of the shapes of a public function's arguments, with errors that name the axes."""

import contextlib
import operator
from collections.abc import Sequence
from typing import SupportsIndex

from cvzoo.errors.exceptions import DtypeError, ShapeError


def check_shape(shape: Sequence[int], pattern: str, *, name: str, function: str) -> dict[str, int]:
    """Sizes of the axes named in `pattern`, for example {"B": 2, "C": 3} for "B C 4".

    shape: the array's shape
    pattern: letters and numbers separated by spaces, one per axis; a repeated letter stands for one size;
        "..." in front matches any number of axes
    Raises ShapeError that names `function`, `name`, the pattern and the shape.
    """
    wanted = pattern.split()
    got = tuple(shape)
    tail = got
    if wanted[:1] == ["..."]:
        wanted = wanted[1:]
        tail = got[len(got) - len(wanted) :] if len(got) >= len(wanted) else ()
    sizes: dict[str, int] = {}
    fits = len(tail) == len(wanted)
    if fits:
        for word, size in zip(wanted, tail):
            if word.isdigit():
                fits = fits and int(word) == size
            elif sizes.setdefault(word, size) != size:
                fits = False
    if not fits:
        raise ShapeError(f"{function}: {name} has the wrong shape", expected=f"({', '.join(pattern.split())})", got=got)
    return sizes


def pair(value: int | Sequence[int], *, name: str, function: str) -> tuple[int, int]:
    """(rows, columns) from one integer, or from a pair of integers.

    Raises DtypeError if it is neither.
    """
    if isinstance(value, SupportsIndex):
        with contextlib.suppress(TypeError):  # arrays have `__index__`, too, which fails unless they are one integer
            number = operator.index(value)
            return number, number
    try:
        first, second = value  # type: ignore[misc]  # an int has no items: TypeError
        return operator.index(first), operator.index(second)
    except (TypeError, ValueError):
        raise DtypeError(f"{function}: {name} must be a number or a pair (rows, columns)", got=repr(value)) from None
