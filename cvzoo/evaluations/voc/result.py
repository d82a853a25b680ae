"""The result of an evaluation by Pascal VOC's rules."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS, calc_detection_voc_ap
from cvzoo.evaluations.voc.matches import VOCMatches
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, ArrayLike


@dataclasses.dataclass(frozen=True, eq=False)
class VOCResult:
    """Average precision of each class, and the counts and curves behind it.

    ap: (L,) float64, NaN for a class without objects that count
    n_positive, n_detection, tp, fp: (L,) int64; n_detection includes those that match difficult objects
    prec, rec: L arrays, see `VOCMatches.prec_rec`
    n_photo: number of images; notes: remarks for the reader
    """

    ap: Array
    n_positive: Array
    n_detection: Array
    tp: Array
    fp: Array
    prec: list
    rec: list
    n_photo: int
    notes: tuple[str, ...]

    @property
    def map(self) -> float:
        """mAP, the mean over classes that have an AP; NaN if none has."""
        some = self.ap[~np.isnan(self.ap)]
        return float(some.mean()) if len(some) else float("nan")

    def to_dict(self) -> dict:
        """ChainerCV's result: ap (L,) float64 and map."""
        return {"ap": self.ap, "map": self.map}

    @classmethod
    def of(
        cls,
        matches: VOCMatches,
        *,
        n_fg_class: int | None = None,
        use_07_metric: bool = False,
        recalls: ArrayLike = VOC07_RECALLS,
    ) -> "VOCResult":
        """The result of matches; the settings are those of `eval_detection_voc`.

        Raises ValueRangeError if a class is beyond n_fg_class.
        """
        seen = len(matches.n_positive)
        n = seen if n_fg_class is None else n_fg_class
        if seen > n:
            bad = matches.label >= n
            where = f"a detection on image {matches.image[bad][0]}" if bad.any() else "an object"
            raise ValueRangeError(f"{where} has a label out of range", expected=f"0 .. {n - 1}", got=seen - 1)
        prec, rec = matches.prec_rec(n)
        n_positive = np.zeros(n, np.int64)
        n_positive[:seen] = matches.n_positive
        n_detection, tp, fp = (
            np.bincount(matches.label[some], minlength=n)
            for some in (slice(None), matches.match == 1, matches.match == 0)
        )
        notes = []
        unscored = np.flatnonzero((n_positive == 0) & (n_detection > 0))
        if len(unscored):
            notes.append(
                f"classes {unscored.tolist()} have detections and no object that counts: their AP is NaN and their "
                f"{counted(int(fp[unscored].sum()), 'wrong detection lowers', 'wrong detections lower')} nothing"
            )
        tied = _tied(matches)
        if tied:
            notes.append(
                f"{counted(tied, 'detection has', 'detections have')} the score of a differently judged one of "
                "their class: the order of photos "
                "decides, and another order may give another AP"
            )
        ap = calc_detection_voc_ap(prec, rec, use_07_metric, recalls=recalls)
        return cls(ap, n_positive, n_detection, tp, fp, prec, rec, matches.n_photo, tuple(notes))


def _tied(matches: VOCMatches) -> int:
    """The number of detections with the class and score of a detection of a different outcome."""
    order = np.lexsort((matches.score, matches.label))
    label, score, match = matches.label[order], matches.score[order], matches.match[order]
    if len(label) == 0:
        return 0
    head = np.flatnonzero(np.concatenate([[True], (label[1:] != label[:-1]) | (score[1:] != score[:-1])]))
    differ = np.minimum.reduceat(match, head) != np.maximum.reduceat(match, head)
    return int(np.diff(np.append(head, len(label)))[differ].sum())
