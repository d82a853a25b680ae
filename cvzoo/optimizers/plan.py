"""Groups of parameters that are updated together, and the passes over their blocks."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from cvzoo.optimizers.blocks import Block, cut_into_blocks
from cvzoo.optimizers.entry import Entry, fits, grouped, prepare_state
from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.optimizers.in_threads import for_each_block
from cvzoo.optimizers.one_pass import one_pass_over
from cvzoo.optimizers.update_rule import AbstractLayerwiseRule, AbstractUpdateRule, Coefficients
from cvzoo.typing.aliases import Array

# Where gradients stay zero, moving means decay to denormal numbers and stay there, and arithmetic with those takes CPUs
# thirty times longer. Values within this factor of the denormal range are set to zero every FLUSH_EVERY updates.
NEARLY_DENORMAL = 1e5
FLUSH_EVERY = 32

T = TypeVar("T")
Change = tuple[Callable[..., None], Coefficients]


class Group:
    """Entries of one key, cut into blocks."""

    def __init__(self, numbers: Sequence[int], entries: Sequence[Entry]):
        first = entries[0]
        self.rule = first.rule
        self.rules = [entry.rule for entry in entries]
        self.changes = first.changes
        self.exempt = first.exempt
        self.dtype = first.array.dtype
        for entry in entries:
            prepare_state(entry)
        arrays = [entry.array for entry in entries]
        self.blocks = cut_into_blocks(numbers, arrays, [entry.rule.state for entry in entries])
        self.one_pass = None if isinstance(self.rule, AbstractLayerwiseRule) else one_pass_over(self.blocks, self.dtype)

    def scalars(self, numbers: Sequence[float | None]) -> Coefficients:
        """Numbers as 0-d arrays, which NumPy processes faster than Python's numbers; None stays None."""
        return tuple([None if number is None else np.asarray(number, self.dtype) for number in numbers])


class UpdatePlan:
    """The groups of a list of entries; valid as long as the entries stay the same."""

    def __init__(self, entries: Sequence[Entry]):
        self.entries = list(entries)
        self.groups = [Group(members, [entries[k] for k in members]) for members in grouped(entries)]

    def fits(self, entries: Sequence[Entry]) -> bool:
        """Whether the plan is valid for the entries."""
        return fits(self.entries, entries)

    def gradients(self) -> list[np.ndarray]:
        """The flat gradients, one per entry; views where they are contiguous."""
        return [entry.grad.reshape(-1) for entry in self.entries]


