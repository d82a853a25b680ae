"""Reader of scores that another program wrote."""

import decimal
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.coco.summarize import BOX_KEYS, POINT_KEYS
from cvzoo.typing.aliases import FilePath

# other programs' names of the scores, in lower case and without the prefixes "bbox_", "segm_", "metrics/" and "(B)"
_ALIASES = {
    "AP": ("ap", "map", "ap_all", "map50-95", "map_50_95", "ap/iou=0.50:0.95/area=all/max_dets=100"),
    "AP50": ("ap50", "map50", "map_50", "ap_50", "ap/iou=0.50/area=all/max_dets=100"),
    "AP75": ("ap75", "map75", "map_75", "ap_75", "ap/iou=0.75/area=all/max_dets=100"),
    "APs": ("aps", "map_small", "ap_small", "map_s", "ap/iou=0.50:0.95/area=small/max_dets=100"),
    "APm": ("apm", "map_medium", "ap_medium", "map_m", "ap/iou=0.50:0.95/area=medium/max_dets=100"),
    "APl": ("apl", "map_large", "ap_large", "map_l", "ap/iou=0.50:0.95/area=large/max_dets=100"),
    "AR1": ("ar1", "mar_1", "ar_1", "ar@1", "ar_all", "ar/iou=0.50:0.95/area=all/max_dets=1"),
    "AR10": ("ar10", "mar_10", "ar_10", "ar@10", "ar_second", "ar/iou=0.50:0.95/area=all/max_dets=10"),
    "AR100": ("ar100", "mar_100", "ar_100", "ar@100", "ar_third", "ar/iou=0.50:0.95/area=all/max_dets=100"),
    "ARs": ("ars", "mar_small", "ar_small", "ar_s@1000", "ar/iou=0.50:0.95/area=small/max_dets=100"),
    "ARm": ("arm", "mar_medium", "ar_medium", "ar_m@1000", "ar/iou=0.50:0.95/area=medium/max_dets=100"),
    "ARl": ("arl", "mar_large", "ar_large", "ar_l@1000", "ar/iou=0.50:0.95/area=large/max_dets=100"),
    "AR": ("ar",),
    "AR50": ("ar50", "ar_50"),
    "AR75": ("ar75", "ar_75"),
}
_NAMES = {alias: key for key, aliases in _ALIASES.items() for alias in aliases}
_INNER = ("summary", "stats", "metrics", "results", "bbox", "segm", "keypoints")


ScoresSource: TypeAlias = FilePath | Mapping[str, Any] | list[Any]


class OtherScores(NamedTuple):
    """Another program's scores by our names, the precision of its numbers, and remarks."""

    scores: dict[str, float]
    tolerance: float
    notes: tuple[str, ...]


def read_scores(source: ScoresSource) -> OtherScores:
    """The scores of a JSON file, or of its decoded content.

    source: a dictionary with COCO's names (AP, AP50 ...) or those of ChainerCV, torchmetrics, detectron2, mmdet or
        ultralytics, at the top or one level down; or pycocotools' list of 12 (or 10) numbers
    Numbers above 1 are read as percent. The tolerance is half a unit of the last decimal that is written: 0.13 stands
    for 0.125 to 0.135.
    Raises FileFormatError if there are no scores, ValueRangeError for an invalid score.
    """
    name = "the other scores"
    if isinstance(source, str | os.PathLike):
        name = str(source)
        try:
            # Decimal keeps trailing zeros: 0.120 is more precise than 0.12
            source = json.loads(pathlib.Path(source).read_text(encoding="utf-8"), parse_float=decimal.Decimal)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"{name} is not JSON: {error}") from error
    scores = _found(source)
    if not scores:
        raise FileFormatError(
            f"{name} has no scores", expected="a dictionary with AP, AP50 ..., or a list of 12 numbers"
        )
    notes = []
    if any(value > 1 for value in scores.values()):
        notes.append("the other's scores are in percent")
        scale = 100
    else:
        scale = 1
    decimals = max(_decimals(value) for value in scores.values())
    scores = {key: -1.0 if value == -1 else float(value) / scale for key, value in scores.items()}
    wrong = [key for key, value in scores.items() if not (value == -1 or 0 <= value <= 1 + 1e-9)]
    if wrong:
        raise ValueRangeError(
            f"{name}: {wrong[0]} is out of range", expected="between 0 and 1, or -1", got=scores[wrong[0]]
        )
    # plus an epsilon for the rounding of floats
    return OtherScores(scores, 0.5 * 10.0**-decimals / scale + 1e-9, tuple(notes))


def _found(source: object) -> dict[str, Any]:
    if isinstance(source, list):
        keys = {len(BOX_KEYS): BOX_KEYS, len(POINT_KEYS): POINT_KEYS}.get(len(source), ())
        return {key: value for key, value in zip(keys, source) if _is_score(value)}
    if not isinstance(source, Mapping):
        return {}
    scores: dict[str, Any] = {}
    for key, value in source.items():
        plain = str(key).lower().removeprefix("metrics/").removesuffix("(b)").removesuffix("(m)").removeprefix("main/")
        ours = _NAMES.get(plain) or _NAMES.get(plain.removeprefix("bbox_").removeprefix("segm_").removeprefix("coco/"))
        if ours is None and plain.startswith("map/iou="):
            ours = _NAMES.get(plain[1:])
        if ours is None and plain.startswith("mar/iou="):
            ours = _NAMES.get(plain[1:])
        if ours is not None and _is_score(value):
            scores.setdefault(ours, value)
    if scores:
        return scores
    for key in _INNER:
        if key in source:
            scores = _found(source[key])
            if scores:
                return scores
    return {}


def _is_score(value: object) -> bool:
    return isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool) and value == value


def _decimals(value: float | decimal.Decimal) -> int:
    if isinstance(value, decimal.Decimal):
        return max(-int(value.as_tuple().exponent), 1)
    text = repr(float(value))
    if "e" in text:
        return 16
    return len(text.partition(".")[2].rstrip("0")) or 1
