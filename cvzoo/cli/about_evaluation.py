"""What a report of scores says of itself: of which model, of which data, how, when."""

import argparse
import datetime
import importlib
import shlex
from collections.abc import Mapping

from cvzoo.links.model.thresholds import AbstractThresholds


def about_evaluation(args: argparse.Namespace, thresholds: Mapping[str, float | str]) -> dict[str, str]:
    """The lines below a report's title, by name.

    args: of `cvzoo evaluate`; thresholds: in words, with their numbers, as the model and the metric had them
    """
    files = [word for word in (args.cfg, args.weights) if word is not None]
    facts = {
        "model": args.model or " with ".join(files),
        "results": args.results,
        "data": args.data or args.gt,
        "photos": args.photos,
        "split": args.split,
        "first images only": args.limit,
        "thresholds": ", ".join(f"{name} {value}" for name, value in thresholds.items()),
        "command": shlex.join(["cvzoo", *args.words]) if "words" in args else None,
        "date": datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z"),
        "program": f"cvzoo {importlib.import_module('cvzoo').__version__}",
    }
    return {name: str(value) for name, value in facts.items() if value not in (None, "")}


def thresholds_of(model: AbstractThresholds) -> dict[str, float]:
    """Above which score, and up to which overlap with a better box, the model keeps what it finds, in words."""
    return {"scores above": float(model.score_thresh), "NMS at overlap": float(model.nms_thresh)}
