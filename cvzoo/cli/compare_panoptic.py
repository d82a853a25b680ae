"""Compares two panoptic segmentations."""

import argparse

import numpy as np

from cvzoo.cli.compared import Compared, side
from cvzoo.cli.evaluate_panoptic import panoptic_counts, read_panoptic_pair
from cvzoo.evaluations.comparison.ratios import WeightedPanopticQuality


def compare_on_panoptic(args: argparse.Namespace) -> Compared:
    """Both sides against a panoptic ground truth. Raises the errors of evaluating one of them."""
    sides = [side(args, word) for word in (args.a, args.b)]
    pairs = [read_panoptic_pair(each) for each in sides]
    counts = [panoptic_counts(pair, each) for pair, each in zip(pairs, sides)]
    truth = pairs[0].truth
    is_thing = np.array([bool(each["isthing"]) for each in truth.categories])
    scores = [WeightedPanopticQuality(each, is_thing) for each in counts]
    return Compared(
        scores=(scores[0], scores[1]),
        summary=("pq", "pq/things", "pq/stuff"),
        classes=tuple(str(each.get("name", each["id"])) for each in truth.categories),
        n_objects=(counts[0][:, 1] + counts[0][:, 3]).sum(axis=0).astype(np.int64),
        counted="segments",
        images=[str(image) for image, _ in pairs[0].chosen],
        of_images=np.stack([each[:, 2:].sum(axis=(1, 2)) for each in counts]),
        measure="false positives and false negatives",
        is_error=True,
        pictures=lambda images: iter(()),
        notes=(),
    )
