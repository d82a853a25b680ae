"""Average precision under weights of images, from detections that are matched once."""

from collections.abc import Sequence

import numpy as np

from cvzoo.evaluations.coco.accumulate import hits_needed
from cvzoo.evaluations.coco.matches import COCOMatches
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS
from cvzoo.evaluations.voc.matches import VOCMatches
from cvzoo.typing.aliases import Array


class WeightedAveragePrecision:
    """Average precision of a data set in which each image occurs as often as its weight says.

    Matching does not depend on other images, so detections are matched once, and a data set of N detections and H true
    positives (of all IoU thresholds together) costs a few passes over N + H numbers. Copies of an image follow one
    another in the order of scores: of equal scores the order is that of images.

    Calling it with weights (I,) float64 gives the scores of `names`, (S,) float64, NaN where there are no objects.
    """

    def __init__(
        self,
        *,
        cat: Array,
        image: Array,
        score: Array,
        verdict: Array,
        positives: tuple[Array, Array],
        cat_names: Sequence[str],
        recalls: Array | None,
        means: dict[str, Sequence[int]],
    ) -> None:
        """The detections and how they are matched.

        cat, image: (N,) int, index of class and image; score: (N,) float; equal scores of a class keep their order
        verdict: (T, N) int8, 0 false positive, 1 true positive, 2 ignored
        positives: class and image of each object that is not ignored, (G,) int each
        cat_names: K names; recalls: (R,) float64 of the interpolated precision, ascending; None: the area under it
        means: name to the indices of the thresholds that a mean over classes includes; the APs of the classes are means
            over those of the first
        """
        self.names = (*means, *cat_names)
        self._recalls, self._means = recalls, [np.asarray(each) for each in means.values()]
        self._positive_cat, self._positive_image = positives
        n_cat, n_iou = len(cat_names), len(verdict)
        self._shape = n_iou, n_cat
        order = np.lexsort((-score, cat))
        self._image, verdict, cat = image[order], verdict[:, order], cat[order]
        start = np.searchsorted(cat, np.arange(n_cat + 1))
        t, at = np.nonzero(verdict == 1)  # true positives by threshold, class and descending score
        run = t * n_cat + cat[at]
        self._hit_image, self._run = self._image[at], run
        self._hit_end, self._hit_begin = at + 1, start[cat[at]]  # detections of the class up to this one
        self._run_begin = np.searchsorted(run, np.arange(n_iou * n_cat + 1))
        aside_t, aside = np.nonzero(verdict == 2)
        self._aside_image = self._image[aside]
        key = aside_t * len(cat) + aside
        self._aside_begin = np.searchsorted(key, t * len(cat) + self._hit_begin)
        self._aside_end = np.searchsorted(key, t * len(cat) + self._hit_end)

    def __call__(self, weights: Array) -> Array:
        """(S,) float64. weights: (I,) float64, whole numbers."""
        n_cat = self._shape[1]
        n_positive = np.bincount(self._positive_cat, weights[self._positive_image], minlength=n_cat)
        seen, aside, hits = (_counts(weights[each]) for each in (self._image, self._aside_image, self._hit_image))
        counted = seen[self._hit_end] - seen[self._hit_begin] - aside[self._aside_end] + aside[self._aside_begin]
        before = hits[self._run_begin[:-1]]
        right = hits[1:] - before[self._run]
        precision = np.divide(right, counted, out=np.zeros(len(right)), where=counted > 0)
        if self._recalls is None:
            ap = self._area(precision, weights[self._hit_image], n_positive)
        else:
            ap = self._interpolated(precision, hits, before, n_positive)
        ap[:, n_positive == 0] = np.nan
        some = n_positive > 0
        means = [ap[rows][:, some].mean() if some.any() else np.nan for rows in self._means]
        return np.concatenate((means, ap[self._means[0]].mean(axis=0)))

    def _interpolated(self, precision: Array, hits: Array, before: Array, n_positive: Array) -> Array:
        """(T, K) float64: the mean of the interpolated precision at the recalls."""
        assert self._recalls is not None
        n_iou, n_cat = self._shape
        needed = hits_needed(n_positive.astype(np.int64), self._recalls)  # (K, R)
        wanted = before.reshape(n_iou, n_cat, 1) + needed
        begin, end = (each.reshape(n_iou, n_cat, 1) for each in (self._run_begin[:-1], self._run_begin[1:]))
        at = np.searchsorted(hits[1:], wanted.reshape(-1)).reshape(wanted.shape)
        reached = at < end
        # maxima between consecutive recalls, of which the first begins with the run
        edges = np.concatenate((begin, np.minimum(at, end)), axis=2).reshape(-1)
        best = np.maximum.reduceat(np.append(precision, 0.0), edges).reshape(n_iou, n_cat, -1)[:, :, 1:]
        best = np.where(reached, best, 0.0)
        best = np.maximum.accumulate(best[:, :, ::-1], axis=2)
        mean: Array = best.mean(axis=2)
        return mean

    def _area(self, precision: Array, weights: Array, n_positive: Array) -> Array:
        """(T, K) float64: the area under the interpolated precision."""
        # maxima from the right in each run: runs are lifted above those to their right
        lifted = precision - 2.0 * self._run
        best = np.maximum.accumulate(lifted[::-1])[::-1] + 2.0 * self._run
        n_iou, n_cat = self._shape
        area = np.bincount(self._run, best * weights, minlength=n_iou * n_cat).reshape(n_iou, n_cat)
        return area / np.maximum(n_positive, 1)


