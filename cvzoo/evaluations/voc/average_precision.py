"""Average precision as Pascal VOC computes it."""

import numpy as np

# The eleven recalls as every Python port has them. Three of them lie a bit above the decimals (0.30000000000000004);
# np.arange(11) / 10 are the decimals, where a recall of exactly 0.3 counts.
VOC07_RECALLS = np.arange(11) * 0.1


def calc_detection_voc_ap(prec, rec, use_07_metric=False, *, recalls=VOC07_RECALLS):
    """Average precision of each class.

    prec, rec: L arrays (D,) float64, precision and recall of each class after each detection, surest first; None in
        rec for a class without objects; precision may be NaN where nothing counted yet, which is taken as 0
    use_07_metric: the mean over eleven recalls of VOC 2007 instead of the area under the curve of later years
    recalls: (P,) the recalls of the 2007 metric
    Returns (L,) float64; NaN for a class whose prec or rec is None.
    Source: the devkit's VOCap.
    """
    ap = np.full(len(prec), np.nan)
    for l, (p, r) in enumerate(zip(prec, rec)):
        if p is None or r is None:
            continue
        # the best precision at this recall or a higher one; none beyond the last
        envelope = np.append(np.maximum.accumulate(np.nan_to_num(p)[::-1])[::-1], 0)
        if use_07_metric:
            ap[l] = (envelope[np.searchsorted(r, recalls, side="left")] / len(recalls)).sum()
        else:
            ap[l] = (np.diff(r, prepend=0) * envelope[:-1]).sum()
    return ap
