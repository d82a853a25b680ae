"""What is cheap to compute is not kept for the backward pass, but computed again there."""

import copy
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.functions.array.get_item import GetItem
from cvzoo.functions.array.reshape import Reshape
from cvzoo.functions.array.transpose import Transpose
from cvzoo.functions.math.add import Add
from cvzoo.functions.math.add_relu import AddReLU
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput
from cvzoo.functions.normalization.batch_normalization import BatchNormalization
from cvzoo.functions.normalization.batch_normalization_relu import BatchNormalizationReLU, FixedBatchNormalizationReLU
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.graph.capture import SharedView
from cvzoo.graph.passes.fuse_batch_norm_relu_training import rounds_as_ever
from cvzoo.graph.records import Graph, Record

_ELEMENTWISE = (Add, AddReLU, AbstractElementwise, AbstractElementwiseOfOutput)
_VIEWS = (GetItem, Reshape, SharedView, Transpose)
_SLACK = 0.05  # of the peak: what is kept for less than that need not be computed again
_TRIALS = 100
_ROUNDS = 4


class _Recipe(NamedTuple):
    """How a value is computed again."""

    record: Record
    function: FunctionNode
    reads: tuple[int, ...]


class _Step(NamedTuple):
    """A record of the graph with the values that it reads now, or a recipe for a value."""

    of: Record | _Recipe
    reads: dict[int, int]
    writes: tuple[int, ...]


def recompute(graph: Graph) -> int:
    """Let results of cheap records go that the backward pass reads, and compute them again before their first reader
    there; how many records that adds.

    Cheap are normalizations whose statistics are kept, what goes element by element, and both in one. A result goes
    only if it can be computed from what is kept anyway and to the same bits, and only where that lowers the peak.
    """
    plan = Plan(graph)
    if not plan.found:
        return 0
    gone, least = _smallest(plan)
    if least >= plan.peak({}):
        return 0
    for value in plan.dearest()[:_TRIALS]:
        fewer = _without(gone, value)
        if plan.peak(fewer) <= least * (1 + _SLACK):
            gone = fewer
    before = len(graph.records)
    plan.carry_out(gone)
    return len(graph.records) - before


def _without(gone: dict[int, None], value: int) -> dict[int, None]:
    return {each: None for each in gone if each != value}


def _smallest(plan: "Plan") -> tuple[dict[int, None], int]:
    """Which values to let go for the least peak, and the peak.

    All but some: what is kept in the midst of a chain of sums saves having the whole chain at once.
    """
    gone = dict.fromkeys(plan.found)
    least = plan.peak(gone)
    for _ in range(_ROUNDS):
        peaks = {value: plan.peak(_without(gone, value)) for value in plan.dearest()[:_TRIALS] if value in gone}
        best = min(peaks, key=peaks.__getitem__, default=None)
        if best is None or peaks[best] >= least:
            break
        gone, least = _without(gone, best), peaks[best]
    return gone, least


