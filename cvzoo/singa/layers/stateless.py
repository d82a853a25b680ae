"""Layers without parameters: functions of `autograd` as objects."""

from collections.abc import Sequence

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.singa.layers.layer import Layer
from cvzoo.singa.operators import arrays, elementwise, losses
from cvzoo.singa.tensor_class import Tensor


class ReLU(Layer):
    """x where it is positive, else 0."""

    def forward(self, x: Tensor) -> Tensor:
        """x's shape."""
        return elementwise.relu(x)


class Sigmoid(Layer):
    """1 / (1 + exp(-x))."""

    def forward(self, x: Tensor) -> Tensor:
        """x's shape."""
        return elementwise.sigmoid(x)


class Tanh(Layer):
    """The hyperbolic tangent. (SINGA has it as a function only.)"""

    def forward(self, x: Tensor) -> Tensor:
        """x's shape."""
        return elementwise.tanh(x)


class Gelu(Layer):
    """x times the normal distribution's function of x. (SINGA has none.)"""

    def forward(self, x: Tensor) -> Tensor:
        """x's shape."""
        return elementwise.gelu(x)


class SoftMax(Layer):
    """exp(x), divided by its sum over the axis 1."""

    def forward(self, x: Tensor) -> Tensor:
        """x's shape."""
        return elementwise.softmax(x)


class Add(Layer):
    """a + b."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """The shape of a and b."""
        return elementwise.add(a, b)


class Cat(Layer):
    """Concatenation of Tensors along an axis."""

    def __init__(self, axis: int = 0):
        self.axis = axis

    def forward(self, xs: Sequence[Tensor]) -> Tensor:
        """The concatenation of xs."""
        return arrays.cat(xs, self.axis)


class Flatten(Layer):
    """A matrix: the axes before `axis` flattened to rows, the others to columns."""

    def __init__(self, axis: int = 1):
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        """A matrix."""
        return arrays.flatten(x, self.axis)


class Reshape(Layer):
    """The same elements in another shape."""

    def forward(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """Of that shape."""
        return arrays.reshape(x, shape)


class Dropout(Layer):
    """While training, x with each value dropped with probability `ratio` and the others divided by 1 - ratio.

    Where we differ from SINGA: see `autograd.dropout`; SINGA's layer ignores `ratio` and uses 0.5.
    """

    def __init__(self, ratio: float = 0.5):
        if not 0 <= ratio < 1:
            raise ValueRangeError("Dropout: the ratio must be a probability below 1", expected="[0, 1)", got=ratio)
        self.ratio = ratio

    def forward(self, x: Tensor) -> Tensor:
        """x's shape."""
        return elementwise.dropout(x, 0, self.ratio)


class SoftMaxCrossEntropy(Layer):
    """(1,): the mean of -log(softmax(x)[t]); see `autograd.softmax_cross_entropy`."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """(1,) of scores x (B, C) and classes t (B,), or weights (B, C)."""
        return losses.softmax_cross_entropy(x, t)


class MeanSquareError(Layer):
    """(1,): the mean of (x - t)^2."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """(1,) of x and t of one shape."""
        return losses.mse_loss(x, t)


class CrossEntropy(Layer):
    """(1,): the mean over the batch of -sum(t log x)."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """(1,) of probabilities x and t (B, C)."""
        return losses.cross_entropy(x, t)


class BinaryCrossEntropy(Layer):
    """(1,): see `autograd.binary_cross_entropy`."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """(1,) of probabilities x and t of one shape."""
        return losses.binary_cross_entropy(x, t)
