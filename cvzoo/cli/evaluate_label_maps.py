"""Evaluates semantic segmentation: label maps of a folder or a model against those of a folder."""

import argparse
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.found_label_maps import PredictedMaps, StoredMaps, predicted_maps
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.progress import Progress, as_time
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.errors.exceptions import ConfigError, CvzooError, DatasetError, FileFormatError, ValueRangeError
from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator
from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_label import read_label
from cvzoo.typing.aliases import ClassMap, Image
from cvzoo.visualizations.colors import label_color
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.visualizations.report.segmentation_report import write_segmentation_report

_NO_MEANING = {
    "iou_type": "bbox",
    "corrections": (),
    "max_dets": None,
    "metric": None,
    "plus": None,
    "iou_thresh": None,
    "use_07_metric": False,
    "explain": None,
    "drop_unknown_classes": False,
    "split": None,
}
_N_WORST = 12
Maps: TypeAlias = StoredMaps | PredictedMaps
Pair: TypeAlias = tuple[str, pathlib.Path, pathlib.Path]  # name, ground truth, prediction


def evaluate_label_maps(args: argparse.Namespace) -> int:
    """Prints and writes the requested results and returns 0. Raises CvzooError or OSError.

    The ground truth is a folder of images whose pixel values are labels; the predictions are such images with the same
    names in another folder, or those of a model on images with the same names.
    """
    refuse_detection_options(args, "label maps")
    if args.results is not None:
        if args.gt is None or args.photos is not None:
            raise ConfigError("stored label maps are evaluated with --gt labels:DIR --results DIR")
        found: Maps = StoredMaps(pathlib.Path(args.results), _names(args.names))
        truth = args.gt
    else:
        if args.data is None:
            raise ConfigError("a model needs images to predict on", hint="--data labels:DIR --photos DIR")
        found, truth = predicted_maps(args), args.data
    pairs, notes = _pairs(pathlib.Path(truth.partition(":")[2]), found.folder, args.limit)
    result, by_photo = _score(pairs, found, args)
    record = _record(result, by_photo, found.names, pairs, notes)
    # files first, since the reader of standard output may close the pipe early
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if args.report is not None:
        pictures = _pictures(pairs, found, record["analysis"]["worst_photos"], args.ignore)
        write_segmentation_report(args.report, record, pictures=pictures, about=about_evaluation(args, {}))
        print(f"report: {printable(args.report)}", file=sys.stderr)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
    else:
        _print(record, quiet=args.quiet)
    return 0


def refuse_detection_options(args: argparse.Namespace, what: str) -> None:
    """Raises ConfigError for an option of `cvzoo evaluate` that is for detections only."""
    for option, default in _NO_MEANING.items():
        if vars(args)[option] != default:
            raise ConfigError(f"--{option.replace('_', '-')} does not apply to {what}")


def _names(path: str | None) -> list[str] | None:
    if path is None:
        return None
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not a list of names in UTF-8") from error
    return [line.strip() for line in lines if line.strip()]


def _pairs(truth: pathlib.Path, results: pathlib.Path, limit: int | None) -> tuple[list[Pair], list[str]]:
    """[(name, path of the ground truth, path of the result)], and notes. Raises DatasetError for a missing result."""
    for folder in (truth, results):
        if not folder.is_dir():
            raise DatasetError(f"{folder} is not a folder")
    expected, found = _by_stem(truth), _by_stem(results)
    if not expected:
        raise DatasetError(f"{truth} contains no label maps")
    expected = dict(list(expected.items())[:limit])
    absent = [name for name in expected if name not in found]
    if absent:
        raise DatasetError(
            f"{results}: no label map for {len(absent)} of {len(expected)} images, first {absent[0]}",
            expected=f"the same file names as in {truth}",
            hint="--limit N for only the first N",
        )
    more = len(found) - len(expected)
    notes = [f"{more} more label maps in the results were ignored"] if more > 0 and limit is None else []
    return [(name, path, found[name]) for name, path in expected.items()], notes


