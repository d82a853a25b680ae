"""What went wrong in each image of an evaluation, as JSON Lines."""

import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cvzoo.cli.scored import Instances
from cvzoo.files.atomic_write import atomic_write


def write_verdicts(path: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a JSON object per image, atomically."""
    with atomic_write(pathlib.Path(path)) as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False).encode() + b"\n")


def detection_verdicts(worst: Sequence[Mapping[str, Any]], each: Instances) -> list[dict[str, Any]]:
    """The rows of images with errors, the most first.

    worst: all of `list_worst_images`
    Returns index, image, path (None if unknown), n_right, n_wrong, n_missed, boxes (verdict, error, label, score and
    sides of each detection that counts and each missed object) and objects (label and sides of all annotated ones).
    """
    rows = []
    for found in worst:
        i = found["index"]
        objects = [
            {"label": each.label_names[label], "y_min": y_min, "x_min": x_min, "y_max": y_max, "x_max": x_max}
            for label, (y_min, x_min, y_max, x_max) in zip(each.gt_labels[i].tolist(), each.gt_bboxes[i].tolist())
        ]
        rows.append(row_of(found, each.paths[i]) | {"objects": objects})
    return rows


def row_of(found: Mapping[str, Any], path: os.PathLike[str] | str | None) -> dict[str, Any]:
    """A record of worst images with the image's path, and `image` instead of `photo`."""
    tree = {"image" if key == "photo" else key: value for key, value in found.items()}
    return tree | {"path": None if path is None else os.path.abspath(path)}
