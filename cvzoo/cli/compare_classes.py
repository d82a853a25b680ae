"""Compares two image classifiers, or their results."""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.cli.class_truth import ClassTruth, load_class_truth
from cvzoo.cli.compared import Compared, side
from cvzoo.cli.evaluate_classes import found_classes, refuse_options_of_other_tasks
from cvzoo.evaluations.classification.rank_of_label import rank_of_label
from cvzoo.evaluations.comparison.ratios import WeightedAccuracy
from cvzoo.images.read_image import read_image
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array
from cvzoo.visualizations.report.detection_report import ReportPicture


def compare_on_classes(args: argparse.Namespace) -> Compared:
    """Both sides on images with one class each. Raises the errors of evaluating one of them."""
    sides = [side(args, word) for word in (args.a, args.b)]
    refuse_options_of_other_tasks(sides[0])
    truth = load_class_truth(args.data or args.gt, split=args.split, limit=args.limit)
    predictions = [found_classes(truth, each) for each in sides]
    labels = truth.labels
    # results that list only the best classes have -1 for the others
    own = np.stack(
        [np.maximum(np.take_along_axis(probs, labels[:, None], axis=1)[:, 0], 0) for _, probs in predictions]
    )
    notes = [
        f"{word}: {counted(len(names) - len(truth.names), 'class is', 'classes are')} not in the ground truth, "
        "so that predicting such a class is wrong"
        for word, (names, _) in zip((args.a, args.b), predictions)
        if len(names) > len(truth.names)
    ]

    def pictures(images: Sequence[int]) -> Iterator[ReportPicture]:
        for i in images:
            said = (
                f"{side} {names[int(probs[i].argmax())]} {probs[i].max():.2f}"
                for side, (names, probs) in zip("AB", predictions)
            )
            yield ReportPicture(
                _img(truth, i), [], f"{truth.photo_names[i]}: {truth.names[labels[i]]}; {', '.join(said)}"
            )

    scores = [_accuracy(probs, labels, len(truth.names)) for _, probs in predictions]
    return Compared(
        scores=(scores[0], scores[1]),
        summary=("accuracy", "top5_accuracy", "mean_class_accuracy", "macro_f1"),
        classes=truth.names,
        n_objects=np.bincount(labels, minlength=len(truth.names)),
        counted="images",
        images=truth.photo_names,
        of_images=own.astype(np.float64),
        measure="score of the true class",
        is_error=False,
        pictures=pictures,
        notes=notes,
    )


def _accuracy(probs: Array, labels: Array, n_class: int) -> WeightedAccuracy:
    return WeightedAccuracy(labels, probs.argmax(axis=1), rank_of_label(probs, labels) < 5, n_class)


def _img(truth: ClassTruth, i: int) -> Array:
    if truth.paths is not None:
        return read_image(truth.paths[i])
    img: Array = truth.dataset.slice[: len(truth.labels), "img"][i]
    return img
