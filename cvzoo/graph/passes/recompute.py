"""Gradient checkpointing (rematerialization): cheap results are recomputed in the backward pass."""

import copy
import itertools
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.functions.array.axes import Reshape, Transpose
from cvzoo.functions.array.indexing import GetItem
from cvzoo.functions.math.arithmetic import Add, AddReLU
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput
from cvzoo.functions.normalization.batch_normalization import BatchNormalization
from cvzoo.functions.normalization.batch_normalization_relu import BatchNormalizationReLU, FixedBatchNormalizationReLU
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.graph.capture import SharedView
from cvzoo.graph.passes.fuse_batch_norm_relu_training import rounds_equally
from cvzoo.graph.records import Graph, Record

_ELEMENTWISE = (Add, AddReLU, AbstractElementwise, AbstractElementwiseOfOutput)
_VIEWS = (GetItem, Reshape, SharedView, Transpose)
_SLACK = 0.05  # of the peak: a value is kept if that raises the peak by no more
_TRIALS = 100
_ROUNDS = 4


class _Recipe(NamedTuple):
    """How a value is recomputed."""

    record: Record
    function: FunctionNode
    reads: tuple[int, ...]


# a record of the graph, or a recipe for a value; the values that it now reads, hidden ones last; those that it writes
_Step = tuple[Record | _Recipe, tuple[int, ...], tuple[int, ...]]


def recompute(graph: Graph) -> int:
    """Recompute results of cheap records before their first reader in the backward pass; returns the number of
    additional records.

    Cheap are normalizations whose statistics are kept, element-wise functions, and their fusions. A result is discarded
    only if it can be recomputed from kept values to the same bits, and only where that lowers the peak memory.
    """
    plan = RecomputationPlan(graph)
    if not plan.candidates:
        return 0
    discarded, smallest_peak = _smallest(plan)
    if smallest_peak >= plan.peak({}):
        return 0
    for value in plan.by_cost()[:_TRIALS]:
        candidate = _without(discarded, value)
        if plan.peak(candidate) <= smallest_peak * (1 + _SLACK):
            discarded = candidate
    before = len(graph.records)
    plan.apply(discarded)
    return len(graph.records) - before


def _without(discarded: dict[int, None], value: int) -> dict[int, None]:
    return {each: None for each in discarded if each != value}


def _smallest(plan: "RecomputationPlan") -> tuple[dict[int, None], int]:
    """The values to recompute for the smallest peak memory, and this peak.

    All candidates but some: a value kept within a chain of sums avoids recomputing the whole chain at once.
    """
    discarded = dict.fromkeys(plan.candidates)
    smallest_peak = plan.peak(discarded)
    for _ in range(_ROUNDS):
        peaks = {
            value: plan.peak(_without(discarded, value)) for value in plan.by_cost()[:_TRIALS] if value in discarded
        }
        best = min(peaks, key=peaks.__getitem__, default=None)
        if best is None or peaks[best] >= smallest_peak:
            break
        discarded, smallest_peak = _without(discarded, best), peaks[best]
    return discarded, smallest_peak