class Step:
    """One update of a plan, with the gradient hooks that were added so far.

    factor: scale of the gradients, applied first
    """

    def __init__(self, plan: UpdatePlan, t: int, factor: float):
        self.plan = plan
        self.t = t
        self._gradients = plan.gradients()
        self._changes: list[list[Change]] = [
            [(_multiply, group.scalars((factor,)))] if factor != 1 else [] for group in plan.groups
        ]

    def add(self, number: int, hook: AbstractGradientHook, norm: float | None = None) -> None:
        """Apply the optimizer's gradient hook with that index.

        norm: the norm of all gradients, if other steps have some of them
        """
        if hook.needs_norm and norm is None:
            norm = self.norm()
        numbers = hook.coefficients(self.t, norm)
        if numbers is not None:
            for group, changes in zip(self.plan.groups, self._changes):
                if group.changes[number]:
                    changes.append((hook.change, group.scalars(numbers)))

    def norm(self) -> float:
        """The Euclidean norm of all gradients together, after the hooks so far."""

        def work(block: Block, scratch: Sequence[np.ndarray], changes: Sequence[Change]) -> float:
            g = self._changed(block, block.load() if changes else None, changes, scratch)
            return float(_sum_of_squares(g, scratch[1], [0])[0])

        return math.sqrt(sum([sum(self._over(group, changes, work)) for group, changes in self._pairs()]))

    def is_finite(self) -> bool:
        """Whether every gradient is a finite number."""

        def work(block: Block, scratch: Sequence[np.ndarray], changes: Sequence[Change]) -> bool:
            # NaN and infinity propagate to the sum, one pass without a temporary; a finite block whose sum overflows is
            # checked element by element
            total = np.add.reduce(block.load_gradients(self._gradients))
            return bool(np.isfinite(total)) or bool(np.isfinite(block.load_gradients(self._gradients)).all())

        return all(all(self._over(group, changes, work)) for group, changes in self._pairs())

    def write_gradients(self) -> None:
        """Write the changed gradients into the parameters' `grad`, for hooks that read them."""

        def work(block: Block, scratch: Sequence[np.ndarray], changes: Sequence[Change]) -> None:
            block.store_gradients(self._changed(block, block.load(), changes, scratch), self._gradients)

        for group, changes in self._pairs():
            if changes:
                self._over(group, changes, work)
                changes.clear()
        for entry, flat in zip(self.plan.entries, self._gradients):
            grad = entry.grad
            if not np.may_share_memory(grad, flat):
                grad[...] = flat.reshape(grad.shape)

    def update(self) -> None:
        """Update the parameters."""
        for group, changes in self._pairs():
            rule = group.rule
            for other in group.rules:
                other.t += 1
            changes = list(changes)
            for hook in rule.hooks:
                numbers = hook.coefficients(rule.t, None)
                if numbers is not None:
                    changes.append((hook.change, group.scalars(numbers)))
            hp = rule.hyperparam.get_dict()
            c = group.scalars(rule.coefficients(hp, rule.t, group.exempt))
            limit = np.finfo(group.dtype).tiny * NEARLY_DENORMAL if rule.t % FLUSH_EVERY == 0 else None
            if group.one_pass is not None and group.one_pass.update(rule, changes, c, self._gradients, limit):
                continue
            ratios = self._ratios(group, rule, changes, hp, c) if isinstance(rule, AbstractLayerwiseRule) else None
            self._over(group, changes, _updater(self, rule, c, ratios, limit))

    def _ratios(
        self,
        group: Group,
        rule: AbstractLayerwiseRule,
        changes: Sequence[Change],
        hp: dict[str, float],
        c: Coefficients,
    ) -> np.ndarray:
        """(K,) float64, one per entry of the plan; undefined for entries of other groups."""

        def work(block: Block, scratch: Sequence[np.ndarray], changes: Sequence[Change]) -> np.ndarray:
            p = block.load()
            g = self._changed(block, p, changes, scratch)
            pair = rule.measure_block(p, g, block.state, c, scratch[1:3])
            starts = [0] if block.starts is None else block.starts
            return np.array([_sum_of_squares(x, scratch[3], starts) for x in pair], np.float64)

        totals = np.zeros((2, len(self.plan.entries)))
        for block, sums in zip(group.blocks, self._over(group, changes, work)):
            totals[:, block.members] += sums
        first, second = np.sqrt(totals)
        return rule.ratio(first, second, hp, group.exempt)

    def _pairs(self) -> Iterable[tuple[Group, list[Change]]]:
        return zip(self.plan.groups, self._changes)

    def _over(self, group: Group, changes: Sequence[Change], work: Callable[..., T]) -> list[T]:
        return for_each_block(group.blocks, lambda block, scratch: work(block, scratch, changes))

    def _changed(
        self, block: Block, p: np.ndarray | None, changes: Sequence[Change], scratch: Sequence[np.ndarray]
    ) -> np.ndarray:
        g = block.load_gradients(self._gradients)
        for change, c in changes:
            change(p, g, scratch[0], scratch[1], c)
            g = scratch[0]
        return g


def _updater(
    step: Step, rule: AbstractUpdateRule, c: Coefficients, ratios: np.ndarray | None, limit: float | None
) -> Callable[..., None]:
    def work(block: Block, scratch: Sequence[np.ndarray], changes: Sequence[Change]) -> None:
        p = block.load()
        g = step._changed(block, p, changes, scratch)
        ratio = None
        if ratios is not None:
            ratio = ratios[block.members].astype(p.dtype)
            if block.lengths is not None:
                ratio = np.repeat(ratio, block.lengths)
        rule.update_block(p, g, block.state, c, scratch[1:3], ratio)
        block.store()
        if limit is not None:
            for slot in block.state:
                np.copyto(slot, 0, where=np.less(np.abs(slot, scratch[0]), limit))

    return work


def _sum_of_squares(x: np.ndarray, scratch: np.ndarray, starts: Sequence[int] | np.ndarray) -> np.ndarray:
    """(K,): sums of squares of the segments that begin at `starts`, in x's dtype."""
    # precise enough in float32, as NumPy sums pairwise and blocks are short
    return np.add.reduceat(np.multiply(x, x, scratch), starts)


def _multiply(p: Array | None, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
    np.multiply(g, c[0], out)
