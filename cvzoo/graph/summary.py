"""A graph in words."""

from typing import TYPE_CHECKING

from cvzoo.graph.steps import Call

if TYPE_CHECKING:
    from cvzoo.graph.compiled_graph import CompiledGraph


def summary_of(compiled: "CompiledGraph") -> str:
    """A table of the steps, and a line each about memory and passes."""
    program = compiled.program
    lowered, offsets = program.lowered, program.plan.offsets
    alive = lowered.lifetimes()
    rows = [("step", "operation", "ms", "writes", "bytes", "at", "until")]
    for k, step in enumerate(lowered.steps):
        label = step.record.label
        name = (
            f"{label}: {step.operation}" if isinstance(step, Call) else f"{label} (a view)" if step.is_view else label
        )
        blocks = set(step.blocks(written=True)) if isinstance(step, Call) else set()
        if not isinstance(step, Call):
            blocks = {lowered.areas[value].owner for value in step.record.writes if value in lowered.areas}
        first = True
        for number in sorted(blocks) or [None]:
            head = (str(k), name, f"{step.record.seconds * 1e3:.2f}") if first else ("", "", "")
            first = False
            if number is None:
                rows.append((*head, "", "", "", ""))
                continue
            block = lowered.blocks[number]
            place = str(offsets[number]) if number in offsets else block.kind
            shape = " x ".join(map(str, block.shape))
            rows.append((*head, shape, str(block.nbytes), place, str(alive[number][1])))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = {1, 3}
    lines = [
        "  ".join(
            cell.ljust(n) if i in left else cell.rjust(n) for i, (cell, n) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
    done = ", ".join(f"{name} {count}" for name, count in compiled.changed.items() if count) or "nothing"
    return "\n".join(
        [
            f"{compiled.name or 'graph'}: {compiled.n_record} functions as {program.n_call} kernels and "
            f"{program.n_function} functions; made in {compiled.seconds:.2f} s",
            f"memory: {compiled.eager_peak / 1e6:.1f} MB eager, {compiled.planned_peak / 1e6:.1f} MB planned, "
            f"{compiled.lower_bound / 1e6:.1f} MB at least",
            f"passes: {done}",
            *lines,
        ]
    )
