"""Updates in one pass over memory: the traced formulas of rules and hooks as programs of our kernel on the CPU."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.elementwise import Program, compiled, run_program
from cvzoo.backends.native.library import native
from cvzoo.optimizers.blocks import Block, Gathered, Piece
from cvzoo.optimizers.on_device import formula
from cvzoo.optimizers.on_device.trace import Trace
from cvzoo.optimizers.update_rule import AbstractUpdateRule, Coefficients

Changes = Sequence[tuple[Callable[..., None], Coefficients]]

_F32 = np.dtype(np.float32)
_GATHERED = -1


class OnePass:
    """The blocks of a group of float32 parameters as segments of one call of our kernel."""

    def __init__(self, blocks: Sequence[Block]):
        self._gathered: list[Gathered] = []
        rows: list[tuple[int, ...]] = []
        for block in blocks:
            state = [numpy_address(slot) for slot in block.state]
            if isinstance(block, Piece):
                rows.append((block.index, 4 * block.span.start, block.n, numpy_address(block.p), 0, *state))
            elif all(source.flags.c_contiguous for source in block.sources):  # updated where they are
                members = zip(block.indexes, block.lengths.tolist(), block.starts.tolist(), block.sources)
                for index, n, start, source in members:
                    rows.append((index, 0, n, numpy_address(source), 0, *[slot + 4 * start for slot in state]))
            else:
                rows.append((_GATHERED, 0, block.n, numpy_address(block.p), numpy_address(block.g), *state))
                self._gathered.append(block)
        table = np.array(rows, np.int64)
        self._owners, self._offsets = table[:, 0], table[:, 1]
        self._starts = np.concatenate([[0], np.cumsum(table[:, 2])])
        self._addresses = np.ascontiguousarray(table[:, 3:])
        self._is_gathered = self._owners == _GATHERED
        self._buffers = self._addresses[self._is_gathered, 1]
        self._programs: dict[tuple[Hashable, ...], Program | None] = {}

    def update(
        self,
        rule: AbstractUpdateRule,
        changes: Changes,
        c: Coefficients,
        gradients: Sequence[np.ndarray],
        limit: float | None,
    ) -> bool:
        """Whether the kernel has updated the blocks; False: nothing was done, and NumPy must update them.

        changes, c: changes of the gradients, in order, and the rule's coefficients
        gradients: flat, of all entries of the plan
        limit: values of the state below it become 0; None: they stay
        """
        if any(g.dtype != _F32 or not g.flags.c_contiguous for g in gradients):
            return False
        program = self._program(rule, changes, c, limit)
        if program is None:
            return False
        bases = np.array([*[numpy_address(g) for g in gradients], 0], np.int64)  # the last one is that of gathered ones
        np.add(bases[self._owners], self._offsets, out=self._addresses[:, 1])
        self._addresses[self._is_gathered, 1] = self._buffers
        for block in self._gathered:
            block.load()
            block.load_gradients(gradients)
        coefficients = [x for numbers in (*[numbers for _, numbers in changes], c) for x in numbers if x is not None]
        run_program(program, coefficients, self._addresses, self._starts)
        for block in self._gathered:
            block.store()
        return True

    def _program(
        self, rule: AbstractUpdateRule, changes: Changes, c: Coefficients, limit: float | None
    ) -> Program | None:
        functions = [rule.update_block, *[change for change, _ in changes]]
        if not all(str(function.__module__).startswith("cvzoo.") for function in functions):
            return None  # a user's formula may depend on more than its coefficients
        parts = tuple([(change, _pattern(numbers)) for change, numbers in changes])
        key = type(rule), parts, _pattern(c), limit
        if key not in self._programs:
            self._programs[key] = _compiled(rule, changes, c, limit)
        return self._programs[key]


def _pattern(numbers: Coefficients) -> tuple[bool, ...]:
    return tuple([x is None for x in numbers])


def _compiled(rule: AbstractUpdateRule, changes: Changes, c: Coefficients, limit: float | None) -> Program | None:
    scalars = Trace("double", "n", lift=True)
    shapes = formula.Shapes(_F32, True, len(rule.slots))

    def cells(numbers: Coefficients) -> formula.Coefficients:
        return [None if x is None else scalars.number(x) for x in numbers]

    parts = [formula.Change(change, cells(numbers)) for change, numbers in changes]
    text = formula.traced(lambda: formula.update_formula(scalars, shapes, parts, rule, cells(c), False))
    if text is None or len(text.coefficients) != len(scalars.lifted) or None in text.operations:
        return None
    slots = [f"s{k}" for k in range(len(rule.slots))]
    coefficients = [f"c{k}" for k in range(len(text.coefficients))]
    literals, flushed = dict(text.literals), None
    if limit is not None:
        literals["limit"], flushed = limit, dict.fromkeys(slots, "limit")
    operations = [operation for operation in text.operations if operation is not None]
    return compiled(operations, dict(text.stored), ["p", "g", *slots], coefficients, literals, flushed=flushed)


def one_pass_over(blocks: Sequence[Block], dtype: np.dtype) -> OnePass | None:
    """The updates of the blocks by our kernel; None if there is no library, or another dtype."""
    return OnePass(blocks) if dtype == _F32 and blocks and native() is not None else None
