"""`cvzoo compare`: two models or two results files on the same images, with intervals of their differences."""

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.check_target import check_target
from cvzoo.cli.class_truth import class_kind
from cvzoo.cli.compare_classes import compare_on_classes
from cvzoo.cli.compare_detections import compare_on_coco, compare_on_lvis, compare_on_voc, compare_on_voc_masks
from cvzoo.cli.compare_label_maps import compare_on_label_maps
from cvzoo.cli.compare_panoptic import compare_on_panoptic
from cvzoo.cli.compared import Compared
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.label_map_truth import means_label_maps
from cvzoo.cli.mask_truth import load_mask_truth, means_voc_masks
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import number
from cvzoo.cli.truth import COCOTruth, VOCTruth, load_truth
from cvzoo.cli.truth_metric import as_coco, as_voc
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.comparison.bootstrap import Comparison, ScoreInterval, compare_scores
from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted
from cvzoo.reporting.score_meanings import MEANINGS
from cvzoo.visualizations.report.comparison_report import write_comparison_report

_FEW = 30  # images: below, resampling shows too little of the spread


def run(args: argparse.Namespace) -> int:
    """Returns 0, whichever is better. Raises CvzooError or OSError if one of the two cannot be evaluated."""
    if (args.data is None) == (args.gt is None):
        raise ConfigError(
            "compare needs one ground truth", hint="--data SPEC with images, or --gt SPEC to compare results"
        )
    if not 0 < args.confidence < 1 or args.resamples < 2:
        raise ConfigError(
            "--confidence or --resamples is out of range", expected="above 0 and below 1; 2 or more",
            got=f"{args.confidence:g} and {args.resamples}",
        )  # fmt: skip
    for target in (args.json, args.report):
        check_target(target)
    compared = _compared(args)
    record = _record(compared, _resampled(compared, args), args)
    # files first, since the reader of standard output may close the pipe early
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if args.report is not None:
        changed = record["changed_images"]
        pictures = {key: compared.pictures([each["index"] for each in changed[key]]) for key in ("better", "worse")}
        about = _about(args)
        write_comparison_report(args.report, record, better=pictures["better"], worse=pictures["worse"], about=about)
        print(f"report: {printable(args.report)}", file=sys.stderr)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
    else:
        _print(record, quiet=args.quiet)
    return 0


def _compared(args: argparse.Namespace) -> Compared:
    """Both sides on the ground truth, of whatever task it is."""
    spec = args.data or args.gt
    is_of_label_maps = means_label_maps(args)
    is_of_classes = class_kind(spec) is not None and not is_of_label_maps
    if args.batch_size is None:
        args.batch_size = 32 if is_of_classes else 1
    if is_of_label_maps:
        return compare_on_label_maps(args)
    if args.metric == "miou":
        raise ConfigError("--metric miou applies to label maps", expected="voc:ROOT or labels:DIR")
    if spec.startswith("panoptic:"):
        return compare_on_panoptic(args)
    for option, default in (("ignore", (255,)), ("names", None)):
        if vars(args)[option] != default:
            raise ConfigError(f"--{option} applies to label maps only")
    if is_of_classes:
        return compare_on_classes(args)
    if spec.startswith("sbd:"):
        args.iou_type = "segm"
    parameters = COCOParameters(
        iou_type=args.iou_type,
        corrections=args.corrections,
        accept=("unknown_class",) if args.drop_unknown_classes else (),
    )
    if spec.startswith("lvis:"):
        return compare_on_lvis(args)
    if means_voc_masks(args):
        of_masks = load_mask_truth(args)
        if args.metric == "coco":
            return compare_on_coco(of_masks, args, parameters)
        return compare_on_voc_masks(of_masks, args, parameters)
    truth = load_truth(args, parameters, limit=args.limit)
    if (args.metric or ("voc" if isinstance(truth, VOCTruth) else "coco")) == "voc":
        paths = truth.photo_paths(args.photos) if isinstance(truth, COCOTruth) and args.data is not None else None
        return compare_on_voc(as_voc(truth, paths), args)
    return compare_on_coco(as_coco(truth), args, parameters)


def _resampled(compared: Compared, args: argparse.Namespace) -> list[Comparison]:
    progress = Progress(None if args.quiet else sys.stderr, total=args.resamples, unit="resample")
    try:
        comparisons = compare_scores(
            *compared.scores, (*compared.summary, *compared.classes), len(compared.images),
            n_resample=args.resamples, seed=args.seed, confidence=args.confidence, step=progress.step,
        )  # fmt: skip
    finally:
        progress.clear()
    if not args.quiet:
        print(f"{counted(args.resamples, 'resample')} in {as_time(progress.elapsed)}", file=sys.stderr)
    return comparisons


