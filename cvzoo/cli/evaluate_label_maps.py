"""Evaluates semantic segmentation: label maps of a folder or a model against those of a folder."""

import argparse
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.check_target import check_folder
from cvzoo.cli.found_label_maps import Maps, predicted_maps, save_map, stored_maps
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.label_map_truth import LabelMapTruth, load_label_map_truth
from cvzoo.cli.progress import Progress, as_time
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.cli.verdicts import row_of, write_verdicts
from cvzoo.cli.worst_pictures import N_WORST
from cvzoo.errors.exceptions import ConfigError, CvzooError, ValueRangeError
from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator
from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, ClassMap, Image
from cvzoo.visualizations.colors import label_color
from cvzoo.visualizations.report.detection_report import ReportPicture
from cvzoo.visualizations.report.segmentation_report import write_segmentation_report

_NO_MEANING = {
    "iou_type": "bbox",
    "corrections": (),
    "max_dets": None,
    "plus": None,
    "iou_thresh": None,
    "use_07_metric": False,
    "explain": None,
    "drop_unknown_classes": False,
    "find_thresholds": None,
}


class MapScores(NamedTuple):
    """Label maps compared with the ground truth.

    result: of all images; counts: per image, of each class: correct pixels, pixels of the ground truth and predicted
        ones, (B, 3, L) int64
    """

    result: SemanticSegmentationResult
    counts: Array

    @property
    def of_images(self) -> list[tuple[float, float]]:
        """Mean IoU and fraction of correct pixels of each image, NaN without a pixel that counts."""
        right, true, predicted = self.counts.transpose(1, 0, 2)
        union = true + predicted - right
        with np.errstate(invalid="ignore", divide="ignore"):
            iou = np.where(union > 0, right / union, np.nan)
            accuracy = right.sum(axis=1) / true.sum(axis=1)
        some = (union > 0).sum(axis=1)
        miou = np.divide(np.nansum(iou, axis=1), some, out=np.full(len(some), np.nan), where=some > 0)
        return list(zip(miou.tolist(), accuracy.tolist()))


def evaluate_label_maps(args: argparse.Namespace) -> int:
    """Prints and writes the requested results and returns 0. Raises CvzooError or OSError.

    The ground truth is a folder of images whose pixel values are labels, or a public data set; the predictions are such
    images with the same names in another folder, or those of a model.
    """
    refuse_detection_options(args, "label maps")
    if args.results is not None and (args.gt is None or args.photos is not None):
        raise ConfigError("stored label maps are evaluated with --gt labels:DIR --results DIR")
    if args.results is None and args.data is None:
        raise ConfigError("a model needs images to predict on", hint="--data labels:DIR --images DIR")
    truth = load_label_map_truth(args)
    predictions, notes = found_maps(truth, args)
    scores = score_maps(truth, predictions, args, save_to=_result_folder(args.save_results))
    record = _record(scores, predictions.names, truth, notes)
    if args.verdicts is not None:
        worst = _worst(scores, truth, len(truth.keys))
        paths = truth.images
        write_verdicts(args.verdicts, (row_of(each, paths[each["index"]] if paths else None) for each in worst))
    # files first, since the reader of standard output may close the pipe early
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if args.report is not None:
        pictures = _pictures(truth, predictions, record["analysis"]["worst_photos"])
        write_segmentation_report(args.report, record, pictures=pictures, about=about_evaluation(args, {}))
        print(f"report: {printable(args.report)}", file=sys.stderr)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
    else:
        _print(record, quiet=args.quiet)
    return 0


def found_maps(truth: LabelMapTruth, args: argparse.Namespace) -> tuple[Maps, list[str]]:
    """The label maps of --results, or those that the model of the options predicts, and notes."""
    if args.results is None:
        return predicted_maps(args, truth)
    return stored_maps(truth, args.results, args.names, args.limit)


def score_maps(
    truth: LabelMapTruth, predictions: Maps, args: argparse.Namespace, *, save_to: pathlib.Path | None = None
) -> MapScores:
    """The scores of all images, with progress on standard error.

    save_to: the folder for the predicted label maps, in the data set's pixel values
    """
    # pixels of no class are counted as a class after all others, where there may be some
    counts_others = truth.names is not None
    n_class = 0 if predictions.names is None else len(predictions.names)
    accumulator = SemanticSegmentationAccumulator(n_class=n_class + counts_others or None)
    progress = Progress(None if args.quiet else sys.stderr, total=len(truth.keys))
    counts = []
    try:
        for i, key in enumerate(truth.keys):
            gt, pred = truth.read(i), predictions.read(i)
            if save_to is not None:
                save_map(save_to, key, pred, truth.values)
            if counts_others:
                pred = np.where(pred < 0, n_class, pred)
            try:
                accumulator.update([pred], [gt])
                one = calc_semantic_segmentation_confusion([pred], [gt], n_class=accumulator.n_class)
            except CvzooError as error:
                raise ValueRangeError(
                    f"{key} cannot be evaluated: {error}", hint="--ignore N, or --names FILE with all classes"
                ) from error
            counts.append(np.stack((np.diag(one), one.sum(axis=1), one.sum(axis=0))))
            progress.step()
    finally:
        progress.clear()
    if not args.quiet:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)
    confusion = accumulator.confusion
    if counts_others:
        confusion = confusion[:n_class] if confusion[:, n_class].any() else confusion[:n_class, :n_class]
    columns = np.zeros((len(counts), 3, len(confusion)), np.int64)
    for i, part in enumerate(counts):
        n = min(part.shape[1], len(confusion))
        columns[i, :, :n] = part[:, :n]
    return MapScores(SemanticSegmentationResult(confusion), columns)


