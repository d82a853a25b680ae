"""Gradient checkpointing (rematerialization): cheap results are recomputed in the backward pass."""

import copy
import itertools
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.functions.array.get_item import GetItem
from cvzoo.functions.array.reshape import Reshape
from cvzoo.functions.array.transpose import Transpose
from cvzoo.functions.math.add import Add, AddReLU
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
    """How a value is recomputed."""

    record: Record
    function: FunctionNode
    reads: tuple[int, ...]


# a record of the graph, or a recipe for a value; the values that it reads now, hidden ones last; those that it writes
_Step = tuple[Record | _Recipe, tuple[int, ...], tuple[int, ...]]


def recompute(graph: Graph) -> int:
    """Recompute results of cheap records before their first reader in the backward pass; returns the number of
    additional records.

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
    """The values to recompute for the smallest peak memory, and this peak.

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
    """Costs and savings of recomputation; internal to `recompute`.

    found: the values that may be recomputed, with recipes for them and their inputs
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.makers = {record.writes[0]: record for record in graph.records if record.writes and not record.in_backward}
        self.crossing: set[int] = set()
        for record in graph.records:
            if record.in_backward:
                self.crossing.update(record.reads, record.hidden_reads.values())
        self._kept = {*graph.constants, *graph.inputs, *self.crossing}
        self.recipes: dict[int, _Recipe | None] = {}
        self._depths: dict[int, int] = {}
        outputs = set(graph.outputs)
        self.found = [
            value
            for value, record in self.makers.items()
            if value in self.crossing and value not in outputs and self.recipe(value) is not None
        ]
        self.last_views = _ends_of_views(graph)
        self._plain: list[_Step] = [(record, record.all_reads, record.all_writes) for record in graph.records]
        # of each recipe: what it reads, long chains first, so that what is added to them is made only then; and whether
        # that has to be made even if nobody lets it go
        self._wants = {
            value: [
                (each, each not in self._kept and each not in recipe.record.all_writes)
                for each in sorted(recipe.reads, key=self._depth, reverse=True)
                if self.recipes.get(each) is not None
            ]
            for value, recipe in self.recipes.items()
            if recipe is not None
        }
        self._costs: dict[int, float] = {}
        self._dearest = sorted(self.found, key=self._cost, reverse=True)

    def recipe(self, value: int) -> _Recipe | None:
        """How to compute the value from kept values; None if it is not cheap, or would keep more."""
        if value not in self.recipes:
            recipe = _recipe_of(self.graph, self.makers.get(value))
            if recipe is not None and not all(self._is_at_hand(each, recipe) for each in recipe.reads):
                recipe = None
            self.recipes[value] = recipe
        return self.recipes[value]

    def _is_at_hand(self, value: int, recipe: _Recipe) -> bool:
        own = recipe.record.all_writes  # the statistics
        return value in self._kept or value in own or self.recipe(value) is not None

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
        for plain in self._plain:
            record, reads, writes = plain
            if isinstance(record, Record) and record.in_backward:
                for value in reads:
                    if value in gone and value not in again:
                        self._make(value, gone, again, steps)
                if not again.keys().isdisjoint(reads):
                    plain = record, tuple(map(again.get, reads, reads)), writes
            steps.append(plain)
        return steps

    def _make(self, value: int, gone: dict[int, None], again: dict[int, int], steps: list[_Step]) -> None:
        """Append what makes the value again, and before it what makes what that wants."""
        chain = [value]
        while chain:
            value = chain[-1]
            for each, has_to in self._wants[value]:
                if each not in again and (has_to or each in gone):
                    chain.append(each)
                    break
            else:
                chain.pop()
                recipe = self._recipe(value)
                again[value] = -1 - value
                reads = tuple([again.get(each, each) for each in recipe.reads])
                steps.append((recipe, reads, (-1 - value,)))

    def _recipe(self, value: int) -> _Recipe:
        recipe = self.recipes[value]
        assert recipe is not None  # only values with a recipe are recomputed
        return recipe

    def peak(self, gone: dict[int, None]) -> int:
        """Peak memory in bytes, without the caller's results."""
        steps, values, views = self.steps(gone), self.graph.values, self.last_views
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for k, (_, reads, writes) in enumerate(steps):
            for value in writes:
                first[value] = last[value] = k
            for value in reads:
                last[value] = k
                for base in views.get(value, ()):
                    last[base] = k
        for value in self.graph.outputs:
            first.pop(value, None)
        changes = [0] * (len(steps) + 2)
        for value, k in first.items():
            if value in views:
                continue
            nbytes = values[value if value >= 0 else -1 - value].nbytes
            changes[k] += nbytes
            changes[last[value] + 1] -= nbytes
        return max(itertools.accumulate(changes))

    def dearest(self) -> list[int]:
        """The values that may be recomputed, in descending order of cost per byte."""
        return self._dearest

    def _cost(self, value: int) -> float:
        if value not in self._costs:
            recipe = self._recipe(value)
            cost = float(len(recipe.reads))
            for each in recipe.reads:
                if each not in self._kept and self.recipes.get(each) is not None:
                    cost += self._cost(each)
            self._costs[value] = cost
        return self._costs[value]

    def carry_out(self, gone: dict[int, None]) -> None:
        """Apply the plan to the graph."""
        graph = self.graph
        numbers: dict[int, int] = {}
        records = []
        for of, reads, writes in self.steps(gone):
            reads = tuple(map(numbers.get, reads, reads))
            if isinstance(of, _Recipe):
                old = graph.values[-1 - writes[0]]
                numbers[writes[0]] = graph.add_value(np.empty(old.shape, old.dtype))
                seconds = of.record.seconds
                new = Record(of.function, reads, (numbers[writes[0]],), dict(vars(of.function)), seconds)
                new.in_backward = True
                records.append(new)
                continue
            of.reads, hidden = reads[: len(of.reads)], reads[len(of.reads) :]
            of.hidden_reads = dict(zip(of.hidden_reads, hidden))
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