def _counts(weights: Array) -> Array:
    """The sum of the weights before each position, and of all: one element longer."""
    return np.concatenate((np.zeros(1), np.cumsum(weights)))


def weighted_coco_ap(
    matches: COCOMatches, positives: tuple[Array, Array], cat_names: Sequence[str], iou_thrs: Array, rec_thrs: Array
) -> WeightedAveragePrecision:
    """COCO's AP, AP50 and AP75 and the AP of each class, of all areas.

    matches, positives: of `match_coco` and `coco_positives`; cat_names: K names; iou_thrs, rec_thrs: of the evaluation
    """
    n_iou, _, _ = matches.verdict.shape
    verdict = np.zeros((n_iou, matches.cat.size), np.int8)
    verdict[:, matches.candidate] = matches.verdict[:, 0]
    verdict[(verdict == 0) & matches.aside[0]] = 2
    order = np.lexsort((matches.rank, matches.image_id, matches.cat))
    means: dict[str, Sequence[int]] = {"AP": range(n_iou)}
    for name, thr in (("AP50", 0.5), ("AP75", 0.75)):
        at = np.flatnonzero(iou_thrs == thr)
        if at.size:
            means[name] = at.tolist()
    return WeightedAveragePrecision(
        cat=matches.cat[order].astype(np.int64),
        image=np.searchsorted(matches.img_ids, matches.image_id[order]),
        score=matches.score[order],
        verdict=verdict[:, order],
        positives=positives,
        cat_names=cat_names,
        recalls=rec_thrs,
        means=means,
    )


def weighted_voc_ap(
    matches: VOCMatches, positives: tuple[Array, Array], cat_names: Sequence[str], *, use_07_metric: bool
) -> WeightedAveragePrecision:
    """VOC's mAP and the AP of each class. positives: class and image of each object that is not difficult."""
    order = np.argsort(matches.image, kind="stable")
    return WeightedAveragePrecision(
        cat=matches.label[order],
        image=matches.image[order],
        score=matches.score[order],
        verdict=np.where(matches.match < 0, 2, matches.match).astype(np.int8)[None, order],
        positives=positives,
        cat_names=cat_names,
        recalls=VOC07_RECALLS if use_07_metric else None,
        means={"map": [0]},
    )
