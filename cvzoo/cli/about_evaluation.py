"""The metadata of an evaluation report: model, data, thresholds, command, date."""

import argparse
import datetime
import importlib
import shlex
from collections.abc import Mapping

from cvzoo.links.model.thresholds import AbstractThresholds


def about_evaluation(args: argparse.Namespace, thresholds: Mapping[str, float | str]) -> dict[str, str]:
    """The metadata lines of a report, by name.

    args: of `cvzoo evaluate`; thresholds: of the model and the metric, by description
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
    """The model's score and NMS thresholds, by description."""
    return {"scores above": float(model.score_thresh), "NMS at overlap": float(model.nms_thresh)}
