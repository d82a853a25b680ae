"""Traced formulas of rules and hooks, from which a group's kernels are generated."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cvzoo.optimizers.on_device.kernel_text import Formula
from cvzoo.optimizers.on_device.trace import Cell, NotTraceable, Trace

Coefficients = Sequence[Cell | None]


T = TypeVar("T")


class Change(NamedTuple):
    """A hook's change of gradients with the scalars of this step; None: the term is left out."""

    change: Callable[..., None]
    coefficients: Coefficients


class Shapes(NamedTuple):
    """The arrays of a group: dtype, whether there are gradients, number of slots."""

    dtype: np.dtype
    gradients: bool
    n_slot: int


class _Tracing:
    """The symbolic arrays of one formula, and the trace of its computation."""

    def __init__(self, scalars: Trace, shapes: Shapes):
        self.scalars = scalars
        self.shapes = shapes
        self.trace = Trace("real", "v")
        self.p = self.trace.cell("p")
        self.g = self.trace.cell("g")
        self.slots = [self.trace.cell(f"s{k}") for k in range(shapes.n_slot)]
        self.scratch = [self.trace.cell() for _ in range(3)]
        self.coefficients: list[str] = []

    def numbers(self, coefficients: Coefficients) -> list[Cell | None]:
        """The coefficients as symbolic scalars of the arrays' dtype."""
        cells: list[Cell | None] = []
        for cell in coefficients:
            if cell is None:
                cells.append(None)
                continue
            self.coefficients.append(self.scalars.name_of(cell))
            cells.append(self.trace.cell(f"c{len(self.coefficients) - 1}"))
        return cells

    def changed(self, changes: Sequence[Change]) -> Cell:
        """The gradient after the hooks."""
        g = self.g
        for change, coefficients in changes:
            change(self.p, g, self.scratch[0], self.scratch[1], self.numbers(coefficients))
            g = self.scratch[0]
        return g

    def formula(
        self,
        stored: Sequence[tuple[str, Cell]],
        summed: Sequence[Cell] = (),
        *,
        checked: bool = False,
        layerwise: bool = False,
    ) -> Formula:
        """The traced formula; of `stored`, only the targets whose value changed."""
        names = [(target, self.trace.name_of(cell)) for target, cell in stored]
        return Formula(
            self.shapes.dtype,
            self.shapes.gradients,
            tuple(self.scalars.lines),
            tuple(self.coefficients),
            tuple(self.trace.lines),
            tuple([(target, name) for target, name in names if target != name]),
            tuple([self.trace.name_of(value) for value in summed]),
            checked,
            self.shapes.n_slot,
            layerwise,
            tuple(self.trace.operations),
            self.trace.literals,
        )

    def with_slots(self) -> list[tuple[str, Cell]]:
        return [(f"s{k}", cell) for k, cell in enumerate(self.slots)]


def norm_formula(scalars: Trace, shapes: Shapes, changes: Sequence[Change]) -> Formula:
    """The formula of sums of squares of changed gradients."""
    tracing = _Tracing(scalars, shapes)
    return tracing.formula((), (tracing.changed(changes),))


def check_formula(shapes: Shapes) -> Formula:
    """The formula that checks whether gradients are finite."""
    return _Tracing(Trace("double", "n", lift=True), shapes).formula((), checked=True)


def write_formula(scalars: Trace, shapes: Shapes, changes: Sequence[Change]) -> Formula:
    """The formula that writes changed gradients into the gradients."""
    tracing = _Tracing(scalars, shapes)
    return tracing.formula([("g", tracing.changed(changes))])


def measure_formula(
    scalars: Trace,
    shapes: Shapes,
    changes: Sequence[Change],
    rule: Any,
    coefficients: Coefficients,
) -> Formula:
    """The first pass of a layerwise rule."""
    tracing = _Tracing(scalars, shapes)
    g = tracing.changed(changes)
    c = tracing.numbers(coefficients)
    pair = rule.measure_block(tracing.p, g, tuple(tracing.slots), c, tracing.scratch[1:])
    return tracing.formula(tracing.with_slots(), pair)


def update_formula(
    scalars: Trace,
    shapes: Shapes,
    changes: Sequence[Change],
    rule: Any,
    coefficients: Coefficients,
    layerwise: bool,
) -> Formula:
    """The formula of the update."""
    tracing = _Tracing(scalars, shapes)
    g = tracing.changed(changes)
    c = tracing.numbers(coefficients)
    ratio = tracing.trace.cell("ratio") if layerwise else None
    rule.update_block(tracing.p, g, tuple(tracing.slots), c, tracing.scratch[1:], ratio)
    return tracing.formula([("p", tracing.p), *tracing.with_slots()], layerwise=layerwise)


def average_formula(
    scalars: Trace, shapes: Shapes, average: Callable[..., None], coefficients: Coefficients
) -> Formula:
    """The formula of `average(p, average, scratch, c)`, a moving average of parameters, without gradients."""
    tracing = _Tracing(scalars, shapes)
    average(tracing.p, tracing.slots[0], tracing.scratch[0], tracing.numbers(coefficients))
    return tracing.formula(tracing.with_slots())


def traced(make: Callable[[], T]) -> T | None:
    """The result of `make()`, or None if the formula cannot be traced."""
    try:
        return make()
    except (NotTraceable, TypeError, AttributeError, ValueError):
        return None
