"""Prints functions' inputs and outputs."""

from collections.abc import Iterable
from typing import IO

import numpy as np

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


class PrintHook(AbstractFunctionHook):
    """Prints the inputs and outputs of each function, forward and backward: `with PrintHook(): ...`.

    file: the output; None for standard output
    values: also print the smallest and largest value and the number of non-finite values
    """

    def __init__(self, file: IO[str] | None = None, *, values: bool = True):
        self.file = file
        self.values = values
        self._depth = 0

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._print(function, "forward", "<-", in_data)
        self._depth += 1

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._depth -= 1

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        self._print(function, "forward", "->", [y._array for y in outputs])

    def backward_preprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._print(function, "backward", "<-", [None if gy is None else gy._array for gy in grad_outputs])
        self._depth += 1

    def backward_postprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._depth -= 1

    def gradients_made(self, function: FunctionNode, grad_inputs: tuple[Variable | None, ...]) -> None:
        self._print(function, "backward", "->", [None if gx is None else gx._array for gx in grad_inputs])

    def _print(self, function: FunctionNode, way: str, arrow: str, arrays: Iterable[Array | None]) -> None:
        text = "; ".join("None" if x is None else self._about(x) for x in arrays)
        print(f"{'  ' * self._depth}{function.label} {way} {arrow} {text}", file=self.file, flush=True)

    def _about(self, array: Array) -> str:
        text = f"{array.dtype} {array.shape}"
        if not self.values or not array.size:
            return text
        array = backend_of(array).to_numpy(array)
        finite = np.isfinite(array)
        if finite.all():
            return f"{text} [{array.min():.4g}, {array.max():.4g}]"
        rest = array[finite]
        span = f"[{rest.min():.4g}, {rest.max():.4g}] and " if rest.size else ""
        return f"{text} {span}{array.size - rest.size} not finite"
