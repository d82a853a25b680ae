"""The images of a report's gallery: those with the most errors, with true positives, false positives and misses."""

import collections
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cvzoo.images.read_image import read_image
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.visualizations.svg.photo_overlay import OverlayBox

N_WORST = 12  # images that a report lists
_COLORS = {"right": "#4cd964", "wrong": "#ff9f0a", "missed": "#ff453a"}


def worst_pictures(
    worst: Sequence[Mapping[str, Any]], paths: Sequence[pathlib.Path | str | None]
) -> Iterator[ReportPicture]:
    """The images of `list_worst_images` with a known path, read lazily, with their boxes."""
    for each in worst:
        path = paths[each["index"]]
        if path is not None:
            boxes = [_overlay(box) for box in each["boxes"]]
            yield ReportPicture(read_image(path), boxes, _caption(each))


def _caption(each: Mapping[str, Any]) -> str:
    kinds = collections.Counter(box["error"] for box in each["boxes"] if box["error"] is not None)
    wrong = f" ({', '.join(f'{n} {kind}' for kind, n in kinds.most_common())})" if kinds else ""
    return f"{each['photo']}: {each['n_right']} right, {each['n_missed']} missed, {each['n_wrong']} wrong{wrong}"


def _overlay(box: Mapping[str, Any]) -> OverlayBox:
    words = box["label"] if box["score"] is None else f"{box['label']} {box['score']:.2f}"
    if box["verdict"] == "missed":
        words += " (missed)"
    elif box["error"] is not None:
        words += f" ({box['error']})"
    sides = (box["y_min"], box["x_min"], box["y_max"], box["x_max"])
    return OverlayBox(sides, words, _COLORS[box["verdict"]], is_dashed=box["verdict"] == "missed")