class RecomputationPlan:
    """Costs and savings of recomputation; internal to `recompute`.

    candidates: the values that may be recomputed, with recipes for them and their inputs
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.writers = {
            record.writes[0]: record for record in graph.records if record.writes and not record.in_backward
        }
        self.crossing: set[int] = set()
        for record in graph.records:
            if record.in_backward:
                self.crossing.update(record.reads, record.hidden_reads.values())
        self._kept = {*graph.constants, *graph.inputs, *self.crossing}
        recipes: dict[int, _Recipe | None] = {}
        self._depths: dict[int, int] = {}
        outputs = set(graph.outputs)
        self.candidates = [
            value
            for value, record in self.writers.items()
            if value in self.crossing and value not in outputs and self._recipe(value, recipes) is not None
        ]
        self.recipes = {value: recipe for value, recipe in recipes.items() if recipe is not None}
        self.view_sources = _sources_of_views(graph)
        self._plain: list[_Step] = [(record, record.all_reads, record.all_writes) for record in graph.records]
        # for each recipe the recomputable values that it reads, those at the end of long chains first, which shortens
        # the lifetime of the others; and whether they must be recomputed even if they are not discarded
        self._needs = {
            value: [
                (each, each not in self._kept and each not in recipe.record.all_writes)
                for each in sorted(recipe.reads, key=self._depth, reverse=True)
                if each in self.recipes
            ]
            for value, recipe in self.recipes.items()
        }
        self._costs: dict[int, float] = {}
        self._by_cost = sorted(self.candidates, key=self._cost, reverse=True)

    def _recipe(self, value: int, recipes: dict[int, _Recipe | None]) -> _Recipe | None:
        """How to compute the value from kept values; None if it is not cheap, or needs values that are not kept.

        recipes: the answers so far, to be added to
        """
        if value not in recipes:
            recipe = _recipe_of(self.graph, self.writers.get(value))
            if recipe is not None and not all(self._is_available(each, recipe, recipes) for each in recipe.reads):
                recipe = None
            recipes[value] = recipe
        return recipes[value]

    def _is_available(self, value: int, recipe: _Recipe, recipes: dict[int, _Recipe | None]) -> bool:
        statistics = recipe.record.all_writes
        return value in self._kept or value in statistics or self._recipe(value, recipes) is not None

    def _depth(self, value: int) -> int:
        """The length of the longest chain of recomputable values that ends in it."""
        if value not in self._depths:
            recipe = self.recipes.get(value)
            self._depths[value] = 0 if recipe is None else 1 + max(map(self._depth, recipe.reads))
        return self._depths[value]

    def steps(self, discarded: dict[int, None]) -> list[_Step]:
        """All records, with recipes for discarded values before their first readers; copies have numbers below 0."""
        steps: list[_Step] = []
        copies: dict[int, int] = {}
        for plain in self._plain:
            record, reads, writes = plain
            if isinstance(record, Record) and record.in_backward:
                for value in reads:
                    if value in discarded and value not in copies:
                        self._recompute(value, discarded, copies, steps)
                if not copies.keys().isdisjoint(reads):
                    plain = record, tuple(map(copies.get, reads, reads)), writes
            steps.append(plain)
        return steps

    def _recompute(self, value: int, discarded: dict[int, None], copies: dict[int, int], steps: list[_Step]) -> None:
        """Append the recipe of the value, and before it those of values that it needs."""
        chain = [value]  # a stack of its own: chains of sums may be longer than Python's recursion limit
        while chain:
            value = chain[-1]
            for each, is_needed in self._needs[value]:
                if each not in copies and (is_needed or each in discarded):
                    chain.append(each)
                    break
            else:
                chain.pop()
                recipe = self.recipes[value]
                copies[value] = -1 - value
                reads = tuple(map(copies.get, recipe.reads, recipe.reads))
                steps.append((recipe, reads, (-1 - value,)))

    def peak(self, discarded: dict[int, None]) -> int:
        """Peak memory in bytes, without the caller's results."""
        steps, values, views = self.steps(discarded), self.graph.values, self.view_sources
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

    def by_cost(self) -> list[int]:
        """The values that may be recomputed, in descending order of cost per byte."""
        return self._by_cost

    def _cost(self, value: int) -> float:
        if value not in self._costs:
            recipe = self.recipes[value]
            cost = float(len(recipe.reads))  # such kernels are bound by memory: one pass per operand
            for each in recipe.reads:
                if each not in self._kept and each in self.recipes:
                    cost += self._cost(each)
            self._costs[value] = cost
        return self._costs[value]

    def apply(self, discarded: dict[int, None]) -> None:
        """Apply the plan to the graph."""
        graph = self.graph
        numbers: dict[int, int] = {}
        records = []
        for step, reads, writes in self.steps(discarded):
            reads = tuple(map(numbers.get, reads, reads))
            if isinstance(step, _Recipe):
                old = graph.values[-1 - writes[0]]
                numbers[writes[0]] = graph.add_value(np.empty(old.shape, old.dtype))
                seconds = step.record.seconds
                new = Record(step.function, reads, (numbers[writes[0]],), dict(vars(step.function)), seconds)
                new.in_backward = True
                records.append(new)
                continue
            step.reads, hidden = reads[: len(step.reads)], reads[len(step.reads) :]
            step.hidden_reads = dict(zip(step.hidden_reads, hidden))
            records.append(step)
        graph.records = records


def _recipe_of(graph: Graph, record: Record | None) -> _Recipe | None:
    if record is None or record.in_backward or record.hidden_reads:
        return None
    function = record.function
    if isinstance(function, BatchNormalization):
        statistics = record.hidden_writes
        if set(statistics) != {"mean", "var"} or not rounds_equally(graph, record.writes[0]):
            return None
        fixed = FixedBatchNormalization(function._eps)
        return _Recipe(record, fixed, (*record.reads, statistics["mean"], statistics["var"]))
    if isinstance(function, BatchNormalizationReLU):
        return _Recipe(record, FixedBatchNormalizationReLU(function._eps), (*record.reads, *record.writes[1:3]))
    if not isinstance(function, _ELEMENTWISE) or record.hidden_writes or function.effect is not None:
        return None
    return _Recipe(record, copy.copy(function), record.reads)


def _sources_of_views(graph: Graph) -> dict[int, tuple[int, ...]]:
    """For values that may be views: the values that they are views of, nearest first."""
    sources: dict[int, tuple[int, ...]] = {}
    for record in graph.records:
        if isinstance(record.function, _VIEWS):
            source = record.reads[0]
            for value in record.writes:
                sources[value] = (source, *sources.get(source, ()))
    return sources
