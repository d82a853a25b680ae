"""One update on a GPU: kernel launches are collected, then launched in order without synchronization."""

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.gpu_kernels import KernelModule, gpu_arrays
from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.optimizers.on_device import formula, kernel_text
from cvzoo.optimizers.on_device.kernels import FIXED, kernel_of, write_words
from cvzoo.optimizers.on_device.plain import PlainUpdate
from cvzoo.optimizers.on_device.plan import NORMS, NUMBERS, DeviceGroup, DevicePlan
from cvzoo.optimizers.on_device.scaling import ScalingOnDevice
from cvzoo.optimizers.on_device.trace import Cell, Trace
from cvzoo.optimizers.update_rule import AbstractLayerwiseRule, AbstractUpdateRule, Coefficients
from cvzoo.typing.aliases import Array


class _Part:
    """A step of one group of parameters: its scalars, and the changes of gradients so far."""

    def __init__(self, k: int, group: DeviceGroup):
        self.k = k
        self.group = group
        self.scalars = Trace("double", "n", lift=True)
        self.changes: list[formula.Change] = []
        # the same with scalars on the host
        self.plain: list[tuple[Callable[..., None], Callable[[], Coefficients]]] = []

    def cells(self, numbers: Coefficients) -> tuple[Cell | None, ...]:
        """Numbers of the host, or of the device, as cells; None stays None."""
        return tuple([x if x is None or isinstance(x, Cell) else self.scalars.number(x) for x in numbers])

    def key(self, kind: str, coefficients: Sequence[Cell | None] = ()) -> tuple[Hashable, ...]:
        changes = tuple([(change, _names(cells)) for change, cells in self.changes])
        return (kind, self.group.shapes, tuple(self.scalars.lines), changes, _names(coefficients))


def _names(cells: Sequence[Cell | None]) -> tuple[str | None, ...]:
    return tuple([None if cell is None else cell.name for cell in cells])


