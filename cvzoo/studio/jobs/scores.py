"""The scores by class of a run's last and best validation."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from cvzoo.studio.jobs.curves import keys_of
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import best_of, number
from cvzoo.training.run.class_scores import class_scores


@dataclasses.dataclass(frozen=True)
class ScoreTable:
    """Scores by class.

    columns: names, such as "ap, best"
    rows: (class, values), from the highest of the first column; None where there is no value
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


def score_table(rows: Sequence[Row], data: dict[str, Any], best_key: str | None, best_is: str) -> ScoreTable | None:
    """The table of a run; None without scores by class. rows: of metrics.jsonl; data: of data.json"""
    found = class_scores(keys_of(rows), classes_of(data))
    if not found.keys:
        return None
    validated = [row for row in rows if any(row.get(key) is not None for key in found.all_keys)]
    best = best_of(rows, best_key, best_is)
    if not validated:
        return None
    chosen = [("last", validated[-1])] + ([("best", best)] if best is not None and best is not validated[-1] else [])
    columns = tuple(f"{score_name(title)}, {which}" for title, _ in found.keys for which, _ in chosen)
    lines = [
        (name, tuple(number(row.get(keys[name])) for _, keys in found.keys for _, row in chosen))
        for name in found.keys[0][1]
    ]
    lines.sort(key=lambda line: (line[1][0] is None, -(line[1][0] or 0.0), line[0]))
    return ScoreTable(columns, tuple(lines))


def classes_of(data: dict[str, Any]) -> list[str]:
    """The names of the classes in data.json; [] if there are none."""
    part = data.get("val") or data.get("train")
    names = part.get("label_names") if isinstance(part, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else []


def score_name(key: str) -> str:
    """A key of the log in few words, as "map" or "map, iou 0.50:0.95": what COCO's rules always have is left out."""
    parts = [part for part in key.split("/") if part not in ("validation", "main", "area=all", "max_dets=100")]
    return ", ".join(part.replace("=", " ") for part in parts) or key
