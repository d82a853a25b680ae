"""Shared parts of one-stage heads: outputs as rows, and the initial bias for rare objects."""

import math

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable


def flat_boxes(h: Variable, n_out: int) -> Variable:
    """(B, H * W * K, n_out) of (B, K * n_out, H, W); a view if that is channels-last in memory."""
    return F.reshape(F.transpose(h, (0, 2, 3, 1)), (h.shape[0], -1, n_out))


def prior_bias(prior: float) -> float:
    """The logit of `prior`, the initial bias of a last layer such that an untrained network predicts few objects."""
    return -math.log((1 - prior) / prior)
