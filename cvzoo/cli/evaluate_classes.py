"""Evaluates image classification: a model or a results file."""

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.class_truth import ClassTruth, load_class_truth
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.load_predictor import Predictor, named_model, with_inference_options
from cvzoo.cli.match_classes import class_indices
from cvzoo.cli.progress import Progress, as_time
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.cli.verdicts import row_of, write_verdicts
from cvzoo.cli.worst_pictures import N_WORST
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.analysis.analyze_classes import analyze_classes
from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
from cvzoo.evaluations.classification.eval_calibration import eval_calibration
from cvzoo.evaluations.results.class_results import read_class_results, write_class_results
from cvzoo.images.read_image import read_image
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array
from cvzoo.visualizations.report.classification_report import write_classification_report
from cvzoo.visualizations.report.detection_report import ReportPicture

_CALIBRATION = ("expected_calibration_error", "brier_score", "negative_log_likelihood")
_NO_MEANING = {
    "iou_type": "bbox",
    "corrections": (),
    "max_dets": None,
    "metric": None,
    "plus": None,
    "iou_thresh": None,
    "use_07_metric": False,
    "explain": None,
    "photos": None,
    "drop_unknown_classes": False,
    "find_thresholds": None,
}


def evaluate_on_classes(args: argparse.Namespace) -> int:
    """Prints and writes the requested results and returns 0. Raises CvzooError or OSError."""
    refuse_options_of_other_tasks(args)
    truth = load_class_truth(args.data or args.gt, split=args.split, limit=args.limit)
    names, probs = found_classes(truth, args)
    if args.save_results is not None:
        write_class_results(args.save_results, truth.photo_names, truth.names, probs[:, : len(truth.names)])
        beyond = len(names) - len(truth.names)
        if beyond:
            note = (
                f"note: {args.save_results} lacks {counted(beyond, 'class', 'classes')} that the ground "
                "truth does not have"
            )
            print(note, file=sys.stderr)
    n_worst = len(truth.labels) if args.verdicts is not None else N_WORST
    record = score_classes(truth, names, probs, n_worst=max(n_worst, N_WORST))
    if args.verdicts is not None:
        worst = record["analysis"]["worst_photos"]
        paths = truth.paths
        write_verdicts(args.verdicts, (row_of(each, paths[each["index"]] if paths else None) for each in worst))
        record["analysis"]["worst_photos"] = worst[:N_WORST]
    # files first, since the reader of standard output may close the pipe early
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if args.report is not None:
        pictures = _pictures(truth, record["analysis"]["worst_photos"])
        write_classification_report(args.report, record, pictures=pictures, about=about_evaluation(args, {}))
        print(f"report: {printable(args.report)}", file=sys.stderr)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
    else:
        _print(record, quiet=args.quiet)
    return 0


def refuse_options_of_other_tasks(args: argparse.Namespace) -> None:
    """Raises ConfigError for an option that does not apply to image classification."""
    for option, default in _NO_MEANING.items():
        if vars(args)[option] != default:
            raise ConfigError(f"--{option.replace('_', '-')} does not apply to image classification")


def found_classes(truth: ClassTruth, args: argparse.Namespace) -> tuple[tuple[str, ...], Array]:
    """The classes of the ground truth, then others of the model, and the scores of the images, (B, L) float.

    The scores are those of --results, or of the model of the options.
    """
    if args.results is not None:
        return truth.names, _read_results(truth, args.results)
    return _found_by_model(truth, args)


