"""Memory profile of functions."""

import weakref
from collections.abc import Iterable
from typing import IO, NamedTuple

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.hooks.table import table
from cvzoo.autodiff.variable import Variable
from cvzoo.typing.aliases import Array


class FunctionMemory(NamedTuple):
    """Bytes of all calls of one function in one direction."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    made: int
    retained: int


class MemoryHook(AbstractFunctionHook):
    """Memory profiler of functions: `with MemoryHook() as hook: ...`, then `hook.print_report()`.

    made: allocated bytes of outputs (forward) and gradients (backward); views and arrays that are returned twice
        count once, workspaces of kernels do not count
    retained: bytes of the arrays that a function retains for its backward and that no earlier function retained
    living, peak: the allocated bytes that are alive, and their maximum
    Functions called by another function count as part of it.
    """

    def __init__(self) -> None:
        self.living = 0
        self.peak = 0
        self._rows: dict[tuple[str, str], list[int]] = {}
        self._inside: list[tuple[FunctionNode, str]] = []
        self._known: dict[int, weakref.ref[Array]] = {}
        self._kept: dict[int, weakref.ref[Array]] = {}

    def summary(self) -> dict[tuple[str, str], FunctionMemory]:
        """(label, "forward" or "backward") -> count, bytes made and bytes retained, by descending bytes made."""
        rows = {key: FunctionMemory(*row) for key, row in self._rows.items()}
        return dict(sorted(rows.items(), key=lambda row: (-row[1].made, row[0])))

    def print_report(self, file: IO[str] | None = None) -> None:
        """Print a table by descending bytes made, and the peak."""
        rows = [
            (label, way, str(m.count), _size(m.made), _size(m.retained)) for (label, way), m in self.summary().items()
        ]
        print(table(("function", "pass", "calls", "made", "retained"), rows, left=2), file=file)
        print(f"living {_size(self.living)}, peak {_size(self.peak)}", file=file)

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        for array in in_data:
            self._is_new(array, self._known)  # allocated elsewhere
        self._enter(function, "forward")

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._leave()

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        self._made(self._key(function, "forward"), outputs)
        if not self._inside:
            row = self._rows[function.label, "forward"]
            row[2] += sum(_memory(x).nbytes for x in function.retained_arrays() if self._is_new(x, self._kept))

    def backward_preprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        for gy in grad_outputs:
            if gy is not None:
                self._is_new(gy._array, self._known)
        self._enter(function, "backward")

    def backward_postprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._leave()

    def gradients_made(self, function: FunctionNode, grad_inputs: tuple[Variable | None, ...]) -> None:
        self._made(self._key(function, "backward"), [gx for gx in grad_inputs if gx is not None])

    def _enter(self, function: FunctionNode, way: str) -> None:
        self._inside.append((function, way))
        if len(self._inside) == 1:
            self._rows.setdefault((function.label, way), [0, 0, 0])[0] += 1

    def _leave(self) -> None:
        self._inside.pop()

    def _key(self, function: FunctionNode, way: str) -> tuple[str, str]:
        """The key of the outermost function."""
        if self._inside:
            function, way = self._inside[0]
        return function.label, way

    def _made(self, key: tuple[str, str], variables: Iterable[Variable]) -> None:
        for variable in variables:
            memory = _memory(variable._array)
            if self._is_new(memory, self._known):
                size = memory.nbytes
                self._rows[key][1] += size
                self.living += size
                self.peak = max(self.peak, self.living)
                # not at the interpreter's exit, when nobody reads the count
                weakref.finalize(memory, self._died, size).atexit = False

    def _died(self, size: int) -> None:
        self.living -= size

    def _is_new(self, array: Array, known: "dict[int, weakref.ref[Array]]") -> bool:
        """Whether this memory was not encountered before."""
        memory = _memory(array)
        key = id(memory)
        if key in known:
            return False
        # addresses are reused, so an entry is removed with its memory
        known[key] = weakref.ref(memory, lambda _: known.pop(key, None))
        return True


def _memory(array: Array) -> Array:
    """The array that owns the memory, if an array does."""
    base = array.base
    return base if isinstance(base, type(array)) else array


def _size(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.2f} {unit}"
    return f"{count} B"
