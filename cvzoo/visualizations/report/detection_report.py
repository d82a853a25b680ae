"""The HTML report of a detector: scores, precision-recall curves, error types, worst images."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.files.atomic_write import atomic_write
from cvzoo.typing.aliases import Array, FilePath
from cvzoo.visualizations.report.page import NOTHING, Markup, bar, report_page, score, table
from cvzoo.visualizations.report.reliability_section import reliability_section
from cvzoo.visualizations.svg.bar_plot import bar_plot
from cvzoo.visualizations.svg.heat_map import heat_map
from cvzoo.visualizations.svg.line_plot import Line, line_plot, small_multiples
from cvzoo.visualizations.svg.photo_overlay import OverlayBox, photo_overlay

_SCORES = (
    "map",
    "AP",
    "AP50",
    "AP75",
    "APs",
    "APm",
    "APl",
    "AR1",
    "AR10",
    "AR100",
    "ARs",
    "ARm",
    "ARl",
    "AR",
    "AR50",
    "AR75",
)
_ERROR_WORDS = {
    "classification": "correct location, wrong class",
    "localization": "correct class, wrong location",
    "both": "wrong class and wrong location",
    "duplicate": "an object that a detection of higher score matches",
    "background": "no object",
    "missed": "an object without a detection",
}


class ReportPicture(NamedTuple):
    """An image of the gallery: (3, H, W) float32, its boxes, and a line of plain text."""

    img: Array
    boxes: list[OverlayBox]
    caption: str


def write_detection_report(
    path: FilePath,
    record: Mapping[str, Any],
    *,
    pictures: Iterable[ReportPicture] = (),
    title: str | None = None,
    about: Mapping[str, str] = NOTHING,
) -> None:
    """Write the report to a file atomically. The arguments are those of `detection_report_html`."""
    text = detection_report_html(record, pictures=pictures, title=title, about=about)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def detection_report_html(
    record: Mapping[str, Any],
    *,
    pictures: Iterable[ReportPicture] = (),
    title: str | None = None,
    about: Mapping[str, str] = NOTHING,
) -> str:
    """A self-contained HTML page with images and plots; its content security policy forbids all requests.

    record: output of `cvzoo evaluate --json`: scores by name, per_class, counts, notes, and analysis with pr_curves,
        errors, confusion, reliability and thresholds, each of which may be missing
    pictures: for the gallery of the worst images
    about: entries below the title, name -> text: the model, the data, the command ...
    """
    analysis = record.get("analysis") or {}
    counts = record.get("counts", {})
    subtitle = ", ".join(f"{n} {name}" for name, n in counts.items())
    sections = [
        ("Scores", _scores(record)),
        ("Classes", _classes(record, analysis)),
        ("Precision and recall", _curves(analysis.get("pr_curves"))),
        ("Kinds of errors", _errors(analysis.get("errors"))),
        ("Confusion", _confusion(analysis.get("confusion"))),
        ("Reliability of scores", _reliability(analysis.get("reliability"))),
        ("Worst images", _gallery(pictures)),
    ]
    return report_page(title or record.get("title") or "Evaluation of a detector", subtitle, sections, about=about)


def _scores(record: Mapping[str, Any]) -> str:
    tiles = "".join(
        f'<div class="tile"><span class="soft">{key}</span><b>{score(record[key])}</b></div>'
        for key in _SCORES
        if key in record
    )
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in record.get("notes", ()))
    explanation = record.get("explanation")
    verdict = f'<p class="note">{html.escape(explanation["verdict"])}</p>' if explanation else ""
    return f'<div class="tiles">{tiles}</div>{notes}{verdict}'


def _classes(record: Mapping[str, Any], analysis: Mapping[str, Any]) -> str:
    rows = record.get("per_class") or []
    if not rows:
        return ""
    columns = [key for key in ("AP", "AP50", "AP75", "AR") if key in rows[0]]
    thresholds = {each["label"]: each for each in analysis.get("thresholds", {}).get("classes", ())}
    heads = ["class", "objects", *columns]
    wished = analysis.get("thresholds", {}).get("wished_precision")
    if thresholds:
        heads += ["best F1", "at score", "precision", "recall", f"score for precision {wished:g}", "its recall"]
    body = []
    empty = [row["name"] for row in rows if not row["n_objects"]]
    for row in _best_first([row for row in rows if row["n_objects"]], columns[0]):
        cells = [row["name"], row["n_objects"], *(bar(row[key]) for key in columns[:1])]
        cells += [score(row[key]) for key in columns[1:]]
        if thresholds:
            each = thresholds.get(row["name"], {})
            cells += [score(each.get(key)) for key in ("f1", "f1_score", "f1_precision", "f1_recall")]
            cells += [score(each.get("wished_score")), score(each.get("wished_recall"))]
        body.append(cells)
    iou = analysis.get("iou_thresh")
    words = f"Sorted by {columns[0]}, the best first; a click on a header sorts by that column."
    words += f" F1, precision and recall are taken at overlap {iou:g}." if thresholds else ""
    absent = f"<p class='soft'>Without objects: {html.escape(', '.join(empty))}.</p>" if empty else ""
    return f"<p class='soft'>{words}</p>{table(heads, body, sorted_by=columns[0])}{absent}"


def _best_first(rows: Sequence[Mapping[str, Any]], key: str) -> list[Mapping[str, Any]]:
    """The rows sorted by descending value; those without a value last, equal ones in their order."""
    return sorted(rows, key=lambda row: (row[key] is None, -(row[key] or 0)))


def _curves(curves: Mapping[str, Any] | None) -> str:
    if not curves:
        return ""
    axes: dict[str, Any] = {"x_label": "recall", "y_label": "precision"}
    recall = np.array(curves["recall"])
    mean = [
        Line(recall, np.array(values), f"overlap {name}")
        for name, values in curves["mean"].items()
        if values is not None
    ]
    parts = [f'<div class="grid">{line_plot(mean, title="mean over classes", size=(300, 420), **axes)}</div>']
    small = small_multiples(
        ((each["label"], np.array(each["precision"])) for each in curves["classes"]), recall, **axes
    )
    overlap = next(iter(curves["mean"]), "")
    parts.append(
        f"<details open><summary>each class at overlap {overlap}</summary><div class='grid'>{small}</div></details>"
    )
    return "".join(parts)


def _errors(errors: Mapping[str, Any] | None) -> str:
    if not errors:
        return ""
    types = errors["types"]
    names = [each["type"] for each in types]
    # None: fixing these errors would leave no objects
    gains = [np.nan if each["dap"] is None else each["dap"] for each in types]
    texts = [f"{score(gain, 4)}  ({each['count']})" for gain, each in zip(gains, types)]
    plot = bar_plot(names, gains, texts=texts, title="gain of AP without each error type")
    words = "".join(f"<li><b>{html.escape(name)}</b>: {html.escape(_ERROR_WORDS.get(name, ''))}</li>" for name in names)
    text = (
        f"<p>AP at overlap {errors['iou_thresh']:g} is {score(errors['ap'], 4)}. Without all false positives it would "
    )
    text += f"gain {score(errors['dap_fp'], 4)}, without all false negatives {score(errors['dap_fn'], 4)}.</p>"
    return f'{text}<div class="grid">{plot}<ul>{words}</ul></div>'


def _confusion(confusion: Mapping[str, Any] | None) -> str:
    if not confusion:
        return ""
    counts = np.array(confusion["counts"])
    some = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
    if not some.size:
        return ""
    names = [confusion["names"][l] for l in some]
    text = (
        "<p>Detections from the score of their class' best F1 on, matched to objects of any class that they overlap by "
    )
    text += f"{confusion['iou_thresh']:g}; what has no partner is under “background”.</p>"
    pictured = heat_map(counts[np.ix_(some, some)], names, names, row_title="object", column_title="detected as")
    return f'{text}<div class="scroll">{pictured}</div>'


def _reliability(reliability: Mapping[str, Any] | None) -> str:
    if not reliability:
        return ""
    right = f"right at overlap {reliability['iou_thresh']:g}"
    return reliability_section(reliability, counted="detections", right=right)


def _gallery(pictures: Iterable[ReportPicture]) -> str:
    figures = "".join(
        f"<figure>{photo_overlay(each.img, each.boxes)}<figcaption>{html.escape(each.caption)}</figcaption></figure>"
        for each in pictures
    )
    if not figures:
        return ""
    legend = (
        "<p>Green: found objects. Red, dashed: missed objects. Orange: wrong detections. The mouse tells what each "
    )
    legend += "box is.</p>"
    return Markup(f'{legend}<div class="grid">{figures}</div>')
