"""Streaming panoptic quality."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.evaluations.instances import zip_images
from cvzoo.evaluations.panoptic.match_segments import LARGEST, Segments, match_segments
from cvzoo.evaluations.panoptic.result import PanopticResult
from cvzoo.typing.aliases import Array, ArrayLike


class PanopticAccumulator:
    """Streaming `eval_panoptic_segmentation`; its state is two numbers per matched segment.

    categories: list of {'id', 'isthing', 'name'}; a name may be absent
    The sums are exact and then rounded once: any split over workers gives the same bits.
    """

    def __init__(self, categories: Iterable[Mapping[str, Any]]) -> None:
        try:
            table = [(each["id"], bool(each["isthing"]), str(each.get("name", each["id"]))) for each in categories]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueRangeError("categories must be dictionaries of id, isthing and name") from error
        odd = [row[0] for row in table if not isinstance(row[0], int | np.integer) or abs(int(row[0])) > LARGEST]
        if odd:
            raise ValueRangeError("the id of a category must be an integer of at most 63 bits", got=odd[0])
        self._classes = {number: place for place, (number, _, _) in enumerate(table)}
        for what, values in (("ids", [row[0] for row in table]), ("names", [row[2] for row in table])):
            if len(set(values)) < len(values):
                raise ValueRangeError(f"two categories have equal {what}", got=values)
        self._table = table
        self._found: list[tuple[Array, Array]] = []  # (T,) class indices and IoUs of each update
        self._fp, self._fn = np.zeros((2, len(table)), np.int64)

    def update(
        self,
        pred_maps: Iterable[ArrayLike],
        pred_segments: Iterable[Segments],
        gt_maps: Iterable[ArrayLike],
        gt_segments: Iterable[Segments],
    ) -> None:
        """Adds images; the arguments are those of `eval_panoptic_segmentation`."""
        images = zip_images(
            {"pred_maps": pred_maps, "pred_segments": pred_segments, "gt_maps": gt_maps, "gt_segments": gt_segments}
        )
        for image, (pred_map, pred_segment, gt_map, gt_segment) in enumerate(images):
            matches = match_segments(pred_map, pred_segment, gt_map, gt_segment, self._classes, image)
            self._found.append((matches.tp_class, matches.tp_iou))
            self._fp = self._fp + matches.fp
            self._fn = self._fn + matches.fn

    def merge(self, other: "PanopticAccumulator") -> None:
        """Adds the images of another accumulator. Raises ConfigError if its categories differ."""
        if not isinstance(other, PanopticAccumulator) or other._table != self._table:
            raise ConfigError("accumulators of different categories cannot be merged")
        self._found += other._found
        self._fp = self._fp + other._fp
        self._fn = self._fn + other._fn

    def compute(self) -> PanopticResult:
        """The result for all images so far."""
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
