"""An SVG image of a replay's memory plan and step times."""

import collections
import os
from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import GraphError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.graph.device_program import DeviceProgram
from cvzoo.graph.summary import Compiled, Row, program_of, rows_of
from cvzoo.reporting.import_matplotlib import import_matplotlib
from cvzoo.reporting.plot_figure import INK, figure_file, plot_figure, set_tooltip

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 640, 1000  # pixels, height and width
_COLOURS = ("#6f9fcb", "#ee8866", "#44aa66", "#ccbb44", "#99ddff", "#c06fae", "#bbbbbb")


def memory_svg(compiled: Compiled) -> str:
    """SVG text, 1000 x 640: one box per block of the memory plan, from its first write to its last read at its address,
    colored by the kernel that writes it first; the live bytes; below, the steps' times.

    Raises MissingExtraError if matplotlib is not installed.
    """
    rows = rows_of(compiled)
    counts = collections.Counter(_kind(row) for row in rows if row.kernel != "a view")
    kinds = [kind for kind, _ in counts.most_common()]
    colours = {kind: _COLOURS[min(k, len(_COLOURS) - 1)] for k, kind in enumerate(kinds)}
    colours["a view"] = _COLOURS[-1]
    title = f"{compiled.name or 'graph'}: {compiled.planned_peak / 1e6:.1f} MB planned, "
    title += f"{compiled.lower_bound / 1e6:.1f} MB at least, {compiled.eager_peak / 1e6:.1f} MB eager"
    with plot_figure(_SIZE) as figure:
        figure.text(0.05, 0.965, title, size=14, weight="bold")
        memory, times = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        figure.subplots_adjust(left=0.06, right=0.985, top=0.86, bottom=0.08, hspace=0.16)
        _draw_memory(memory, compiled, rows, colours)
        _draw_times(times, compiled, rows, colours)
        times.set_xlim(0, max(len(rows), 1))
        times.set_xlabel("step")
        patch = import_matplotlib().patches.Patch
        handles = [
            patch(color=_COLOURS[k], label="others" if k == len(_COLOURS) - 1 else kind)
            for k, kind in enumerate(kinds[: len(_COLOURS)])
        ]
        handles += memory.get_legend_handles_labels()[0]
        figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0.045, 0.96),
            ncols=max(len(handles), 1),
            fontsize=10,
        )
        return figure_file(figure, ".svg", title).decode()


def _kind(row: Row) -> str:
    return "functions as they are" if row.kernel == "as it is" else row.kernel


def _draw_memory(ax: "Axes", compiled: Compiled, rows: list[Row], colours: dict[str, str]) -> None:
    lowered, plan = program_of(compiled).lowered, compiled.program.plan
    alive = lowered.lifetimes()
    elsewhere = (compiled.planned_peak - plan.nbytes) / 1e6
    title = "memory plan"
    title += f"; {elsewhere:.1f} MB of results and of functions' allocations are not part of it" if elsewhere else ""
    ax.set_title(title)
    ax.set_ylabel("MB")
    ax.set_ylim(0, max(plan.nbytes, 1) / 1e6)
    writers: dict[int, int] = {}
    for k, row in enumerate(rows):
        for number in row.writes:
            writers.setdefault(number, k)
    in_use = [0.0] * (len(rows) + 1)
    rectangle = import_matplotlib().patches.Rectangle
    for number in sorted(plan.offsets, key=lambda each: alive[each]):
        first, last = alive[number]
        block, row = lowered.blocks[number], rows[writers.get(number, first)]
        for k in range(first, min(last, len(rows)) + 1):
            in_use[k] += block.nbytes / 1e6
        width = min(last + 1, len(rows)) - first
        corner = first, plan.offsets[number] / 1e6
        box = rectangle(
            corner, width, block.nbytes / 1e6, facecolor=colours[_kind(row)], edgecolor="white", linewidth=0.4
        )
        words = f"{row.function}: {row.kernel}, {block.shape}, {block.nbytes:,} bytes, steps {first} to {last}"
        set_tooltip(ax.add_patch(box), words)
    if rows:
        ax.stairs(in_use[: len(rows)], range(len(rows) + 1), baseline=None, color=INK, linewidth=1.5, label="alive")


def _draw_times(ax: "Axes", compiled: Compiled, rows: list[Row], colours: dict[str, str]) -> None:
    times = [(row.seconds or 0) * 1e3 for row in rows]
    which = "the recorded pass" if program_of(compiled).profiled is None else "a replay"
    ax.set_title(f"time of each step, {which}: {sum(times):.1f} ms together")
    ax.set_ylabel("ms")
    bars = ax.bar(range(len(rows)), times, width=1, align="edge", color=[colours[_kind(row)] for row in rows])
    for k, (bar, row, ms) in enumerate(zip(bars, rows, times)):
        set_tooltip(bar, f"step {k}, {row.function}: {row.kernel}, {ms:.3f} ms")


def draw_memory(compiled: Compiled, path: str | os.PathLike[str]) -> None:
    """Write the image atomically. Raises GraphError for a graph on a GPU."""
    if isinstance(compiled.program, DeviceProgram):
        raise GraphError(
            "a graph on a GPU has no memory plan to draw: its memory pool assigns addresses", hint="graph.summary()"
        )
    text = memory_svg(compiled)
    with atomic_write(path) as file:
        file.write(text.encode())
