"""Error analysis of a classifier, as one dictionary for JSON and for the report."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.analysis.reliability import reliability_record
from cvzoo.evaluations.classification.rank_of_label import rank_of_label
from cvzoo.evaluations.classification.roc import calc_roc
from cvzoo.typing.aliases import Array, ArrayLike, LabelNames

_MOST_CONFUSED = 30  # pairs of classes
_RATES = np.linspace(0.0, 1.0, 101)


def analyze_classes(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    label_names: LabelNames,
    images: Sequence[str] = (),
    n_worst: int = 12,
    is_complete: bool = True,
    photos: Sequence[str] | None = None,
) -> dict:
    """Error analysis of a classifier, in numbers, str, lists and dictionaries only.

    probs: (B, L) float, probabilities or logits; labels: (B,) int
    label_names: L names
    images: names of the B images, formerly `photos`; n_worst: number of images to list
    is_complete: whether all classes have scores, as ROC curves need
    Returns
      confusion: names, counts (rows: true classes)
      confused: pairs of classes, the most frequent first [{`label, guess, count, share`}], share of the class' images
      reliability: ece, mce, bins [{low, high, count, confidence, precision}]; None if probs are not in [0, 1]
      roc: fpr (101), mean (101): true-positive rate, the mean over classes, classes [{`label, tpr (101), auc`}], each
        against all others; None if the scores are not complete
      worst_photos: errors, the most confident first [{`index, photo, label, guess, score, label_score, rank`}]
    Raises ShapeError if lengths differ, and the errors of `rank_of_label`.
    """
    images = images if photos is None else photos
    probs, labels = np.asarray(probs), np.asarray(labels)
    rank = rank_of_label(probs, labels)
    if probs.shape != (len(images), len(label_names)):
        raise ShapeError("probs must be (images, classes)", expected=(len(images), len(label_names)), got=probs.shape)
    n_class = len(label_names)
    guess = probs.argmax(axis=1) if n_class else np.zeros(0, np.int64)
    best = np.take_along_axis(probs, guess[:, None], axis=1)[:, 0]
    counts = np.bincount(labels * n_class + guess, minlength=n_class**2).reshape(n_class, n_class)
    wrong = np.flatnonzero(rank > 0)
    worst = wrong[np.argsort(-best[wrong], kind="stable")][:n_worst].tolist()
    return {
        "confusion": {"names": list(label_names), "counts": counts.tolist()},
        "confused": _confused(counts, label_names),
        "reliability": reliability_record(best, rank == 0),
        "roc": _roc(probs, labels, label_names) if is_complete and len(labels) else None,
        "worst_photos": [
            {
                "index": i,
                "photo": images[i],
                "label": label_names[int(labels[i])],
                "guess": label_names[int(guess[i])],
                "score": float(best[i]),
                "label_score": float(probs[i, labels[i]]),
                "rank": int(rank[i]) + 1,
            }
            for i in worst
        ],
    }


def _roc(probs: Array, labels: Array, names: Sequence[str]) -> dict[str, Any]:
    classes = []
    for l, name in enumerate(names):
        curve = calc_roc(probs[:, l], labels == l)
        if np.isfinite(curve.auc):
            tpr = np.interp(_RATES, curve.fpr, curve.tpr)
            classes.append({"label": name, "tpr": tpr.round(6).tolist(), "auc": curve.auc})
    mean = np.mean([each["tpr"] for each in classes], axis=0).round(6).tolist() if classes else None
    return {"fpr": _RATES.round(6).tolist(), "mean": mean, "classes": classes}


def _confused(counts: Array, names: Sequence[str]) -> list[dict[str, Any]]:
    off = counts - np.diag(np.diag(counts))
    order = np.argsort(-off, axis=None, kind="stable")[:_MOST_CONFUSED]
    total = counts.sum(axis=1)
    pairs = (divmod(int(cell), len(names)) for cell in order)
    return [
        {"label": names[r], "guess": names[c], "count": int(off[r, c]), "share": float(off[r, c] / total[r])}
        for r, c in pairs
        if off[r, c] > 0
    ]
