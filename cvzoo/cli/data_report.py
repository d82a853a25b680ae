"""The report of `cvzoo data check`: counts, and for each kind of fault pictures of where it is."""

import html
import os

from cvzoo.datasets.doctor.examine_dataset import Checkup
from cvzoo.datasets.doctor.fault import Fault, Severity
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto
from cvzoo.datasets.layouts.decimals import finite
from cvzoo.errors.exceptions import CvzooError
from cvzoo.images.read_image import read_image
from cvzoo.visualizations.report.page import report_page, table
from cvzoo.visualizations.svg.photo_overlay import OverlayBox, photo_overlay
from cvzoo.weights.atomic_write import atomic_write

_PICTURES = 8  # of a kind of fault
_ROWS = 200  # of a kind of fault that are listed in words
_BOXES = 40  # of a photo besides those at fault
_LONG_SIDE = 260
# these tables hold words, not numbers
_STYLE = "th, td { text-align: left; white-space: normal; } td:first-child { white-space: nowrap; }"
_FAULT, _OTHER = "#ff3b30", "#ffffffb0"


def write_data_report(path: str | os.PathLike, checkup: Checkup) -> None:
    """Write the report to a file, whole or not at all: one page, pictures inline, no request to anywhere."""
    with atomic_write(path) as file:
        file.write(data_report_html(checkup).encode("utf-8", errors="replace"))


def data_report_html(checkup: Checkup) -> str:
    """The page's text."""
    record = checkup.to_record()
    severities = [each.severity for each in checkup.findings]
    tiles = {"photos": record["photos"], "objects": record["objects"], "classes": len(record["classes"])}
    tiles |= {f"{each.value}s": severities.count(each) for each in Severity}
    body = "".join(f'<div class="tile"><b>{n}</b>{html.escape(name)}</div>' for name, n in tiles.items())
    counts = checkup.counts()
    rows = [(kind.slug, kind.severity.value, n, kind.meaning, kind.fix or "–") for kind, n in counts.items()]
    overview = f'<style>{_STYLE}</style><div class="tiles">{body}</div>'
    overview += (
        table(("fault", "severity", "count", "what it is", "what --fix does"), rows) if rows else "<p>No faults.</p>"
    )
    photos = {photo.name: photo for photo in checkup.annotated.photos}
    sections = [("Overview", overview)]
    for kind, n in counts.items():
        found = [each for each in checkup.findings if each.kind is kind]
        sections.append((f"{kind.slug} ({n})", _section(kind, found, photos)))
    return report_page("Check of a data set", record["data"], sections)


def _section(kind: Fault, found: list[Finding], photos: dict[str, AnnotatedPhoto]) -> str:
    fix = "" if kind.fix is None else f" <code>--fix</code>: {html.escape(kind.fix)}."
    parts = [f"<p>{kind.severity.value.capitalize()}: {html.escape(kind.meaning)}.{fix}</p>"]
    figures = [_figure(each, photos) for each in found[:_PICTURES] if each.photo in photos]
    if any(figures):
        parts.append(f'<div class="grid">{"".join(filter(None, figures))}</div>')
    rows = [(each.photo or "the data set", _number(each), each.message) for each in found[:_ROWS]]
    listed = table(("photo", "object", "what"), rows)
    more = f"<p>and {len(found) - _ROWS} more; --json has all</p>" if len(found) > _ROWS else ""
    parts.append(
        f"<details{'' if any(figures) else ' open'}><summary>{len(found)} in words</summary>{listed}{more}</details>"
    )
    return "\n".join(parts)


def _number(finding):
    return "" if finding.annotation is None else finding.annotation


def _figure(finding: Finding, photos: dict[str, AnnotatedPhoto]) -> str:
    pictures = [_picture(photos[finding.photo], finding)]
    pictures += [_picture(photos[name], None) for name in finding.others[:1] if name in photos]
    if not any(pictures):
        return ""
    caption = html.escape(f"{finding.where}: {finding.message}")
    return f"<figure>{' '.join(filter(None, pictures))}<figcaption>{caption}</figcaption></figure>"


def _picture(photo: AnnotatedPhoto, finding: Finding | None) -> str:
    if photo.path is None:
        return ""
    try:
        img = read_image(photo.path)
    except (CvzooError, OSError):
        return ""
    at_fault, others = [], []
    for each in photo.objects:
        if each.bbox is None or not finite(each.bbox):
            continue
        y_min, x_min, y_max, x_max = each.bbox
        bb = (min(y_min, y_max), min(x_min, x_max), max(y_min, y_max), max(x_min, x_max))
        if finding is not None and each.index == finding.annotation:
            at_fault.append(OverlayBox(bb, each.name or "?", _FAULT))
        elif len(others) < _BOXES:
            others.append(OverlayBox(bb, "", _OTHER))
    return photo_overlay(img, others + at_fault, long_side=_LONG_SIDE)