def _result_folder(path: str | None) -> pathlib.Path | None:
    if path is None:
        return None
    folder = pathlib.Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"--save-results {path} exists", expected="a folder for label maps that does not exist or is empty"
        )
    folder.mkdir(exist_ok=True)
    check_folder(folder, path)
    return folder


def refuse_detection_options(args: argparse.Namespace, what: str) -> None:
    """Raises ConfigError for an option of `cvzoo evaluate` that is for detections only."""
    for option, default in _NO_MEANING.items():
        if vars(args)[option] != default:
            raise ConfigError(f"--{option.replace('_', '-')} does not apply to {what}")
    if args.metric not in (None, "miou"):
        raise ConfigError(f"--metric {args.metric} does not apply to {what}")


def _record(scored: MapScores, names: Sequence[str] | None, truth: LabelMapTruth, notes: list[str]) -> dict[str, Any]:
    result = scored.result
    n_class, n_column = result.confusion.shape
    names = [str(l) for l in range(n_class)] if names is None else list(names)
    if n_column > n_class:
        beyond = int(result.confusion[:, n_class].sum())
        notes = [
            *notes,
            f"{counted(beyond, 'pixel is', 'pixels are')} predicted as none of the classes, which is wrong",
        ]
    scores = {key: value for key, value in result.to_dict().items() if key not in ("iou", "class_accuracy")}
    per_class = [
        {"id": l, "name": name, "n_pixels": int(n), "iou": _number(iou), "accuracy": _number(accuracy)}
        for l, (name, n, iou, accuracy) in enumerate(
            zip(names, result.confusion.sum(axis=1), result.iou, result.class_accuracy)
        )
    ]
    return {
        **{key: _number(value) for key, value in scores.items()},
        "per_class": per_class,
        "counts": {"images": len(truth.keys), "classes": n_class},
        "notes": notes,
        "analysis": {
            "confusion": {
                "names": names if n_column == n_class else [*names, "none of them"],
                "counts": [*result.confusion.tolist(), *[[0] * n_column] * (n_column - n_class)],
            },
            "worst_photos": _worst(scored, truth, N_WORST),
        },
    }


def _worst(scored: MapScores, truth: LabelMapTruth, n: int) -> list[dict[str, Any]]:
    """The images of the lowest mIoU, at most n, without those that are all right."""
    of_images = scored.of_images
    order = np.argsort([np.inf if miou != miou else miou for miou, _ in of_images], kind="stable")[:n]
    return [
        {"index": int(i), "photo": truth.keys[i], "miou": of_images[i][0], "pixel_accuracy": of_images[i][1]}
        for i in order
        if of_images[i][0] < 1
    ]


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


def _pictures(truth: LabelMapTruth, predictions: Maps, worst: Sequence[dict[str, Any]]) -> Iterator[ReportPicture]:
    """The ground truth, the prediction, and their differences, side by side."""
    for each in worst:
        gt, pred = truth.read(each["index"]), predictions.read(each["index"])
        caption = f"{each['photo']}: mIoU {each['miou']:.3f}, {each['pixel_accuracy']:.1%} of pixels right"
        yield ReportPicture(side_by_side(gt, pred), [], caption)


def side_by_side(gt: ClassMap, *preds: ClassMap) -> Image:
    """A picture of the ground truth, and of each prediction with its errors (white; ignored pixels are black)."""
    gap = np.full((3, len(gt), max(gt.shape[1] // 50, 2)), 255, np.float32)
    parts = [colored_map(gt)]
    for pred in preds:
        wrong = np.where(gt < 0, 0.0, np.where(gt == pred, 90.0, 255.0)).astype(np.float32)
        parts += [gap, colored_map(np.where(gt < 0, -1, pred)), gap, np.stack((wrong,) * 3)]
    return np.concatenate(parts, axis=2)


def colored_map(label: ClassMap) -> Image:
    """A picture of a label map; pixels of no class are black."""
    colors = [label_color(l) for l in range(int(label.max(initial=0)) + 1)]
    return np.array([*colors, (0, 0, 0)], np.float32)[label].transpose(2, 0, 1)
