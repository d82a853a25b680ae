"""The memory of a replay over its steps, and how long these take, as a picture."""

import collections
import html
import math
import os
import pathlib
import tempfile

from cvzoo.errors.exceptions import GraphError
from cvzoo.graph.device_program import DeviceProgram
from cvzoo.graph.summary import Compiled, Row, rows_of

_WIDTH, _HEIGHT, _LEFT, _RIGHT = 1000, 640, 70, 980
_TOP, _BOTTOM = 84, 460  # of the memory
_TIMES_TOP, _TIMES_BOTTOM = 500, 590
_COLOURS = ("#6f9fcb", "#ee8866", "#44aa66", "#ccbb44", "#99ddff", "#c06fae", "#bbbbbb")


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 to `most`, about six."""
    if most <= 0:
        return [0.0]
    rough = most / 6
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough)
    return [k * step for k in range(int(most / step + 1e-9) + 1)]


class _Picture:
    """The parts of an SVG."""

    def __init__(self) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" font-family="sans-serif" font-size="13">',
            f'<path d="M0 0H{_WIDTH}V{_HEIGHT}H0Z" fill="#ffffff"/>',
        ]

    def text(self, x: float, y: float, words: str, extra: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{html.escape(words)}</text>')

    def line(self, path: str, extra: str) -> None:
        self.parts.append(f'<path d="{path}" fill="none" {extra}/>')

    def box(self, place: tuple[float, float, float, float], colour: str, words: str, kind: str) -> None:
        x, y, width, height = place
        border = min(1.0, width / 4, height / 4)
        self.parts.append(
            f'<rect class="{kind}" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}" '
            f'stroke="#ffffff" stroke-width="{border:.2f}"><title>{html.escape(words)}</title></rect>'
        )

    def panel(self, top: float, bottom: float, most: float, unit: str, title: str) -> None:
        """A frame with a scale from 0 to `most` at its left."""
        self.line(f"M{_LEFT} {top}H{_RIGHT}V{bottom}H{_LEFT}Z", 'stroke="#888888"')
        self.text(_LEFT, top - 8, title, 'font-weight="bold"')
        for tick in _ticks(most):
            y = bottom - (bottom - top) * tick / most if most else bottom
            self.line(f"M{_LEFT - 4} {y:.1f}H{_RIGHT}", 'stroke="#dddddd"')
            self.text(_LEFT - 8, y + 4, f"{tick:g} {unit}", 'text-anchor="end" font-size="12"')


def memory_svg(compiled: Compiled) -> str:
    """SVG text, 1000 x 640: steps to the right; one box a block of the planned memory, from its first write to its last
    read, coloured by the kernel that writes it first, at its address; how much is alive; below, the steps' times."""
    rows = rows_of(compiled)
    counts = collections.Counter(_kind(row) for row in rows if row.kernel != "a view")
    kinds = [kind for kind, _ in counts.most_common()]
    colours = {kind: _COLOURS[min(k, len(_COLOURS) - 1)] for k, kind in enumerate(kinds)}
    colours["a view"] = _COLOURS[-1]
    picture = _Picture()
    picture.text(
        _LEFT,
        24,
        f"{compiled.name or 'graph'}: {compiled.planned_peak / 1e6:.1f} MB planned, "
        f"{compiled.lower_bound / 1e6:.1f} MB at least, "
        f"{compiled.eager_peak / 1e6:.1f} MB eager",
        'font-size="17"',
    )
    x = float(_LEFT)
    for kind in kinds[: len(_COLOURS)]:
        words = kind if kind != kinds[len(_COLOURS) - 1 : len(_COLOURS)] else "others"
        picture.box((x, 38, 12, 12), colours[kind], words, "legend")
        picture.text(x + 17, 49, words)
        x += 36 + 6.4 * len(words)
    picture.line(f"M{x:.1f} 44h24", 'stroke="#000000" stroke-width="1.5"')
    picture.text(x + 30, 49, "alive")
    _draw_memory(picture, compiled, rows, colours)
    _draw_times(picture, compiled, rows, colours)
    for tick in _ticks(len(rows)):
        if tick == int(tick):
            at = _x(tick, rows)
            picture.line(f"M{at:.1f} {_TIMES_BOTTOM}v5", 'stroke="#888888"')
            picture.text(at, _TIMES_BOTTOM + 19, f"{tick:g}", 'text-anchor="middle" font-size="12"')
    picture.text((_LEFT + _RIGHT) / 2, _TIMES_BOTTOM + 40, "step", 'text-anchor="middle"')
    return "\n".join([*picture.parts, "</svg>"])