class DeviceStep:
    """One update of a plan. As Step, but without values that only the GPU knows.

    count: gradients are first divided by it and by the loss scale; None: they were divided already
    scaling: decides on the GPU whether the update is skipped; None: it is not
    Raises GraphError while a graph is being captured.
    """

    def __init__(
        self,
        plan: DevicePlan,
        t: int,
        count: float | None,
        *,
        scaling: ScalingOnDevice | None = None,
    ):
        if plan.device.is_capturing():
            raise GraphError("an update cannot be captured", hint="capture the passes, then update")
        self.plan = plan
        self.t = t
        self.scaling = scaling
        self._launches: list[Callable[[], None]] = []  # not launched yet
        self.advance: list[AbstractUpdateRule] = []  # rules that will have made one more update
        self._n_norm = 0
        self._gradients: list[Array] | None = None
        self._parts = [_Part(k, group) for k, group in enumerate(plan.groups)]
        if count is not None and scaling is not None:
            for part in self._parts:
                divisor = part.scalars.number(count) * part.scalars.cell("loss_scale[1]")
                part.changes.append(formula.Change(_multiply, (1.0 / divisor,)))
                part.plain.append((_multiply, lambda: (1.0 / (count * float(scaling.state[1])),)))
        elif count is not None and count != 1:
            self._change_all(_multiply, (1.0 / count,))

    # --- gradients --------------------------------------------------------------------------------------------------
    def check(self) -> None:
        """Check on the GPU whether all gradients are finite; otherwise the update is skipped. Needs `scaling`."""
        assert self.scaling is not None
        self._launches.append(self.scaling.begin)
        self._check_all(self.scaling.non_finite)
        self._launches.append(self.scaling.end)

    def is_finite(self) -> bool:
        """Whether all gradients are finite; synchronizes."""
        with self.plan.device:
            non_finite = gpu_arrays().zeros(1, np.int32)
            self._check_all(non_finite)
            self.launch()
            return not int(non_finite[0])

    def was_skipped(self) -> bool:
        """Whether `check` found a gradient that is not finite; synchronizes. Needs `scaling`."""
        assert self.scaling is not None
        self.launch()
        with self.plan.device:
            return bool(int(self.scaling.non_finite[0]))

    def add(self, number: int, hook: AbstractGradientHook, norm: float | None = None) -> None:
        """Apply the gradient hook with this index.

        norm: of all gradients, if other steps have some of them
        """
        if hook.needs_norm and norm is None:
            if hook.coefficients_of_norm(self.t, np.float64(1)) is None:
                norm = self.norm()
            else:
                self._add_by_norm(number, hook)
                return
        numbers = hook.coefficients(self.t, norm)
        if numbers is not None:
            self._change_all(hook.change, numbers, number)

    def norm(self) -> float:
        """The Euclidean norm of all gradients after the changes so far; synchronizes."""
        index = self._measure()
        self.launch()
        with self.plan.device:
            return float(self.plan.norms[index])

    def _add_by_norm(self, number: int, hook: AbstractGradientHook) -> None:
        index = self._measure()
        norms = self.plan.norms
        hook.measured(norms[index])
        for part in self._parts:
            if part.group.changes[number]:
                norm: Any = part.scalars.cell(f"norms[{index}]")  # a cell stands for the norm
                coefficients = hook.coefficients_of_norm(self.t, norm)
                assert coefficients is not None  # checked by `add`
                part.changes.append(formula.Change(hook.change, part.cells(coefficients)))
                coefficients_on_host = lambda: hook.coefficients_of_norm(self.t, np.float64(norms[index].get())) or ()  # noqa: E731
                part.plain.append((hook.change, coefficients_on_host))

    def _change_all(self, change: Callable[..., None], numbers: Coefficients, number: int | None = None) -> None:
        for part in self._parts:
            if number is None or part.group.changes[number]:
                part.changes.append(formula.Change(change, part.cells(numbers)))
                part.plain.append((change, lambda: tuple(numbers)))

    def _measure(self) -> int:
        index, self._n_norm = self._n_norm, self._n_norm + 1
        if index >= NORMS:
            raise ValueRangeError(f"too many hooks that read the norm of gradients: more than {NORMS}")
        norms = self.plan.norms[index:]
        for part in self._parts:
            key = part.key("norm")
            make = lambda part=part: formula.norm_formula(part.scalars, part.group.shapes, part.changes)  # noqa: E731
            self._over_chunks(part, key, make, partials=self.plan.sums(part.k), is_required=True)
        n = np.int32(len(self.plan.partials))
        args = (self.plan.partials, n, norms)
        self._launches.append(lambda: FIXED.launch("root_of_sum", (1, 1, 1), (256, 1, 1), args))
        return index

    def _check_all(self, non_finite: Array) -> None:
        for part in self._parts:
            make = lambda part=part: formula.check_formula(part.group.shapes)  # noqa: E731
            self._over_chunks(part, ("check", part.group.shapes), make, non_finite=non_finite)

    def write_gradients(self) -> None:
        """Write the changes into the gradients, for hooks that read them."""
        for part in self._parts:
            if part.changes:
                key = part.key("write")
                make = lambda part=part: formula.write_formula(part.scalars, part.group.shapes, part.changes)  # noqa: E731
                self._over_chunks(part, key, make, is_required=True)
        self.launch()
        if self._gradients is not None:
            entries = [entry for group in self.plan.groups for entry in group.entries]
            for entry, flat in zip(entries, self._gradients):
                if entry.grad is not flat:
                    entry.grad[...] = flat

    # --- the update -------------------------------------------------------------------------------------------------
    def update(self) -> None:
        """Update the parameters. A skipped update is counted, too: `scaling` has the number of those."""
        for part in self._parts:
            self._update(part)
        self.launch()
        for rule in self.advance:
            rule.t += 1

    def _update(self, part: _Part) -> None:
        group, scalars = part.group, part.scalars
        rule = group.rule
        self.advance += group.rules
        t = rule.t + 1
        for hook in rule.hooks:
            numbers = hook.coefficients(t, None)
            if numbers is not None:
                part.changes.append(formula.Change(hook.change, part.cells(numbers)))
                part.plain.append((hook.change, functools.partial(tuple, numbers)))
        hp = rule.hyperparam.get_dict()
        numbers = rule.coefficients(hp, t, group.exempt)
        cells = None
        if self.scaling is not None:  # only the GPU knows how many updates were skipped
            mark = len(scalars.lines), len(scalars.lifted)
            true_t = scalars.number(t) - scalars.cell("loss_scale[3]")
            cells = formula.traced(lambda: part.cells(rule.coefficients(hp, true_t, group.exempt)))
            if cells is None:
                del scalars.lines[mark[0] :], scalars.lifted[mark[1] :]
        if cells is None:
            cells = part.cells(numbers)
        layerwise = rule if isinstance(rule, AbstractLayerwiseRule) else None
        shapes, changes = group.shapes, part.changes
        key = (*part.key("update", cells), type(rule))
        measure_key = (*part.key("measure", cells), type(rule))
        update = self._kernel(
            part, key, lambda: formula.update_formula(scalars, shapes, changes, rule, cells, layerwise is not None)
        )
        ratio = measure = None
        if layerwise is not None:
            measure = self._kernel(
                part, measure_key, lambda: formula.measure_formula(scalars, shapes, changes, layerwise, cells)
            )
            ratio = self._ratio(part, layerwise, hp)
        if update is None or (layerwise is not None and (measure is None or ratio is None)):
            self._update_plainly(part, numbers, hp)
            return
        if group.table.copied:
            self._launches.append(group.table.load)
        non_finite = None if self.scaling is None else self.scaling.non_finite
        if ratio is not None:
            self._over_chunks(part, measure_key, None, non_finite=non_finite)
            numbers_here = self.plan.numbers(part.k)
            self._launches.append(lambda: group.table.of_entries(ratio, numbers_here))
        self._over_chunks(part, key, None, non_finite=non_finite)
        if group.table.copied:
            self._launches.append(group.table.store)

    def _ratio(self, part: _Part, rule: AbstractLayerwiseRule, hp: dict[str, float]) -> KernelModule | None:
        trace = Trace("double", "r", lift=True)
        trace.lifted = part.scalars.lifted
        first: Any = trace.cell("first")  # cells stand for the arrays of norms
        second: Any = trace.cell("second")
        text = formula.traced(lambda: trace.name_of(rule.ratio(first, second, hp, part.group.exempt)))
        return None if text is None else kernel_of(kernel_text.ratio_text(trace.lines, text))

    def _update_plainly(self, part: _Part, numbers: Coefficients, hp: dict[str, float]) -> None:
        skipped = None if self.scaling is None else self.scaling.non_finite
        non_finite = PlainUpdate(
            part.group.entries, part.group.rule, part.plain, numbers, hp, part.group.exempt, skipped
        )
        self._launches.append(non_finite.run)

    # --- launching --------------------------------------------------------------------------------------------------
    def _kernel(self, part: _Part, key: tuple, make: Callable[[], formula.Formula]) -> KernelModule | None:
        kernels = part.group.kernels
        if key not in kernels:
            text = formula.traced(make)
            kernels[key] = None if text is None else kernel_of(kernel_text.update_text(text))
        return kernels[key]

    def _over_chunks(
        self,
        part: _Part,
        key: tuple,
        make: Callable[[], formula.Formula] | None,
        *,
        partials: Array | None = None,
        non_finite: Array | None = None,
        is_required: bool = False,
    ) -> None:
        found = part.group.kernels[key] if make is None else self._kernel(part, key, make)
        if found is None and is_required and make is not None:
            make()  # raises, with the reason
        kernel = cast(KernelModule, found)
        plan = self.plan
        numbers, gradients = plan.numbers(part.k), plan.addresses(part.k)
        state = None if self.scaling is None else self.scaling.state

        def run() -> None:
            part.group.table.over_chunks(
                kernel,
                numbers,
                gradients=gradients,
                loss_scale=state,
                norms=plan.norms,
                partials=partials,
                non_finite=non_finite,
            )

        self._launches.append(run)

    def launch(self) -> None:
        """Write the scalars of this step to the GPU, and launch the collected kernels."""
        with self.plan.device:
            self._write_numbers()
            self._write_addresses()
            for run in self._launches:
                run()
        self._launches.clear()

    def _write_numbers(self) -> None:
        """Write the scalars of this step to the GPU."""
        values = np.zeros((len(self._parts), NUMBERS))
        for part in self._parts:
            lifted = part.scalars.lifted
            if len(lifted) > NUMBERS:
                raise ValueRangeError(f"an update has too many scalars: {len(lifted)}, at most {NUMBERS}")
            values[part.k, : len(lifted)] = lifted
        write_words(values.reshape(-1).view(np.int64), self.plan.words)

    def _write_addresses(self) -> None:
        if self._gradients is None:
            grads = [entry.grad for group in self.plan.groups for entry in group.entries]
            loaded = gpu_arrays()
            self._gradients = [g if g.flags.c_contiguous else loaded.ascontiguousarray(g) for g in grads]
            addresses = np.array([device_address(g) for g in self._gradients], np.int64)
            write_words(addresses, self.plan.words[NUMBERS * len(self._parts) :])


def _multiply(p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
    np.multiply(g, c[0], out)
