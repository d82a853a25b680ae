"""Absolute values."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.math.elementwise import AbstractElementwise
from cvzoo.typing.aliases import Array


class Absolute(AbstractElementwise):
    kind = "abs"

    def slope(self, x: Variable) -> Any:
        return backend_of(x.array).xp.sign(x.array)


def absolute(x: Variable | Array) -> Variable:
    """|x|; the slope at 0 is taken as 0."""
    return Absolute().apply((x,))[0]