def _kind(row: Row) -> str:
    return "functions as they are" if row.kernel == "as it is" else row.kernel


def _x(step: float, rows: list[Row]) -> float:
    return _LEFT + (_RIGHT - _LEFT) * step / max(len(rows), 1)


def _draw_memory(picture: _Picture, compiled: Compiled, rows: list[Row], colours: dict[str, str]) -> None:
    lowered, plan = compiled.program.lowered, compiled.program.plan
    alive = lowered.lifetimes()
    total = max(plan.nbytes, 1)
    elsewhere = (compiled.planned_peak - plan.nbytes) / 1e6
    title = "where blocks lie"
    title += f"; {elsewhere:.1f} MB that the caller gets or functions make lie elsewhere" if elsewhere else ""
    picture.panel(_TOP, _BOTTOM, total / 1e6, "MB", title)
    makers: dict[int, int] = {}
    in_use = [0] * (len(rows) + 1)
    for k, row in enumerate(rows):
        for number in row.writes:
            makers.setdefault(number, k)
    scale = (_BOTTOM - _TOP) / total
    for number in sorted(plan.offsets, key=lambda each: alive[each]):
        first, last = alive[number]
        for k in range(first, min(last, len(rows)) + 1):
            in_use[k] += lowered.blocks[number].nbytes
        block, row = lowered.blocks[number], rows[makers.get(number, first)]
        height = scale * block.nbytes
        left, y = _x(first, rows), _BOTTOM - scale * plan.offsets[number] - height
        words = f"{row.function}: {row.kernel}, {block.shape}, {block.nbytes:,} bytes, steps {first} to {last}"
        width = _x(min(last + 1, len(rows)), rows) - left
        picture.box((left, y, width, height), colours[_kind(row)], words, "block")
    path = "".join(
        f"{'L' if k else 'M'}{_x(k, rows):.1f} {_BOTTOM - scale * n:.1f}H{_x(k + 1, rows):.1f}"
        for k, n in enumerate(in_use[: len(rows)])
    )
    if path:
        picture.line(path, 'stroke="#000000" stroke-width="1.5"')


def _draw_times(picture: _Picture, compiled: Compiled, rows: list[Row], colours: dict[str, str]) -> None:
    times = [(row.seconds or 0) * 1e3 for row in rows]
    which = "the recorded pass" if compiled.program.profiled is None else "a replay"
    most = max(times, default=0)
    title = f"time of each step, {which}: {sum(times):.1f} ms together"
    picture.panel(_TIMES_TOP, _TIMES_BOTTOM, most, "ms", title)
    for k, (row, ms) in enumerate(zip(rows, times)):
        if ms:
            height = (_TIMES_BOTTOM - _TIMES_TOP) * ms / most
            place = (_x(k, rows), _TIMES_BOTTOM - height, _x(k + 1, rows) - _x(k, rows), height)
            picture.box(place, colours[_kind(row)], f"step {k}, {row.function}: {row.kernel}, {ms:.3f} ms", "time")


def draw_memory(compiled: Compiled, path: str | os.PathLike) -> None:
    """Write the picture; the file appears whole or not at all. Raises GraphError for a graph on a GPU."""
    if isinstance(compiled.program, DeviceProgram):
        raise GraphError("where a GPU's graph has its blocks is its memory pool's business", hint="graph.summary()")
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
