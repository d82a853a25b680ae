"""Compares two semantic segmentation networks, or two folders of label maps."""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.cli.compared import Compared, side
from cvzoo.cli.evaluate_label_maps import found_maps, refuse_detection_options, score_maps, side_by_side
from cvzoo.cli.label_map_truth import load_label_map_truth
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.comparison.ratios import WeightedIoU
from cvzoo.visualizations.report.detection_report import ReportPicture


def compare_on_label_maps(args: argparse.Namespace) -> Compared:
    """Both sides on label maps. Raises ConfigError if their classes differ, and the errors of evaluating one."""
    sides = [side(args, word) for word in (args.a, args.b)]
    refuse_detection_options(sides[0], "label maps")
    truth = load_label_map_truth(sides[0])
    predictions, notes = zip(*(found_maps(truth, each) for each in sides))
    names = [each.names for each in predictions if each.names is not None]
    if len(names) == 2 and names[0] != names[1]:
        raise ConfigError(
            "A and B have different classes, and label maps of a folder have no names",
            expected=", ".join(names[0][:20]),
            got=", ".join(names[1][:20]),
        )
    scored = [score_maps(truth, maps, each) for maps, each in zip(predictions, sides)]
    n_class = max(each.counts.shape[2] for each in scored)
    counts = [np.pad(each.counts, ((0, 0), (0, 0), (0, n_class - each.counts.shape[2]))) for each in scored]

    def pictures(images: Sequence[int]) -> Iterator[ReportPicture]:
        for i in images:
            miou = " and ".join(f"{name} {each.of_images[i][0]:.3f}" for name, each in zip("AB", scored))
            caption = f"{truth.keys[i]}: mIoU of {miou}; ground truth, A and its errors, B and its errors"
            yield ReportPicture(side_by_side(truth.read(i), *(maps.read(i) for maps in predictions)), [], caption)

    return Compared(
        scores=(WeightedIoU(counts[0]), WeightedIoU(counts[1])),
        summary=("miou", "pixel_accuracy"),
        classes=names[0] if names else tuple(map(str, range(n_class))),
        n_objects=counts[0][:, 1].sum(axis=0),
        counted="pixels",
        images=truth.keys,
        of_images=np.array([[miou for miou, _ in each.of_images] for each in scored]),
        measure="mean IoU of the image",
        is_error=False,
        pictures=pictures,
        notes=[note for each in notes for note in each],
    )
