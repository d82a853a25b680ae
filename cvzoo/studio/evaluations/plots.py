"""Coordinates of an evaluation's plots, drawn as SVG by the page: malformed parts are left out."""

import dataclasses
from typing import Any

from cvzoo.studio.jobs.run_record import number

WIDTH, HEIGHT = 360.0, 240.0
MAX_CURVES = 12
MAX_CLASSES = 40  # of a confusion matrix: more cells can be neither read nor hit


@dataclasses.dataclass(frozen=True)
class Curve:
    """A line: its label, and points for SVG."""

    label: str
    points: str


@dataclasses.dataclass(frozen=True)
class Confusion:
    """A matrix. names: of rows and columns; rows: (count, shade 0 .. 9) each; has_background: the last class is none"""

    names: list[str]
    rows: list[list[tuple[int, int]]]
    has_background: bool


@dataclasses.dataclass(frozen=True)
class Bar:
    """A bin of scores: its place in the plot, and what it says in words."""

    x: float
    y: float
    width: float
    height: float
    text: str


def pr_plot(analysis: dict[str, Any]) -> list[Curve]:
    """Precision over recall: the mean first, then the classes with the most area."""
    curves = analysis.get("pr_curves")
    if not isinstance(curves, dict) or not _numbers(curves.get("recall")):
        return []
    recall = curves["recall"]
    found = []
    classes = curves.get("classes")
    for row in classes if isinstance(classes, list) else ():
        if isinstance(row, dict) and _numbers(row.get("precision")) and len(row["precision"]) == len(recall):
            found.append((sum(row["precision"]), str(row.get("label")), row["precision"]))
    found.sort(key=lambda each: -each[0])
    mean = curves.get("mean")
    means = [
        Curve(f"mean, overlap {overlap}", _points(recall, values))
        for overlap, values in (mean.items() if isinstance(mean, dict) else ())
        if _numbers(values) and len(values) == len(recall)
    ]
    return [*means[:1], *(Curve(label, _points(recall, values)) for _, label, values in found[:MAX_CURVES])]


def confusion_table(analysis: dict[str, Any]) -> Confusion | None:
    """The confusion matrix; None if there is none, or it has more than 40 classes."""
    tree = analysis.get("confusion")
    if (
        not isinstance(tree, dict)
        or not isinstance(tree.get("names"), list)
        or not isinstance(tree.get("counts"), list)
    ):
        return None
    names, counts = [str(each) for each in tree["names"]], tree["counts"]
    if not 0 < len(names) <= MAX_CLASSES or len(counts) != len(names):
        return None
    rows = []
    for row in counts:
        if not _numbers(row) or len(row) != len(names):
            return None
        total = sum(row)
        rows.append([(int(n), min(int(10 * n / total), 9) if total else 0) for n in row])
    return Confusion(names, rows, has_background=names[-1] == "background")


def calibration_plot(analysis: dict[str, Any]) -> list[Bar]:
    """How often predictions of a score are right: a bar for each bin of scores that has some."""
    tree = analysis.get("reliability")
    bars = []
    rows = tree.get("bins") if isinstance(tree, dict) else None
    for row in rows if isinstance(rows, list) else ():
        values = [number(row.get(key)) for key in ("low", "high", "precision")] if isinstance(row, dict) else [None]
        if any(value is None for value in values) or not number(row.get("count")):
            continue
        low, high, precision = (float(value or 0) for value in values)
        text = f"scores {low:.2g} to {high:.2g}: {precision:.0%} of {row['count']} are right"
        bars.append(
            Bar(low * WIDTH, (1 - precision) * HEIGHT, max((high - low) * WIDTH - 1, 1), precision * HEIGHT, text)
        )
    return bars


def _points(xs: list[float], ys: list[float]) -> str:
    return " ".join(f"{x * WIDTH:.1f},{(1 - y) * HEIGHT:.1f}" for x, y in zip(xs, ys))


def _numbers(values: object) -> bool:
    return isinstance(values, list) and bool(values) and all(number(value) is not None for value in values)
