"""The HTML report of a comparison: differences with their intervals, classes, images that changed."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import FilePath
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.visualizations.report.page import NOTHING, Markup, report_page, score, table
from cvzoo.visualizations.svg.interval_plot import interval_plot
from cvzoo.visualizations.svg.photo_overlay import photo_overlay

_MOST_PLOTTED = 40  # classes of a readable picture


def write_comparison_report(
    path: FilePath,
    record: Mapping[str, Any],
    *,
    better: Iterable[ReportPicture] = (),
    worse: Iterable[ReportPicture] = (),
    about: Mapping[str, str] = NOTHING,
) -> None:
    """Write the report to a file, whole or not at all.

    record: what `cvzoo compare --json` writes
    better, worse: pictures of the images that are better and worse with B
    about: the lines below the title, by name: A, B, the data, the command ...
    """
    counts = ", ".join(f"{n} {name}" for name, n in record["counts"].items())
    sections = [
        ("Scores", _scores(record)),
        ("Classes", _classes(record)),
        ("Better with B", _gallery(record, better)),
        ("Worse with B", _gallery(record, worse)),
    ]
    text = report_page("Comparison of A and B", counts, sections, about=about)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def _scores(record: Mapping[str, Any]) -> str:
    settings = record["bootstrap"]
    text = (
        f"<p>Intervals contain {settings['confidence']:.0%} of {counted(settings['resamples'], 'resample')} of "
        "the images, the "
        "same ones for A and B (paired bootstrap). A difference is printed in bold if its interval excludes 0.</p>"
    )
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in record["notes"])
    heads = ("", "A", "its interval", "B", "its interval", "B − A", "its interval", "p")
    return text + table(heads, [(row["name"], *_cells(row)) for row in record["scores"]]) + notes


def _classes(record: Mapping[str, Any]) -> str:
    unit, confidence = record["counted"], record["bootstrap"]["confidence"]
    rows = [row for row in record["per_class"] if row["difference"]["value"] is not None]
    if not rows:
        return ""
    rows.sort(key=lambda row: -row["difference"]["value"])
    n_known = sum(row["difference"]["low"] is not None for row in rows)
    text = (
        f"<p>{sum(row['differs'] for row in rows)} of {counted(n_known, 'interval')} exclude 0; if no class "
        "differed, about "
        f"{(1 - confidence) * n_known:.1f} would by chance. Classes in too few images have no interval. A click on a "
        "header sorts by that column.</p>"
    )
    heads = ("class", unit, "A", "A interval", "B", "B interval", "B − A", "interval", "p")
    cells = [(row["name"], row[f"n_{unit}"], *_cells(row)) for row in rows]
    far = sorted(rows, key=lambda row: -abs(row["difference"]["value"]))[:_MOST_PLOTTED]
    far.sort(key=lambda row: -row["difference"]["value"])
    plot = interval_plot(
        [row["name"] for row in far],
        np.array([[_number(row["difference"][key]) for key in ("low", "value", "high")] for row in far]),
        title="B − A by class" + (f", the {_MOST_PLOTTED} largest" if len(rows) > _MOST_PLOTTED else ""),
    )
    return f'{text}<div class="grid">{plot}</div>{table(heads, cells, sorted_by="B − A")}'


def _cells(row: Mapping[str, Any]) -> list[object]:
    cells: list[object] = []
    for side in ("a", "b"):
        cells += [score(row[side]["value"], 4), _interval(row[side])]
    change = row["difference"]
    value = "–" if change["value"] is None else f"{change['value']:+.4f}"
    return [*cells, Markup(f"<b>{value}</b>") if row["differs"] else value, _interval(change), score(row["p_value"], 4)]


def _interval(each: Mapping[str, float | None]) -> str:
    low, high = each["low"], each["high"]
    return "–" if low is None or high is None else f"{low:.4f} … {high:.4f}"


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _gallery(record: Mapping[str, Any], pictures: Iterable[ReportPicture]) -> str:
    figures: Sequence[str] = [
        f"<figure>{photo_overlay(each.img, each.boxes)}<figcaption>{html.escape(each.caption)}</figcaption></figure>"
        for each in pictures
    ]
    if not figures:
        return ""
    words = f"<p>The images that changed most, by {html.escape(record['changed_images']['measure'])}.</p>"
    return Markup(f'{words}<div class="grid">{"".join(figures)}</div>')
