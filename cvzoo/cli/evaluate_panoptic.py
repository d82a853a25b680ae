"""Evaluates panoptic segmentation: COCO's JSON and PNG files of predictions against those of the ground truth."""

import argparse
import math
import pathlib
import sys
from typing import Any

from cvzoo.cli.evaluate_label_maps import refuse_detection_options
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.progress import Progress
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.errors.exceptions import ConfigError, CvzooError, DatasetError
from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
from cvzoo.evaluations.panoptic.read_coco_panoptic import read_coco_panoptic
from cvzoo.evaluations.panoptic.result import PanopticResult


def evaluate_panoptic(args: argparse.Namespace) -> int:
    """Prints and writes the panoptic quality of --results against --gt panoptic:FILE.json, and returns 0.

    Raises CvzooError or OSError if anything cannot be evaluated.
    """
    refuse_detection_options(args, "panoptic segmentations")
    if args.results is None or args.gt is None or args.photos is not None or args.report is not None:
        raise ConfigError(
            "panoptic segmentation is evaluated from two files",
            expected="--gt panoptic:FILE.json --results FILE.json, each with its PNG files in FILE/",
        )
    truth = read_coco_panoptic(args.gt.partition(":")[2])
    found = read_coco_panoptic(args.results)
    if not truth.categories:
        raise DatasetError(f"{args.gt} contains no categories")
    chosen = list(truth.annotations.items())[: args.limit]
    absent = [image for image, _ in chosen if image not in found.annotations]
    if absent:
        raise DatasetError(f"{args.results} has no segments of {len(absent)} images", got=f"first {absent[0]}")
    accumulator = PanopticAccumulator(truth.categories)
    progress = Progress(None if args.quiet else sys.stderr, total=len(chosen))
    try:
        for image, gt in chosen:
            pred = found.annotations[image]
            try:
                accumulator.update([pred.read_map()], [pred.segments], [gt.read_map()], [gt.segments])
            except CvzooError as error:
                raise DatasetError(f"{pathlib.Path(gt.path).name} cannot be evaluated: {error}") from error
            progress.step()
    finally:
        progress.clear()
    record = _record(accumulator.compute(), len(chosen))
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
