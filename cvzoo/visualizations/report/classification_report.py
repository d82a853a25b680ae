"""The HTML report of an image classifier: accuracy, confusion matrix, calibration, worst images."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.files.atomic_write import atomic_write
from cvzoo.typing.aliases import FilePath
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.visualizations.report.page import NOTHING, Markup, bar, report_page, score, table
from cvzoo.visualizations.report.reliability_section import reliability_section
from cvzoo.visualizations.svg.heat_map import heat_map
from cvzoo.visualizations.svg.line_plot import Line, line_plot, small_multiples
from cvzoo.visualizations.svg.photo_overlay import photo_overlay

_MOST = 60  # classes of a readable matrix
_MOST_CURVES = 12  # of the classes with the lowest AUC; more are not told apart in a plot


def write_classification_report(
    path: FilePath,
    record: Mapping[str, Any],
    *,
    pictures: Iterable[ReportPicture] = (),
    title: str | None = None,
    about: Mapping[str, str] = NOTHING,
) -> None:
    """Write the report to a file atomically. The arguments are those of `classification_report_html`."""
    text = classification_report_html(record, pictures=pictures, title=title, about=about)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def classification_report_html(
    record: Mapping[str, Any],
    *,
    pictures: Iterable[ReportPicture] = (),
    title: str | None = None,
    about: Mapping[str, str] = NOTHING,
) -> str:
    """A self-contained HTML page with images and plots; its content security policy forbids all requests.

    record: output of `cvzoo evaluate --json` for image classification: accuracies by name, per_class, counts,
        notes, and analysis with confusion, confused and reliability, each of which may be missing
    pictures: of the worst images
    about: entries below the title, name -> text: the model, the data, the command ...
    """
    analysis = record.get("analysis") or {}
    subtitle = ", ".join(f"{n} {name}" for name, n in record.get("counts", {}).items())
    sections = [
        ("Scores", _scores(record)),
        ("Classes", _classes(record.get("per_class") or [])),
        ("ROC curves", _roc(analysis.get("roc"))),
        ("Confusion", _confusion(analysis.get("confusion"))),
        ("Often confused", _confused(analysis.get("confused"))),
        (
            "Reliability of scores",
            reliability_section(analysis.get("reliability"), counted="predictions", right="correct"),
        ),
        ("Worst images", _gallery(pictures)),
    ]
    return report_page(title or record.get("title") or "Evaluation of a classifier", subtitle, sections, about=about)


def _scores(record: Mapping[str, Any]) -> str:
    tiles = "".join(
        f'<div class="tile"><span class="soft">{html.escape(key.replace("_", " "))}</span><b>{score(value)}</b></div>'
        for key, value in record.items()
        if isinstance(value, float)
    )
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in record.get("notes", ()))
    return f'<div class="tiles">{tiles}</div>{notes}'


def _classes(rows: Sequence[Mapping[str, Any]]) -> str:
    some = [row for row in rows if row["n_photos"]]
    if not some:
        return ""
    some.sort(key=lambda row: -row["accuracy"])
    columns = [key for key in ("precision", "f1", "auc") if any(row.get(key) is not None for row in some)]
    heads = ("class", "images", "accuracy", *({"f1": "F1", "auc": "AUC"}.get(key, key) for key in columns))
    cells = [
        (row["name"], row["n_photos"], bar(row["accuracy"]), *(score(row.get(key)) for key in columns)) for row in some
    ]
    words = "Sorted by accuracy (recall), the best first; a click on a header sorts by that column."
    return f"<p class='soft'>{words}</p>" + table(heads, cells, sorted_by="accuracy")


def _roc(roc: Mapping[str, Any] | None) -> str:
    if not roc or not roc["classes"]:
        return ""
    fpr = np.array(roc["fpr"])
    chance = Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), is_guide=True)
    mean = line_plot(
        [chance, Line(fpr, np.array(roc["mean"]))],
        title="mean over classes",
        x_label="false-positive rate",
        y_label="true-positive rate",
        size=(300, 340),
    )
    worst = sorted(roc["classes"], key=lambda each: each["auc"])[:_MOST_CURVES]
    titled = ((f"{each['label']}: {each['auc']:.4f}", np.array(each["tpr"])) for each in worst)
    small = small_multiples(titled, fpr, guides=[chance], size=(170, 200))
    words = "Each class against all others; the number is the area under the curve (AUC), the worst first."
    return f'<p>{words}</p><div class="grid">{mean}</div><div class="grid">{small}</div>'


def _confusion(confusion: Mapping[str, Any] | None) -> str:
    if not confusion:
        return ""
    counts = np.array(confusion["counts"])
    some = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
    if not some.size:
        return ""
    if some.size > _MOST:
        return f"<p>{some.size} classes are too many for a picture; the list of the often confused ones follows.</p>"
    names = [confusion["names"][l] for l in some]
    pictured = heat_map(counts[np.ix_(some, some)], names, names, row_title="image of", column_title="predicted as")
    return f'<div class="scroll">{pictured}</div>'


def _confused(confused: Sequence[Mapping[str, Any]] | None) -> str:
    if not confused:
        return ""
    rows = [(each["label"], each["guess"], each["count"], f"{each['share']:.0%}") for each in confused]
    return table(("images of", "predicted as", "images", "of the class"), rows)


def _gallery(pictures: Iterable[ReportPicture]) -> str:
    figures = "".join(
        f"<figure>{photo_overlay(each.img, each.boxes, long_side=220)}"
        f"<figcaption>{html.escape(each.caption)}</figcaption></figure>"
        for each in pictures
    )
    return Markup(f'<p>The most confident errors.</p><div class="grid">{figures}</div>') if figures else ""
