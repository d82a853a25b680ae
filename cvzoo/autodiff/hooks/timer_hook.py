"""Time profile of functions."""

import statistics
import time
from typing import IO, NamedTuple

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.hooks.table import table
from cvzoo.autodiff.variable import Variable
from cvzoo.typing.aliases import Array


class FunctionTime(NamedTuple):
    """Times of all calls of one function in one direction, in seconds."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    total: float
    median: float


class TimerHook(AbstractFunctionHook):
    """Time profiler of functions: `with TimerHook() as hook: ...`, then `hook.print_report()`.

    A function called by another one (a backward consists of functions) counts as part of it, so that the totals add
    up to the time spent.
    """

    def __init__(self) -> None:
        self.times: dict[tuple[str, str], list[float]] = {}
        self._starts: list[float] = []

    def summary(self) -> dict[tuple[str, str], FunctionTime]:
        """(label, "forward" or "backward") -> count, total and median, by descending total."""
        rows = {key: FunctionTime(len(t), sum(t), statistics.median(t)) for key, t in self.times.items()}
        return dict(sorted(rows.items(), key=lambda row: (-row[1].total, row[0])))

    def total_time(self) -> float:
        """The total of all functions in seconds."""
        return sum(sum(times) for times in self.times.values())

    def print_report(self, file: IO[str] | None = None) -> None:
        """Print a table by descending total."""
        total = self.total_time()
        rows = [
            (label, way, str(t.count), _duration(t.total), f"{100 * t.total / total if total else 0:.1f}%")
            + (_duration(t.median),)
            for (label, way), t in self.summary().items()
        ]
        print(table(("function", "pass", "calls", "total", "share", "median"), rows, left=2), file=file)

    def _start(self) -> None:
        self._starts.append(time.perf_counter())

    def _stop(self, function: FunctionNode, way: str) -> None:
        elapsed = time.perf_counter() - self._starts.pop()
        # the time of a nested call belongs to the outermost function
        if not self._starts:
            self.times.setdefault((function.label, way), []).append(elapsed)

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._start()

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._stop(function, "forward")

    def backward_preprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._start()

    def backward_postprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._stop(function, "backward")


def _duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.2f} {unit}"
    return f"{seconds / 1e-6:.1f} us"
