"""The HTML report of semantic segmentation: IoU, confusion matrix, worst images."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.files.atomic_write import atomic_write
from cvzoo.typing.aliases import FilePath
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.visualizations.report.page import NOTHING, Markup, bar, report_page, score, table
from cvzoo.visualizations.svg.heat_map import heat_map
from cvzoo.visualizations.svg.photo_overlay import photo_overlay

_SCORES = ("miou", "pixel_accuracy", "mean_class_accuracy", "fwiou")


def write_segmentation_report(
    path: FilePath,
    record: Mapping[str, Any],
    *,
    pictures: Iterable[ReportPicture] = (),
    title: str | None = None,
    about: Mapping[str, str] = NOTHING,
) -> None:
    """Write the report to a file atomically. The arguments are those of `segmentation_report_html`."""
    text = segmentation_report_html(record, pictures=pictures, title=title, about=about)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def segmentation_report_html(
    record: Mapping[str, Any],
    *,
    pictures: Iterable[ReportPicture] = (),
    title: str | None = None,
    about: Mapping[str, str] = NOTHING,
) -> str:
    """A self-contained HTML page with images and plots; its content security policy forbids all requests.

    record: output of `cvzoo evaluate --json` for label maps: scores by name, per_class, counts, notes, and analysis
        with confusion, each of which may be missing
    pictures: of the worst images: the ground truth, the prediction, and their difference
    about: entries below the title, name -> text: the model, the data, the command ...
    """
    analysis = record.get("analysis") or {}
    subtitle = ", ".join(f"{n} {name}" for name, n in record.get("counts", {}).items())
    sections = [
        ("Scores", _scores(record)),
        ("Classes", _classes(record.get("per_class") or [])),
        ("Confusion", _confusion(analysis.get("confusion"))),
        ("Worst images", _gallery(pictures)),
    ]
    return report_page(title or record.get("title") or "Evaluation of label maps", subtitle, sections, about=about)


def _scores(record: Mapping[str, Any]) -> str:
    tiles = "".join(
        f'<div class="tile"><span class="soft">{key.replace("_", " ")}</span><b>{score(record[key])}</b></div>'
        for key in _SCORES
        if key in record
    )
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in record.get("notes", ()))
    return f'<div class="tiles">{tiles}</div>{notes}'


def _classes(rows: Sequence[Mapping[str, Any]]) -> str:
    total = sum(row["n_pixels"] for row in rows)
    if not total:
        return ""
    body = [
        (row["name"], f"{row['n_pixels'] / total:.1%}", bar(row["iou"]), score(row["accuracy"]))
        for row in sorted(rows, key=lambda row: -(row["iou"] or 0))
        if row["iou"] is not None
    ]
    absent = [row["name"] for row in rows if row["iou"] is None]
    rest = (
        f"<p class='soft'>Neither in the ground truth nor predicted: {html.escape(', '.join(absent))}.</p>"
        if absent
        else ""
    )
    words = "<p class='soft'>Sorted by IoU, the best first; a click on a header sorts by that column.</p>"
    return words + table(("class", "share of pixels", "IoU", "accuracy"), body, sorted_by="IoU") + rest


def _confusion(confusion: Mapping[str, Any] | None) -> str:
    if not confusion:
        return ""
    counts = np.array(confusion["counts"])
    some = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
    if not some.size:
        return ""
    names = [confusion["names"][l] for l in some]
    share = counts[np.ix_(some, some)]
    share = np.rint(1000 * share / np.maximum(share.sum(axis=1, keepdims=True), 1)).astype(np.int64)
    pictured = heat_map(share, names, names, row_title="pixels of", column_title="predicted as")
    return f'<p>Of 1000 pixels of each class.</p><div class="scroll">{pictured}</div>'


def _gallery(pictures: Iterable[ReportPicture]) -> str:
    figures = "".join(
        f"<figure>{photo_overlay(each.img, each.boxes, long_side=900)}"
        f"<figcaption>{html.escape(each.caption)}</figcaption></figure>"
        for each in pictures
    )
    words = "<p>Ground truth, prediction, and in white the pixels at which they differ; black is ignored.</p>"
    return Markup(f'{words}<div class="grid">{figures}</div>') if figures else ""
