"""Calibration metrics of a classifier's probabilities."""

from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.analysis.reliability import calc_reliability
from cvzoo.evaluations.classification.rank_of_label import rank_of_label
from cvzoo.typing.aliases import ArrayLike


def eval_calibration(probs: ArrayLike, labels: ArrayLike, *, n_bin: int = 15) -> dict[str, Any]:
    """Calibration of a classifier's probabilities: expected and maximum calibration error, Brier score, log-likelihood.

    Returns a dictionary of 'expected_calibration_error', 'maximum_calibration_error', 'brier_score',
    'negative_log_likelihood' and, as 'reliability', the bins of the first two: a `Reliability`.

    probs: (B, L) float in [0, 1], each row's sum 1; labels: (B,) int in 0 .. L - 1
    n_bin: bins of equal width for the confidence, the greatest probability of an image
    The Brier score is the mean squared distance of the probabilities to the true class's unit vector, in [0, 2]; the
    negative log-likelihood is in nats, infinite where a true class has probability 0. All are NaN without images.
    Of equal probabilities the lower class is the prediction.
    Raises ShapeError, DtypeError or ValueRangeError with the image's index if probs and labels do not fit, a
    probability is NaN or outside of [0, 1], or a row's sum is off 1 by more than 0.001, as logits' are.
    Source: Guo et al., On Calibration of Modern Neural Networks, ICML 2017; Brier, Verification of Forecasts Expressed
    in Terms of Probability, 1950.
    """
    correct = rank_of_label(probs, labels) == 0
    probs, labels = np.asarray(probs, np.float64), np.asarray(labels, np.int64)
    wrong = ((probs < 0) | (probs > 1)).any(axis=1) | (np.abs(probs.sum(axis=1) - 1) > 1e-3)
    if wrong.any():
        image = int(np.argmax(wrong))
        raise ValueRangeError(
            f"probs of image {image} are no probabilities",
            expected="0 .. 1, with sum 1",
            got=f"{probs[image].min():.3g} .. {probs[image].max():.3g}, with sum {probs[image].sum():.3g}",
            hint="logits go through a softmax first",
        )
    true = np.take_along_axis(probs, labels[:, None], axis=1)[:, 0]
    reliability = calc_reliability(probs.max(axis=1, initial=0), correct, n_bin=n_bin)
    with np.errstate(divide="ignore"):
        loss = -np.log(true)
    nan = float("nan")
    return {
        "expected_calibration_error": reliability.ece,
        "maximum_calibration_error": reliability.mce,
        "brier_score": float(((probs**2).sum(axis=1) - 2 * true + 1).mean()) if len(true) else nan,
        "negative_log_likelihood": float(loss.mean()) if len(true) else nan,
        "reliability": reliability,
    }
