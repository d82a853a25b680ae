"""Window sizes as Caffe writes them: one number, one a side, or fields of their own for rows and columns."""

from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import UnsupportedError

Pair = tuple[int, int]


def window_field(params: Mapping[str, Any], name: str, default: int | None, *, owner: object) -> Pair:
    """(rows, columns) of the field `name`, or of `<name>_h` and `<name>_w` (`kernel_h` for "kernel_size").

    owner: the layer, for errors
    Raises UnsupportedError if it is not given and has no default, or has more than two sides.
    """
    short = name.removesuffix("_size")
    if f"{short}_h" in params or f"{short}_w" in params:
        # Caffe asks for both; a side that is not written is 0 in its own reader, and a kernel of 0 is refused below
        sides = [params.get(f"{short}_h", default), params.get(f"{short}_w", default)]
    else:
        value = params.get(name, [])
        sides = list(value) if isinstance(value, list) else [value]
        sides = sides * 2 if len(sides) == 1 else sides or [default] * 2
    if len(sides) != 2 or None in sides:
        raise UnsupportedError(f"{owner}: {name} must be one number or two", got=params.get(name))
    if name != "pad" and min(sides) < 1:
        raise UnsupportedError(f"{owner}: {name} must be positive", got=tuple(sides))
    return int(sides[0]), int(sides[1])
