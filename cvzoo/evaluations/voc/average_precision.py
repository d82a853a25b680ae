"""Average precision as Pascal VOC computes it."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from cvzoo.typing.aliases import Array, ArrayLike

Curves: TypeAlias = list[Array | None]  # one per class

# The eleven recalls of all Python ports. Three of them are slightly above the decimal (0.30000000000000004); with
# np.arange(11) / 10 a recall of exactly 0.3 would count.
VOC07_RECALLS = np.arange(11) * 0.1


def calc_detection_voc_ap(
    prec: Sequence[Array | None],
    rec: Sequence[Array | None],
    use_07_metric: bool = False,
    *,
    recalls: ArrayLike = VOC07_RECALLS,
) -> Array:
    """Average precision of each class.

    prec, rec: L arrays (D,) float64, precision and recall of each class after each detection, by descending score; None
        in rec for a class without objects; NaN in prec, before the first detection that counts, is taken as 0
    use_07_metric: the mean over eleven recalls of VOC 2007 instead of the area under the curve of later years
    recalls: (P,) the recalls of the 2007 metric
    Returns (L,) float64; NaN for a class whose prec or rec is None.
    Source: the devkit's VOCap.
    """
    recalls = np.asarray(recalls)
    ap = np.full(len(prec), np.nan)
    for l, (p, r) in enumerate(zip(prec, rec)):
        if p is None or r is None:
            continue
        # the interpolated precision: the highest at this recall or a higher one; 0 beyond the last
        envelope = np.append(np.maximum.accumulate(np.nan_to_num(p)[::-1])[::-1], 0)
        if use_07_metric:
            ap[l] = (envelope[np.searchsorted(r, recalls, side="left")] / len(recalls)).sum()
        else:
            ap[l] = (np.diff(r, prepend=0) * envelope[:-1]).sum()
    return ap
