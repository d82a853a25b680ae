"""The HTML report of `cvzoo data check`: counts, and for each kind of fault the images concerned."""

import html
import os
from collections.abc import Mapping

from cvzoo.datasets.doctor.coordinate_faults import EXPLAINING, reinterpret
from cvzoo.datasets.doctor.examine_dataset import Checkup, annotation_size
from cvzoo.datasets.doctor.fault import Fault, Severity
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, Box
from cvzoo.datasets.layouts.decimals import finite
from cvzoo.errors.exceptions import CvzooError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.read_image import read_image
from cvzoo.visualizations.report.page import report_page, table
from cvzoo.visualizations.svg.photo_overlay import OverlayBox, photo_overlay

_PICTURES = 8  # per kind of fault
_ROWS = 200  # per kind of fault in the table
_BOXES = 40  # per image, besides faulty ones
_LONG_SIDE = 260  # pixels of an image in the report
_LEAST = 10  # pixels, the minimal side of a drawn faulty box, so that it is visible
# these tables contain text, not numbers
_STYLE = "th, td { text-align: left; white-space: normal; } td:first-child { white-space: nowrap; }"
_FAULT, _OTHER = "#ff3b30", "#ffffffb0"


Photos = Mapping[str | None, tuple[AnnotatedImage, tuple[int, int] | None]]  # with the size that the boxes refer to


def write_data_report(path: str | os.PathLike, checkup: Checkup) -> None:
    """Writes the report to a file atomically: one self-contained page with inline images."""
    with atomic_write(path) as file:
        file.write(data_report_html(checkup).encode("utf-8", errors="replace"))


def data_report_html(checkup: Checkup) -> str:
    """The HTML of the report."""
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
    images: Photos = {
        image.name: (image, annotation_size(image, facts))
        for image, facts in zip(checkup.annotated.images, checkup.facts)
    }
    sections = [("Overview", overview)]
    for kind, n in counts.items():
        findings = [each for each in checkup.findings if each.kind is kind]
        sections.append((f"{kind.slug} ({n})", _section(kind, findings, images)))
    return report_page("Check of a data set", record["data"], sections)


def _section(kind: Fault, findings: list[Finding], images: Photos) -> str:
    fix = "" if kind.fix is None else f" <code>--fix</code>: {html.escape(kind.fix)}."
    parts = [f"<p>{kind.severity.value.capitalize()}: {html.escape(kind.meaning)}.{fix}</p>"]
    figures = [_figure(each, images) for each in findings[:_PICTURES] if each.image in images]
    if any(figures):
        parts.append(f'<div class="grid">{"".join(filter(None, figures))}</div>')
    rows = [(each.image or "the data set", _number(each), each.message) for each in findings[:_ROWS]]
    listed = table(("photo", "object", "what"), rows)
    more = f"<p>and {len(findings) - _ROWS} more; --json has all</p>" if len(findings) > _ROWS else ""
    parts.append(
        f"<details{'' if any(figures) else ' open'}><summary>{len(findings)} in words</summary>{listed}{more}</details>"
    )
    return "\n".join(parts)


def _number(finding: Finding) -> str:
    return "" if finding.annotation is None else str(finding.annotation)


def _figure(finding: Finding, images: Photos) -> str:
    pictures = [_picture(*images[finding.image], finding)]
    pictures += [_picture(*images[name], None) for name in finding.others[:1] if name in images]
    if not any(pictures):
        return ""
    caption = html.escape(f"{finding.where}: {finding.message}")
    return f"<figure>{' '.join(filter(None, pictures))}<figcaption>{caption}</figcaption></figure>"


def _as_meant(each: AnnotatedObject, size: tuple[int, int] | None, finding: Finding | None) -> AnnotatedObject | None:
    """The object if the finding is about it, with its box in the corrected coordinate format."""
    if finding is None or finding.annotation not in (None, each.index):
        return None
    if finding.kind not in EXPLAINING or size is None:
        return each if finding.annotation == each.index else None
    meant = reinterpret(each, finding.kind, size)
    return meant if meant is not each and meant.bbox is not None and finite(meant.bbox) else None


def _ordered(bbox: Box) -> Box:
    y_min, x_min, y_max, x_max = bbox
    return min(y_min, y_max), min(x_min, x_max), max(y_min, y_max), max(x_min, x_max)


def _visible(bbox: Box, size: tuple[int, int]) -> Box:
    """The box moved into the image, and enlarged to a visible size."""
    least = _LEAST * max(max(size) / _LONG_SIDE, 1.0)
    sides = []
    y_min, x_min, y_max, x_max = _ordered(bbox)
    for start, end, whole in ((y_min, y_max, size[0]), (x_min, x_max, size[1])):
        start, end = min(max(start, 0.0), whole), min(max(end, 0.0), whole)
        grow = max(least - (end - start), 0.0) / 2
        start, end = start - grow, end + grow
        shift = max(-start, 0.0) - max(end - whole, 0.0)
        sides.append((start + shift, end + shift))
    return sides[0][0], sides[1][0], sides[0][1], sides[1][1]


def _picture(image: AnnotatedImage, size: tuple[int, int] | None, finding: Finding | None) -> str:
    if image.path is None:
        return ""
    try:
        img = read_image(image.path)
    except (CvzooError, OSError):
        return ""
    at_fault: list[OverlayBox] = []
    others: list[OverlayBox] = []
    for each in image.objects:
        if each.bbox is None or not finite(each.bbox):
            continue
        meant = _as_meant(each, size, finding)
        if meant is not None and meant.bbox is not None:
            at_fault.append(OverlayBox(_visible(meant.bbox, img.shape[1:]), each.name or "?", _FAULT))
        elif len(others) < _BOXES:
            others.append(OverlayBox(_ordered(each.bbox), "", _OTHER))
    return photo_overlay(img, others + at_fault, long_side=_LONG_SIDE)