class Plan:
    """What recomputing would cost and save. It belongs to `recompute`.

    found: the values that may go, with the recipes for them and for what they are made of
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.makers = {record.writes[0]: record for record in graph.records if record.writes and not record.in_backward}
        self.crossing = {value for record in graph.records if record.in_backward for value in record.all_reads}
        self.recipes: dict[int, _Recipe | None] = {}
        self._depths: dict[int, int] = {}
        outputs = set(graph.outputs)
        self.found = [
            value
            for value, record in self.makers.items()
            if value in self.crossing and value not in outputs and self.recipe(value) is not None
        ]
        self.last_views = _ends_of_views(graph)

    def recipe(self, value: int) -> _Recipe | None:
        """How to compute the value from what is kept; None if it is not cheap, or would keep more."""
        if value not in self.recipes:
            recipe = _recipe_of(self.graph, self.makers.get(value))
            if recipe is not None and not all(self._is_at_hand(each, recipe) for each in recipe.reads):
                recipe = None
            self.recipes[value] = recipe
        return self.recipes[value]

    def _is_at_hand(self, value: int, recipe: _Recipe) -> bool:
        own = recipe.record.all_writes  # the statistics
        return self._is_kept(value) or value in own or self.recipe(value) is not None

    def _is_kept(self, value: int) -> bool:
        return value in self.graph.constants or value in self.graph.inputs or value in self.crossing

    def _depth(self, value: int) -> int:
        """How many values one after another could be computed again up to it."""
        if value not in self._depths:
            recipe = self.recipes.get(value)
            self._depths[value] = 0 if recipe is None else 1 + max(map(self._depth, recipe.reads))
        return self._depths[value]

    def steps(self, gone: dict[int, None]) -> list[_Step]:
        """All records, and before the readers of values in `gone` what makes them again; these have numbers below 0."""
        steps: list[_Step] = []
        again: dict[int, int] = {}

        def make(value: int) -> None:
            recipe = self.recipes.get(value)
            if value in again or recipe is None:
                return
            # long chains first, so that what is added to them is made only then
            for each in sorted(recipe.reads, key=self._depth, reverse=True):
                if each in gone or (each not in recipe.record.all_writes and not self._is_kept(each)):
                    make(each)
            again[value] = -1 - value
            steps.append(_Step(recipe, {each: again.get(each, each) for each in recipe.reads}, (-1 - value,)))

        for record in self.graph.records:
            reads = record.all_reads
            if record.in_backward:
                for value in reads:
                    if value in gone:
                        make(value)
                steps.append(_Step(record, {each: again.get(each, each) for each in reads}, record.all_writes))
            else:
                steps.append(_Step(record, {each: each for each in reads}, record.all_writes))
        return steps

    def peak(self, gone: dict[int, None]) -> int:
        """How many bytes of results are alive at once, without those that the caller gets."""
        steps, values = self.steps(gone), self.graph.values
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for k, step in enumerate(steps):
            for value in step.writes:
                first[value] = last[value] = k
            for value in step.reads.values():
                last[value] = k
                for base in self.last_views.get(value, ()):
                    last[base] = k
        for value in self.graph.outputs:
            first.pop(value, None)
        changes = [0] * (len(steps) + 2)
        for value, k in first.items():
            if value in self.last_views:
                continue
            nbytes = values[value if value >= 0 else -1 - value].nbytes
            changes[k] += nbytes
            changes[last[value] + 1] -= nbytes
        return int(np.cumsum(changes).max())

    def dearest(self) -> list[int]:
        """The values that may go, those first that cost most for a byte."""

        def cost(value: int) -> float:
            recipe = self.recipes[value]
            made = [each for each in recipe.reads if not self._is_kept(each) and self.recipes.get(each) is not None]
            return len(recipe.reads) + sum(cost(each) for each in made)

        return sorted(self.found, key=lambda value: -cost(value))

    def carry_out(self, gone: dict[int, None]) -> None:
        """Let the graph's records be so."""
        graph = self.graph
        numbers: dict[int, int] = {}
        records = []
        for of, reads, writes in self.steps(gone):
            if isinstance(of, _Recipe):
                old = graph.values[-1 - writes[0]]
                numbers[writes[0]] = graph.add_value(np.empty(old.shape, old.dtype), f"{old.name} again")
                own = tuple([numbers.get(reads[each], each) for each in of.reads])
                seconds = of.record.seconds
                new = Record(of.function, own, (numbers[writes[0]],), dict(vars(of.function)), seconds)
                new.in_backward = True
                records.append(new)
                continue
            of.reads = tuple([numbers.get(reads[each], each) for each in of.reads])
            of.hidden_reads = {path: numbers.get(reads[each], each) for path, each in of.hidden_reads.items()}
            records.append(of)
        graph.records = records


def _recipe_of(graph: Graph, record: Record | None) -> _Recipe | None:
    if record is None or record.in_backward or record.hidden_reads:
        return None
    function = record.function
    if isinstance(function, BatchNormalization):
        statistics = record.hidden_writes
        if set(statistics) != {"mean", "var"} or not rounds_as_ever(graph, record.writes[0]):
            return None
        again = FixedBatchNormalization(function._eps)
        return _Recipe(record, again, (*record.reads, statistics["mean"], statistics["var"]))
    if isinstance(function, BatchNormalizationReLU):
        return _Recipe(record, FixedBatchNormalizationReLU(function._eps), (*record.reads, *record.writes[1:3]))
    if not isinstance(function, _ELEMENTWISE) or record.hidden_writes or function.effect is not None:
        return None
    return _Recipe(record, copy.copy(function), record.reads)


def _ends_of_views(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Of values that may lie in their sources' memory: the sources, and theirs."""
    found: dict[int, tuple[int, ...]] = {}
    for record in graph.records:
        if isinstance(record.function, _VIEWS):
            source = record.reads[0]
            for value in record.writes:
                found[value] = (source, *found.get(source, ()))
    return found
