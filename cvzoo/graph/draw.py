"""The memory of a replay over time, as a picture."""

import html
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING

from cvzoo.graph.steps import Call

if TYPE_CHECKING:
    from cvzoo.graph.compiled_graph import CompiledGraph

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 1000, 500, 80, 50, 40
_COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb")


def memory_svg(compiled: "CompiledGraph") -> str:
    """SVG text: steps to the right, addresses upwards, one box a block from its first write to its last read."""
    program = compiled.program
    lowered, plan = program.lowered, program.plan
    alive = lowered.lifetimes()
    n_step = max(len(lowered.steps), 1)
    total = max(plan.nbytes, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20} {_TOP + _HEIGHT + _BOTTOM}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="#f8f8f8" stroke="#888888"/>',
        f'<text x="{_LEFT}" y="20" font-size="16">{html.escape(compiled.name or "graph")}: {plan.nbytes / 1e6:.1f} MB '
        f"planned, {compiled.eager_peak / 1e6:.1f} MB eager, {plan.lower_bound / 1e6:.1f} MB at least</text>",
    ]
    makers: dict[int, str] = {}
    for step in lowered.steps:
        if isinstance(step, Call):
            for number in step.blocks(written=True):
                makers.setdefault(number, f"{step.record.label}: {step.operation}")
    for k, number in enumerate(sorted(plan.offsets, key=lambda each: alive[each])):
        first, last = alive[number]
        block = lowered.blocks[number]
        x, width = _LEFT + _WIDTH * first / n_step, _WIDTH * (last - first + 1) / n_step
        height = _HEIGHT * block.nbytes / total
        y = _TOP + _HEIGHT - _HEIGHT * plan.offsets[number] / total - height
        what = f"{makers.get(number, '')} {block.shape}, {block.nbytes} bytes, steps {first} to {last}"
        parts.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" stroke="#ffffff" '
            f'stroke-width="0.5" fill="{_COLOURS[k % len(_COLOURS)]}"><title>{html.escape(what)}</title></rect>'
        )
    parts += [
        f'<text x="{_LEFT - 6}" y="{_TOP + 10}" text-anchor="end">{plan.nbytes / 1e6:.1f} MB</text>',
        f'<text x="{_LEFT - 6}" y="{_TOP + _HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{_LEFT}" y="{_TOP + _HEIGHT + 25}">step 0</text>',
        f'<text x="{_LEFT + _WIDTH}" y="{_TOP + _HEIGHT + 25}" text-anchor="end">step {n_step - 1}</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def draw_memory(compiled: "CompiledGraph", path: str | os.PathLike) -> None:
    """Write the picture; the file appears whole or not at all."""
    path = pathlib.Path(path)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False) as file:
        try:
            file.write(memory_svg(compiled))
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(file.name)
            raise
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
