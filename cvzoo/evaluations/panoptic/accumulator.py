"""Panoptic quality as photos come."""

import math

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.evaluations.panoptic.match_segments import LARGEST, match_segments
from cvzoo.evaluations.panoptic.result import PanopticResult
from cvzoo.evaluations.photos import photos_in_step


class PanopticAccumulator:
    """Streaming `eval_panoptic_segmentation`; holds two numbers a segment that was found.

    categories: list of {'id', 'isthing', 'name'}; a name may be absent
    The sums are exact and then rounded once: any split over workers gives the same bits.
    """

    def __init__(self, categories):
        try:
            table = [(each["id"], bool(each["isthing"]), str(each.get("name", each["id"]))) for each in categories]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueRangeError("categories must be dictionaries of id, isthing and name") from error
        odd = [row[0] for row in table if not isinstance(row[0], int | np.integer) or abs(int(row[0])) > LARGEST]
        if odd:
            raise ValueRangeError("a category's id is a whole number of 63 bits", got=odd[0])
        self._classes = {number: place for place, (number, _, _) in enumerate(table)}
        for what, values in (("ids", [row[0] for row in table]), ("names", [row[2] for row in table])):
            if len(set(values)) < len(values):
                raise ValueRangeError(f"two categories have equal {what}", got=values)
        self._table = table
        self._found = []  # (T,) class places and IoUs of each update
        self._fp, self._fn = np.zeros((2, len(table)), np.int64)

    def update(self, pred_maps, pred_segments, gt_maps, gt_segments) -> None:
        """Count more photos; the arguments are those of `eval_panoptic_segmentation`."""
        photos = photos_in_step(
            {"pred_maps": pred_maps, "pred_segments": pred_segments, "gt_maps": gt_maps, "gt_segments": gt_segments}
        )
        for photo, values in enumerate(photos):
            matches = match_segments(*values, self._classes, photo)
            self._found.append((matches.tp_class, matches.tp_iou))
            self._fp = self._fp + matches.fp
            self._fn = self._fn + matches.fn

    def merge(self, other) -> None:
        """Add what another accumulator has seen. Raises ConfigError if it knows other categories."""
        if not isinstance(other, PanopticAccumulator) or other._table != self._table:
            raise ConfigError("accumulators of different categories do not merge")
        self._found += other._found
        self._fp = self._fp + other._fp
        self._fn = self._fn + other._fn

    def compute(self) -> PanopticResult:
        """The result for all photos so far."""
        places, ious = (np.concatenate(each) for each in zip((np.empty(0, np.int64), np.empty(0)), *self._found))
        self._found = [(places, ious)]
        n = len(self._table)
        numbers, is_thing, names = zip(*self._table) if n else ((),) * 3
        return PanopticResult(
            np.array(numbers, np.int64),
            np.array(is_thing, bool),
            names,
            np.array([math.fsum(ious[places == l]) for l in range(n)]),
            np.bincount(places, minlength=n),
            self._fp,
            self._fn,
        )
