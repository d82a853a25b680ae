"""Kernels of losses."""

from typing import Any, Protocol

from cvzoo.backends.interface.array_types import Array


class LossKernels(Protocol):
    """x is float32 or float64. The labels of a processor's array have been checked; a GPU's are not looked at, and what
    is out of range makes the loss and the gradient NaN."""

    def softmax_cross_entropy(
        self, x: Array, t: Array, class_weight: Array | None, *, ignore_label: int
    ) -> tuple[Array, Any]:
        """(B, ...): -class_weight[t] * log(softmax(x)[t]) of x (B, C, ...), and what its gradient wants.

        t: (B, ...) integers; where it is ignore_label the loss is 0, whatever x is
        class_weight: (C,) in x's dtype, or None for 1
        """

    def softmax_cross_entropy_grad(
        self, gy: Array, x: Array, t: Array, class_weight: Array | None, kept: Any, *, ignore_label: int
    ) -> Array:
        """gx: class_weight[t] * gy * (softmax(x) - onehot(t)); kept: what softmax_cross_entropy gave."""

    def sigmoid_cross_entropy(self, x: Array, t: Array, valid: Array | None) -> Array:
        """softplus(x) - t * x, of x's shape; t: likewise, 0 to 1, in its dtype; 0 where `valid`, bool, is False."""

    def binary_targets(self, t: Array, dtype: Any) -> Array:
        """t, labels 0 and 1 or probabilities, in `dtype`."""

    def sigmoid_focal_loss(
        self, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
    ) -> Array:
        """The focal loss of each score, of x's shape: weight * q**gamma * softplus(-z), z = x for yes and -x for no.

        t: x's shape; integers 1 (yes), 0 (no) or ignore_label
        weights: of yes and of no
        """

    def sigmoid_focal_loss_grad(
        self, gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
    ) -> Array:
        """gx of sigmoid_focal_loss."""

    def focal_loss(self, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
        """(): the sum of the focal loss of all scores x (..., L).

        t: as many integers as x has rows: the true class 0 to L - 1, -1 for none, -2 for rows that do not count
        weights: of yes and of no
        """

    def focal_loss_grad(self, gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
        """gx of focal_loss, of x's shape; gy: ()."""

    def huber_loss(self, d: Array, *, delta: float) -> Array:
        """d * d / 2 where |d| < delta, else delta * (|d| - delta / 2)."""

    def mean_factor(self, valid: Array, dtype: Any) -> Any:
        """1 / max(how many of the bool array are True, 1): what a sum is multiplied by to be a mean."""
