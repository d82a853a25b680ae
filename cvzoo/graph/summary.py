"""Text summaries of compiled graphs."""

import dataclasses
from typing import Protocol

from cvzoo.backends.onednn.winograd import WINOGRAD
from cvzoo.graph.device_program import DeviceProgram
from cvzoo.graph.memory import Area
from cvzoo.graph.micro_batches import MicroBatches
from cvzoo.graph.program import Program
from cvzoo.graph.steps import ARENA, RESULT, Call, Lowered
from cvzoo.reporting.counted import counted

_HEAD = ("step", "function", "kernel", "ms", "reads", "writes", "shape", "MB", "at MB", "until")
_LEFT = {1, 2, 4, 5, 6}
_EXPLAINED = (
    "#: blocks of the planned memory, at: where, until: the last step that needs it; "
    "in: inputs, out: results, new each time, own: made by functions that run as they are"
)


class Compiled(Protocol):
    """The attributes of compiled graphs that a summary needs; see `CompiledGraph`."""

    program: Program | DeviceProgram
    name: str
    n_record: int
    eager_peak: int
    changed: dict[str, int]
    seconds: float

    @property
    def planned_peak(self) -> int: ...

    @property
    def lower_bound(self) -> int: ...


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table: function, kernel, seconds, blocks that are read and written."""

    function: str
    kernel: str
    seconds: float | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]


def program_of(compiled: Compiled) -> Program:
    """The graph's CPU program."""
    assert isinstance(compiled.program, Program)
    return compiled.program


def rows_of(compiled: Compiled) -> list[Row]:
    """The steps in order; with times of a replay if it was profiled, else of the recorded pass."""
    program = program_of(compiled)
    lowered = program.lowered
    rows: list[Row] = []
    counted: set[int] = set()
    for k, step in enumerate(lowered.steps):
        record = step.record
        if isinstance(step, Call):
            kernel = step.operation
            reads, writes = set(step.blocks(written=False)), set(step.blocks(written=True))
        else:
            kernel = "a view" if step.is_view else "as it is"
            writes = {lowered.areas[value].owner for value in record.writes if value in lowered.areas}
            reads = lowered.touched(step) - writes
        if program.profiled is not None:
            seconds: float | None = program.profiled[k]
        else:
            seconds = None if id(record) in counted else record.seconds
        counted.add(id(record))
        rows.append(Row(record.label, kernel, seconds, tuple(sorted(reads)), tuple(sorted(writes))))
    return rows


def _names(lowered: Lowered, rows: list[Row]) -> dict[int, str]:
    """Names of the blocks, in order of first use."""
    inputs = [lowered.areas[value].owner for value in lowered.graph.inputs]
    order = dict.fromkeys([*inputs, *(number for row in rows for number in (*row.reads, *row.writes))])
    names: dict[int, str] = {}
    counts: dict[str, int] = {}
    for number in order:
        kind = lowered.blocks[number].kind
        name = "in" if number in inputs else {ARENA: "#", RESULT: "out"}.get(kind, "own")
        names[number] = f"{name}{counts.setdefault(name, 0)}"
        counts[name] += 1
    return names


def _weights(lowered: Lowered) -> str:
    """The memory of weights as kernels read them, and how much of it is filters of Winograd's algorithm."""
    calls = [step for step in lowered.steps if isinstance(step, Call)]
    sizes = {id(each): each.nbytes for call in calls for each in call.operands if not isinstance(each, Area)}
    transformed = {id(call.operands[1]) for call in calls if call.operation == WINOGRAD}
    part = sum(sizes.get(each, 0) for each in transformed) / 1e6
    return f"{sum(sizes.values()) / 1e6:.1f} MB of weights" + (f" ({part:.1f} MB for Winograd)" if transformed else "")


def summary_of(compiled: Compiled) -> str:
    """A header, then a table of the steps."""
    program = compiled.program
    if isinstance(program, DeviceProgram):
        return _summary_on_device(compiled, program)
    rows, lowered = rows_of(compiled), program.lowered
    table = [_HEAD, *_cells(compiled, rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(n) if i in _LEFT else cell.rjust(n) for i, (cell, n) in enumerate(zip(row, widths)))
        for row in table
    ]
    done = ", ".join(f"{name} {count}" for name, count in compiled.changed.items() if count) or "nothing"
    total = sum(row.seconds or 0 for row in rows) * 1e3
    which = "recorded pass" if program.profiled is None else "steps of a replay"
    besides = f"{program.scratch_nbytes / 1e6:.1f} MB for kernels, {_weights(lowered)}"
    parts = f", for each of {program.n} micro-batches" if isinstance(program, MicroBatches) else ""
    if lowered.graph.n_input is None:  # no backward pass
        besides += f" and {program.result_nbytes / 1e6:.1f} MB of results"
        which += "; graph.profile() measures a replay" if program.profiled is None else ""
    return "\n".join(
        [
            f"{compiled.name or 'graph'}: {counted(compiled.n_record, 'function')} as "
            f"{counted(program.n_call, 'kernel')} and "
            f"{counted(program.n_function, 'function')}{parts}; made in {compiled.seconds:.2f} s",
            f"memory: {compiled.eager_peak / 1e6:.1f} MB eager, {compiled.planned_peak / 1e6:.1f} MB planned, "
            f"{compiled.lower_bound / 1e6:.1f} MB at least; besides, {besides}",
            f"time: {total:.2f} ms ({which})",
            f"passes: {done}",
            _EXPLAINED,
            "",
            *(line.rstrip() for line in lines),
        ]
    )


def _summary_on_device(compiled: Compiled, program: DeviceProgram) -> str:
    """A header, then the captured functions in order."""
    done = ", ".join(f"{name} {count}" for name, count in compiled.changed.items() if count) or "nothing"
    values = program.graph.values
    lines = [
        f"{compiled.name or 'graph'}: {counted(compiled.n_record, 'function')} as {program.n_call} of one "
        "captured graph on "
        f"{program.device.name}; made in {compiled.seconds:.2f} s",
        f"memory: {compiled.eager_peak / 1e6:.1f} MB eager, {program.plan.nbytes / 1e6:.1f} MB in the pool that graphs "
        "share",
        f"passes: {done}",
        "",
    ]
    for k, record in enumerate(program.graph.records):
        shapes = ", ".join(" x ".join(map(str, values[value].shape)) for value in record.writes)
        lines.append(f"{k:4}  {record.label}  {shapes}".rstrip())
    return "\n".join(lines)


def _cells(compiled: Compiled, rows: list[Row]) -> list[tuple[str, ...]]:
    program = program_of(compiled)
    lowered, offsets = program.lowered, program.plan.offsets
    alive, names = lowered.lifetimes(), _names(lowered, rows)
    cells: list[tuple[str, ...]] = []
    for k, row in enumerate(rows):
        time = "" if row.seconds is None else f"{row.seconds * 1e3:.3f}"
        head: tuple[str, ...] = (
            str(k),
            row.function,
            row.kernel,
            time,
            " ".join(names[number] for number in row.reads),
        )
        if not row.writes:
            cells.append((*head, "", "", "", "", ""))
        for number in row.writes:
            block = lowered.blocks[number]
            offset = f"{offsets[number] / 1e6:.3f}" if number in offsets else ""
            shape = " x ".join(map(str, block.shape))
            cells.append((*head, names[number], shape, f"{block.nbytes / 1e6:.3f}", offset, str(alive[number][1])))
            head = ("",) * len(head)
    return cells