def _by_stem(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    files: dict[str, pathlib.Path] = {}
    for path in list_image_files(folder, recursive=True):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if files.setdefault(name, path) != path:
            raise DatasetError(f"{path}: another label map has the same name", got=files[name])
    return files


def _score(
    pairs: Sequence[Pair], found: Maps, args: argparse.Namespace
) -> tuple[SemanticSegmentationResult, list[tuple[float, float]]]:
    names = found.names
    accumulator = SemanticSegmentationAccumulator(n_class=None if names is None else len(names))
    progress = Progress(None if args.quiet else sys.stderr, total=len(pairs))
    by_photo = []
    try:
        for name, truth, path in pairs:
            gt, pred = _read(truth, args.ignore), found.read(path)
            try:
                accumulator.update([pred], [gt])
            except CvzooError as error:
                raise ValueRangeError(
                    f"{name} cannot be evaluated: {error}", hint="--ignore N, or --names FILE with all classes"
                ) from error
            one = SemanticSegmentationResult(calc_semantic_segmentation_confusion([pred], [gt]))
            by_photo.append((one.miou, one.pixel_accuracy))
            progress.step()
    finally:
        progress.clear()
    if not args.quiet:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)
    return accumulator.compute(), by_photo


def _read(path: pathlib.Path, ignore: Sequence[int]) -> ClassMap:
    label = read_label(path)
    label[np.isin(label, ignore)] = -1
    return label


def _record(
    result: SemanticSegmentationResult,
    by_photo: Sequence[tuple[float, float]],
    names: list[str] | None,
    pairs: Sequence[Pair],
    notes: list[str],
) -> dict[str, Any]:
    n_class = len(result.confusion)
    names = [str(l) for l in range(n_class)] if names is None else names
    scores = {key: value for key, value in result.to_dict().items() if key not in ("iou", "class_accuracy")}
    per_class = [
        {"id": l, "name": name, "n_pixels": int(n), "iou": _number(iou), "accuracy": _number(accuracy)}
        for l, (name, n, iou, accuracy) in enumerate(
            zip(names, result.confusion.sum(axis=1), result.iou, result.class_accuracy)
        )
    ]
    order = np.argsort([np.inf if miou != miou else miou for miou, _ in by_photo], kind="stable")[:_N_WORST]
    worst = [
        {"index": int(i), "photo": pairs[i][0], "miou": by_photo[i][0], "pixel_accuracy": by_photo[i][1]}
        for i in order
        if by_photo[i][0] < 1
    ]
    return {
        **{key: _number(value) for key, value in scores.items()},
        "per_class": per_class,
        "counts": {"images": len(pairs), "classes": n_class},
        "notes": notes,
        "analysis": {
            "confusion": {"names": names, "counts": result.confusion.tolist()},
            "worst_photos": worst,
        },
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _print(record: dict[str, Any], *, quiet: bool) -> None:
    if not quiet:
        print(class_table(record["per_class"], ("iou", "accuracy"), counted="pixels"))
        print()
    keys = ("miou", "pixel_accuracy", "mean_class_accuracy", "fwiou")
    print(summary_text({key: record[key] for key in keys}))
    for note in record["notes"]:
        print(f"note: {note}")


def _pictures(
    pairs: Sequence[Pair], found: Maps, worst: Sequence[dict[str, Any]], ignore: Sequence[int]
) -> Iterator[ReportPicture]:
    """The ground truth, the prediction, and their differences, side by side."""
    for each in worst:
        name, truth, path = pairs[each["index"]]
        gt, pred = _read(truth, ignore), found.read(path)
        wrong = np.where(gt < 0, 0.0, np.where(gt == pred, 90.0, 255.0)).astype(np.float32)
        gap = np.full((3, len(gt), max(gt.shape[1] // 50, 2)), 255, np.float32)
        parts = (_colored(gt), gap, _colored(np.where(gt < 0, -1, pred)), gap, np.stack((wrong,) * 3))
        caption = f"{name}: mIoU {each['miou']:.3f}, {each['pixel_accuracy']:.1%} of pixels right"
        yield ReportPicture(np.concatenate(parts, axis=2), [], caption)


def _colored(label: ClassMap) -> Image:
    colors = [label_color(l) for l in range(int(label.max(initial=0)) + 1)]
    return np.array([*colors, (0, 0, 0)], np.float32)[label].transpose(2, 0, 1)
