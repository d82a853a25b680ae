"""Traced formulas of rules and hooks, from which a group's kernels are generated."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.optimizers.on_device.kernel_text import Formula
from cvzoo.optimizers.on_device.trace import Cell, NotTraceable, Trace

Coefficients = Sequence[Cell | None]


class Change(NamedTuple):
    """A hook's change of gradients with the numbers of this step; None among them: "leave that out"."""

    change: Callable[..., None]
    coefficients: Coefficients


class Shapes(NamedTuple):
    """What a group's arrays are: their dtype, whether there are gradients, how many slots."""

    dtype: np.dtype
    gradients: bool
    n_slot: int


class _Tracing:
    """Cells for one formula, and what it makes of them."""

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
        """The coefficients as numbers of the arrays' dtype."""
        found: list[Cell | None] = []
        for cell in coefficients:
            if cell is None:
                found.append(None)
                continue
            self.coefficients.append(self.scalars.name_of(cell))
            found.append(self.trace.cell(f"c{len(self.coefficients) - 1}"))
        return found

    def changed(self, changes: Sequence[Change]) -> Cell:
        """The gradient as hooks leave it."""
        g = self.g
        for change, coefficients in changes:
            change(self.p, g, self.scratch[0], self.scratch[1], self.numbers(coefficients))
            g = self.scratch[0]
        return g

    def formula(
        self,
        stored: Sequence[tuple[str, Cell]],
        summed: Sequence[Any] = (),
        *,
        checked: bool = False,
        layerwise: bool = False,
    ) -> Formula:
        """What was traced; of `stored`, the targets whose value changed."""
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
        )

    def with_slots(self) -> list[tuple[str, Cell]]:
        return [(f"s{k}", cell) for k, cell in enumerate(self.slots)]


def norm_formula(scalars: Trace, shapes: Shapes, changes: Sequence[Change]) -> Formula:
    """Sums the squares of changed gradients."""
    tracing = _Tracing(scalars, shapes)
    return tracing.formula((), (tracing.changed(changes),))


def check_formula(shapes: Shapes) -> Formula:
    """Asks whether gradients are finite."""
    return _Tracing(Trace("double", "n", lift=True), shapes).formula((), checked=True)


def write_formula(scalars: Trace, shapes: Shapes, changes: Sequence[Change]) -> Formula:
    """Writes changed gradients into the gradients."""
    tracing = _Tracing(scalars, shapes)
    return tracing.formula([("g", tracing.changed(changes))])


def measure_formula(
    scalars: Trace, shapes: Shapes, changes: Sequence[Change], rule: Any, coefficients: Coefficients
) -> Formula:
    """The first pass of a layerwise rule."""
    tracing = _Tracing(scalars, shapes)
    g = tracing.changed(changes)
    c = tracing.numbers(coefficients)
    pair = rule.measure_block(tracing.p, g, tuple(tracing.slots), c, tracing.scratch[1:])
    return tracing.formula(tracing.with_slots(), pair)


def update_formula(
    scalars: Trace, shapes: Shapes, changes: Sequence[Change], rule: Any, coefficients: Coefficients, layerwise: bool
) -> Formula:
    """The update itself."""
    tracing = _Tracing(scalars, shapes)
    g = tracing.changed(changes)
    c = tracing.numbers(coefficients)
    ratio = tracing.trace.cell("ratio") if layerwise else None
    rule.update_block(tracing.p, g, tuple(tracing.slots), c, tracing.scratch[1:], ratio)
    return tracing.formula([("p", tracing.p), *tracing.with_slots()], layerwise=layerwise)


def average_formula(
    scalars: Trace, shapes: Shapes, average: Callable[..., None], coefficients: Coefficients
) -> Formula:
    """`average(p, average, scratch, c)` changes a mean of parameters, no gradients."""
    tracing = _Tracing(scalars, shapes)
    average(tracing.p, tracing.slots[0], tracing.scratch[0], tracing.numbers(coefficients))
    return tracing.formula(tracing.with_slots())


def traced(make: Callable[[], Any]) -> Any:
    """What `make()` gives, or None if the formula cannot be written down."""
    try:
        return make()
    except (NotTraceable, TypeError, AttributeError, ValueError):
        return None