def score_classes(
    truth: ClassTruth, names: tuple[str, ...], probs: np.ndarray, *, n_worst: int = N_WORST
) -> dict[str, Any]:
    """The record for JSON.

    names: the classes of the ground truth, then additional ones of the model; probs: (B, len(names)) float
    n_worst: number of images to list
    """
    accumulator = ClassificationAccumulator(len(names), top=(1, 5) if len(names) > 5 else (1,))
    accumulator.update(probs, truth.labels)
    result = accumulator.compute()
    scores = {key: value for key, value in result.to_dict().items() if key != "class_accuracy"}
    # results of another program may list only the best classes of an image: the others have -1
    is_complete = bool((probs >= 0).all())
    analysis = analyze_classes(
        probs,
        truth.labels,
        label_names=names,
        images=truth.photo_names,
        n_worst=n_worst,
        is_complete=is_complete,
    )
    auc = {each["label"]: each["auc"] for each in (analysis["roc"] or {}).get("classes", ())}
    scores |= {"macro_precision": result.macro_precision, "macro_f1": result.macro_f1}
    if auc:
        scores["macro_auc"] = float(np.mean(list(auc.values())))
    # files of results have few decimals, so that rows of probabilities do not add up exactly to 1
    if is_complete and (np.abs(probs.sum(axis=1) - 1) <= 1e-3).all():
        calibration = eval_calibration(probs, truth.labels)
        scores |= {key: calibration[key] for key in _CALIBRATION if np.isfinite(calibration[key])}
    n_photo = result.confusion.sum(axis=1)
    per_class = [
        {
            "id": l,
            "name": name,
            "n_photos": int(n_photo[l]),
            "accuracy": _number(result.class_accuracy[l]),
            "precision": _number(result.class_precision[l]),
            "recall": _number(result.class_accuracy[l]),
            "f1": _number(result.class_f1[l]),
            "auc": auc.get(name),
        }
        for l, name in enumerate(truth.names)
    ]
    beyond = len(names) - len(truth.names)
    words = (
        f"{counted(beyond, 'class of the model is', 'classes of the model are')} not in the ground truth, "
        "so that predicting such a class is wrong"
    )
    notes = [words] if beyond else []
    return {
        **scores,
        "per_class": per_class,
        "counts": {"images": len(truth.labels), "classes": len(truth.names)},
        "notes": notes,
        "analysis": analysis,
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _found_by_model(truth: ClassTruth, args: argparse.Namespace) -> tuple[tuple[str, ...], Array]:
    model = load_classifier(args)
    predictor = with_inference_options(model, args)
    index = class_indices(model.label_names, model.n_class, truth.names)
    beyond = np.flatnonzero(index < 0)
    model_names = model.label_names or ()
    names = (*truth.names, *(model_names[l] for l in beyond))
    index[beyond] = len(truth.names) + np.arange(len(beyond))
    rows = [np.zeros((0, len(names)), np.float32)]
    for probs in _predict_each(predictor, truth, args):
        row = np.zeros((len(probs), len(names)), np.float32)
        columns: Any = (slice(None), index)
        np.maximum.at(row, columns, probs)
        rows.append(row)
    return names, np.concatenate(rows)


def _predict_each(predictor: Predictor, truth: ClassTruth, args: argparse.Namespace) -> Iterator[Array]:
    progress = Progress(None if args.quiet else sys.stderr, total=len(truth.labels))
    images = truth.imgs()
    try:
        while batch := list(itertools.islice(images, args.batch_size)):
            yield predictor.predict(batch, batch_size=args.batch_size).probs
            for _ in batch:
                progress.step()
    finally:
        progress.clear()
    if not args.quiet:
        print(f"{progress.text()}, {as_time(progress.elapsed)} in all", file=sys.stderr)


def _read_results(truth: ClassTruth, path: str) -> Array:
    labels = {str(l): l for l in range(len(truth.names))} | {name: l for l, name in enumerate(truth.names)}
    return read_class_results(path).probs(truth.images_by_name, labels, (len(truth.labels), len(truth.names)))


def _print(record: dict[str, Any], *, quiet: bool) -> None:
    if not quiet:
        print(class_table(record["per_class"], ("accuracy", "precision", "f1", "auc"), counted="photos"))
        print()
    print(summary_text({key: value for key, value in record.items() if isinstance(value, float)}))
    for note in record["notes"]:
        print(f"note: {note}")


def _pictures(truth: ClassTruth, worst: Sequence[dict[str, Any]]) -> Iterator[ReportPicture]:
    images = truth.dataset.slice[: len(truth.labels), "img"]
    for each in worst:
        img = images[each["index"]] if truth.paths is None else read_image(truth.paths[each["index"]])
        words = f"{each['photo']}: {each['guess']} {each['score']:.2f}, is {each['label']} {each['label_score']:.2f}"
        yield ReportPicture(img, [], words)


def load_classifier(args: argparse.Namespace) -> AbstractClassifier:
    """The classifier with its weights. Raises ConfigError if it is another model, and errors of reading the files."""
    if args.model is None:
        raise ConfigError("image classification needs a classifier", hint="--model NAME or --model FILE.safetensors")
    for option in ("cfg", "weights", "names", "resize", "clip", "score", "score_thresh", "nms_thresh"):
        if vars(args)[option] is not None:
            raise ConfigError(f"--{option.replace('_', '-')} does not apply to image classification")
    model = named_model(args.model, args.architecture, quiet=args.quiet)
    if not isinstance(model, AbstractClassifier):
        raise ConfigError(f"{args.model} is not an image classifier, as {args.data} needs")
    if args.device != "cpu":
        model.to_device(args.device)
    return model
