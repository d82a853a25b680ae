"""Evaluates panoptic segmentation: COCO's JSON and PNG files of predictions against those of the ground truth."""

import argparse
import math
import pathlib
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.evaluate_label_maps import refuse_detection_options
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.progress import Progress
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.errors.exceptions import ConfigError, CvzooError, DatasetError
from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
from cvzoo.evaluations.panoptic.read_coco_panoptic import COCOPanoptic, PanopticAnnotation, read_coco_panoptic
from cvzoo.evaluations.panoptic.result import PanopticResult
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array


class PanopticPair(NamedTuple):
    """The ground truth and the predictions of a command line; chosen: the images, and the annotation of each."""

    truth: COCOPanoptic
    found: COCOPanoptic
    chosen: list[tuple[int | str, PanopticAnnotation]]


def evaluate_panoptic(args: argparse.Namespace) -> int:
    """Prints and writes the panoptic quality of --results against --gt panoptic:FILE.json, and returns 0.

    Raises CvzooError or OSError if anything cannot be evaluated.
    """
    if args.report is not None:
        raise ConfigError("--report does not apply to panoptic segmentations", hint="--json FILE")
    pair = read_panoptic_pair(args)
    accumulator = PanopticAccumulator(pair.truth.categories)
    for one in panoptic_images(pair, args):
        accumulator.merge(one)
    record = _record(accumulator.compute(), len(pair.chosen))
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
        return 0
    if not args.quiet:
        print(class_table(record["per_class"], ("pq", "sq", "rq"), counted="segments"))
        print()
    print(summary_text({key: value for key, value in record.items() if key.startswith(("pq", "sq", "rq"))}))
    return 0


def read_panoptic_pair(args: argparse.Namespace) -> PanopticPair:
    """--results and --gt panoptic:FILE.json. Raises ConfigError for other options, DatasetError if images lack."""
    refuse_detection_options(args, "panoptic segmentations")
    if args.results is None or args.gt is None or args.photos is not None:
        raise ConfigError(
            "panoptic segmentation is evaluated from two files",
            expected="--gt panoptic:FILE.json --results FILE.json, each with its PNG files in FILE/",
        )
    truth = read_coco_panoptic(args.gt.partition(":")[2])
    predictions = read_coco_panoptic(args.results)
    if not truth.categories:
        raise DatasetError(f"{args.gt} contains no categories")
    chosen = list(truth.annotations.items())[: args.limit]
    absent = [image for image, _ in chosen if image not in predictions.annotations]
    if absent:
        raise DatasetError(
            f"{args.results} has no segments of {counted(len(absent), 'image')}", got=f"first {absent[0]}"
        )
    return PanopticPair(truth, predictions, chosen)


def panoptic_images(pair: PanopticPair, args: argparse.Namespace) -> Iterator[PanopticAccumulator]:
    """The matched segments of each image, with progress on standard error. Raises DatasetError that names its file."""
    progress = Progress(None if args.quiet else sys.stderr, total=len(pair.chosen))
    try:
        for image, gt in pair.chosen:
            pred, accumulator = pair.found.annotations[image], PanopticAccumulator(pair.truth.categories)
            try:
                accumulator.update([pred.read_map()], [pred.segments], [gt.read_map()], [gt.segments])
            except CvzooError as error:
                raise DatasetError(f"{pathlib.Path(gt.path).name} cannot be evaluated: {error}") from error
            progress.step()
            yield accumulator
    finally:
        progress.clear()


def panoptic_counts(pair: PanopticPair, args: argparse.Namespace) -> Array:
    """(I, 4, L) float64, of each image and class: sum of IoUs, true positives, false positives, false negatives."""
    results = (each.compute() for each in panoptic_images(pair, args))
    return np.stack([np.stack((each.iou, each.tp, each.fp, each.fn)) for each in results])


def _record(result: PanopticResult, n_images: int) -> dict[str, Any]:
    """The scores of all classes, of things and of stuff, and a row per class."""
    scores = {key: None if math.isnan(value) else value for key, value in result.to_dict().items()}
    rows = zip(result.category_ids.tolist(), result.names, (result.tp + result.fn).tolist())
    per_class = [
        {"id": i, "name": name, "n_segments": n, **{key: scores[f"{key}/{name}"] for key in ("pq", "sq", "rq")}}
        for i, name, n in rows
    ]
    means = [f"{key}{part}" for part in ("", "/things", "/stuff") for key in ("pq", "sq", "rq")]
    return {
        **{key: scores[key] for key in means},
        "per_class": per_class,
        "counts": {"images": n_images, "classes": len(per_class)},
    }
