"""The results of an evaluation: scores, tables, and what went wrong in each image, as its job wrote them."""

import dataclasses
import pathlib
from typing import Any

from cvzoo.studio.jobs.json_file import open_regular, read_json_object
from cvzoo.studio.jobs.rows import Row, all_rows
from cvzoo.studio.jobs.run_record import number
from cvzoo.studio.jobs.spec import SCORES, VERDICTS

MAX_SCORES = 64 << 20
_IMAGE_BYTES = 64 << 20
# the first bytes of formats that browsers show
_MAGIC = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}
# of detections: what went wrong, as the analysis calls it, and in words
KINDS = {
    "missed": "missed",
    "classification": "wrong class",
    "localization": "poorly placed",
    "both": "wrong class and poorly placed",
    "duplicate": "duplicate",
    "background": "background",
}


@dataclasses.dataclass(frozen=True)
class Results:
    """scores: of scores.json; verdicts: a row per image with errors, the most errors first"""

    scores: dict[str, Any]
    verdicts: list[Row]

    @property
    def summary(self) -> list[tuple[str, float]]:
        """(name, value) of the scores."""
        return [(k, value) for k, value in self.scores.items() if isinstance(value, float) and k != "iou_thresh"]

    @property
    def per_class(self) -> tuple[list[str], list[Row]]:
        """The names of the columns, and a row per class."""
        rows = [row for row in _list(self.scores.get("per_class")) if isinstance(row, dict)]
        keys = dict.fromkeys(key for row in rows for key in row if key not in ("id", "name"))
        numeric = [key for key in keys if all(row.get(key) is None or number(row[key]) is not None for row in rows)]
        return numeric, rows

    @property
    def analysis(self) -> dict[str, Any]:
        """pr_curves, confusion, reliability, thresholds and errors, as far as the task has them."""
        analysis = self.scores.get("analysis")
        return analysis if isinstance(analysis, dict) else {}

    @property
    def notes(self) -> list[str]:
        """Remarks for the reader."""
        return [each for each in _list(self.scores.get("notes")) if isinstance(each, str)]

    @property
    def error_types(self) -> list[tuple[str, int, float | None]]:
        """(kind, number of errors, gain of AP without them) of a detector."""
        tree = self.analysis.get("errors")
        rows = _list(tree.get("types")) if isinstance(tree, dict) else []
        known = [row for row in rows if isinstance(row, dict) and isinstance(row.get("count"), int)]
        return [(str(row.get("type")), row["count"], number(row.get("dap"))) for row in known]

    @property
    def thresholds(self) -> list[dict[str, Any]]:
        """Of each class of a detector: label, f1, f1_score, f1_precision, f1_recall, wished_score, wished_recall."""
        tree = self.analysis.get("thresholds")
        rows = _list(tree.get("classes")) if isinstance(tree, dict) else []
        names = ("f1", "f1_score", "f1_precision", "f1_recall", "wished_score", "wished_recall")
        known = [row for row in rows if isinstance(row, dict)]
        return [{"label": str(row.get("label"))} | {name: number(row.get(name)) for name in names} for row in known]

    @property
    def wished_precision(self) -> float | None:
        """The precision of the scores in `thresholds`."""
        tree = self.analysis.get("thresholds")
        return number(tree.get("wished_precision")) if isinstance(tree, dict) else None

    @property
    def calibration_error(self) -> float | None:
        """The expected calibration error."""
        tree = self.analysis.get("reliability")
        return number(tree.get("ece")) if isinstance(tree, dict) else None

    @property
    def kinds(self) -> dict[str, int]:
        """How many images have each kind of error; {} of label maps."""
        counts: dict[str, int] = {}
        for row in self.verdicts:
            for kind in set(kinds_of(row)):
                counts[kind] = counts.get(kind, 0) + 1
        return counts

    def matching(self, kind: str, label: str) -> list[Row]:
        """The rows with an error of this kind and class ("": any), those with the most such errors first."""
        counted = [(_count(row, kind, label), i) for i, row in enumerate(self.verdicts)]
        return [self.verdicts[i] for n, i in sorted(counted, key=lambda each: (-each[0], each[1])) if n]


def read_results(folder: pathlib.Path) -> Results | None:
    """The results in the folder of an evaluation; None if there are none."""
    scores = read_json_object(folder / SCORES, MAX_SCORES)
    if not scores:
        return None
    rows, _ = all_rows(folder / VERDICTS)
    return Results(scores, [row for row in rows if isinstance(row.get("image"), str)])


def row_of(results: Results, index: int) -> Row | None:
    """The row of the image with this index; None if it has no errors."""
    return next((each for each in results.verdicts if each.get("index") == index), None)


def kinds_of(row: Row) -> list[str]:
    """The kinds of the errors in an image, one for each."""
    if "guess" in row:
        return ["classification"]
    boxes = row.get("boxes")
    found = [_kind(box) for box in boxes if isinstance(box, dict)] if isinstance(boxes, list) else []
    return [kind for kind in found if kind is not None]


def _kind(box: dict[str, Any]) -> str | None:
    if box.get("verdict") == "missed":
        return "missed"
    return str(box.get("error") or "background") if box.get("verdict") == "wrong" else None


def _count(row: Row, kind: str, label: str) -> int:
    if "guess" in row:
        return int(kind in ("", "classification") and label in ("", row.get("label"), row.get("guess")))
    boxes = row.get("boxes")
    if not isinstance(boxes, list):
        return 1
    wrong = [box for box in boxes if isinstance(box, dict) and _kind(box) is not None]
    return sum(kind in ("", _kind(box)) and label in ("", box.get("label")) for box in wrong)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def image_of(row: Row) -> tuple[bytes, str] | None:
    """The bytes of the image of a row and their media type; None if it is gone, too large, or no image."""
    path = row.get("path")
    if not isinstance(path, str) or "\0" in path:
        return None
    try:
        # links are followed here: data sets are made of them
        with open_regular(pathlib.Path(path).resolve(strict=True)) as file:
            data = file.read(_IMAGE_BYTES + 1)
    except (OSError, RuntimeError):
        return None
    kind = media_type_of(data)
    return None if kind is None or len(data) > _IMAGE_BYTES else (data, kind)


def media_type_of(data: bytes) -> str | None:
    """The media type by the first bytes; None of what browsers do not show as an image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