def _record(compared: Compared, comparisons: Sequence[Comparison], args: argparse.Namespace) -> dict[str, Any]:
    n = len(compared.summary)
    rows = [
        {"id": l, **_row(each), f"n_{compared.counted}": int(n_object)}
        for l, (each, n_object) in enumerate(zip(comparisons[n:], compared.n_objects))
    ]
    better, worse = compared.changed(args.worst)
    few = []
    if len(compared.images) < _FEW:
        few = [
            f"{counted(len(compared.images), 'image is', 'images are')} few: intervals of fewer than {_FEW} are "
            "too narrow"
        ]
    return {
        "a": args.a,
        "b": args.b,
        "scores": [_row(each) for each in comparisons[:n]],
        "per_class": rows,
        "counted": compared.counted,
        "bootstrap": {"resamples": args.resamples, "seed": args.seed, "confidence": args.confidence},
        "counts": {"images": len(compared.images), "classes": len(compared.classes)},
        "changed_images": {
            "measure": compared.measure,
            "better": [_image(compared, i) for i in better],
            "worse": [_image(compared, i) for i in worse],
        },
        "notes": [*dict.fromkeys(compared.notes), *few],
    }


def _row(each: Comparison) -> dict[str, Any]:
    return {
        "name": each.name,
        "a": _interval(each.a),
        "b": _interval(each.b),
        "difference": _interval(each.difference),
        "p_value": _finite(each.p_value),
        "differs": each.differs,
    }


def _interval(each: ScoreInterval) -> dict[str, float | None]:
    return {"value": _finite(each.value), "low": _finite(each.low), "high": _finite(each.high)}


def _image(compared: Compared, i: int) -> dict[str, Any]:
    a, b = (_finite(float(value)) for value in compared.of_images[:, i])
    if compared.is_error and a is not None and b is not None:
        a, b = int(a), int(b)
    return {"index": i, "photo": compared.images[i], "a": a, "b": b}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _about(args: argparse.Namespace) -> dict[str, str]:
    about = about_evaluation(
        argparse.Namespace(**({"model": None, "results": None, "cfg": None, "weights": None} | vars(args))), {}
    )
    return {"A": args.a, "B": args.b, **about}


def _print(record: dict[str, Any], *, quiet: bool) -> None:
    if not quiet:
        some = [row for row in record["per_class"] if row[f"n_{record['counted']}"]]
        print(_table(some, counted=record["counted"]))
        if len(some) < len(record["per_class"]):
            print(
                f"and {counted(len(record['per_class']) - len(some), 'class', 'classes')} without {record['counted']}"
            )
        print()
    print(_table(record["scores"]))
    settings, changed = record["bootstrap"], record["changed_images"]
    print(
        f"[ ]: {settings['confidence']:.0%} intervals of {counted(settings['resamples'], 'resample')} of "
        f"{counted(record['counts']['images'], 'image')}; *: the interval of the difference excludes 0"
    )
    for key in () if quiet else ("better", "worse"):
        names = ", ".join(
            f"{printable(each['photo'])} ({_text(each['a'])} to {_text(each['b'])})" for each in changed[key]
        )
        if names:
            print(f"{key} with B, by {changed['measure']}: {names}")
    for note in record["notes"]:
        print(f"note: {printable(note)}")


def _table(rows: Iterable[dict[str, Any]], *, counted: str | None = None) -> str:
    rows = list(rows)
    names = [printable(str(row["name"])) for row in rows]
    width = max([len("class"), *map(len, names)])
    head = f"{'class':<{width}}  {counted:>8}" if counted else f"{'':<{width}}"
    lines = [f"{head}  {'A':^24}  {'B':^24}  {'difference':^26}  {'p':>6}"]
    for name, row in zip(names, rows):
        start = f"{name:<{width}}  {row[f'n_{counted}']:>8}" if counted else f"{name:<{width}}"
        values = "  ".join(_with_interval(row[side]) for side in ("a", "b"))
        mark = "*" if row["differs"] else " "
        end = "" if counted else MEANINGS.get(row["name"], "")
        change = _with_interval(row["difference"], sign="+")
        lines.append(f"{start}  {values}  {change}{mark}  {number(row['p_value'])}  {end}".rstrip())
    return "\n".join(lines)


def _with_interval(each: dict[str, float | None], *, sign: str = "") -> str:
    value, low, high = (_text(each[key], sign) for key in ("value", "low", "high"))
    return f"{value:>7} [{low:>6}, {high:>6}]".ljust(24)


def _text(value: float | None, sign: str = "") -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:{sign}.4f}"
