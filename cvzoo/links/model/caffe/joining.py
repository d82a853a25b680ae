"""Caffe's layers that concatenate, combine and split blobs."""

import itertools

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, UnsupportedError
from cvzoo.functions.array.concat import concat, split_axis
from cvzoo.functions.math.extremum import maximum
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer


class Concat(Link):
    """Concatenation of blobs along an axis, by default 1."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("concat_param", {})
        self.axis = params.get("axis", params.get("concat_dim", 1))

    def forward(self, *xs: Variable | Array) -> Variable:
        """The concatenated blob."""
        return as_variable(xs[0]) if len(xs) == 1 else concat(xs, self.axis)

    def describe(self) -> str:
        return f"axis={self.axis}"


class Eltwise(Link):
    """The elementwise product, weighted sum or maximum of blobs."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("eltwise_param", {})
        self.operation = params.get("operation", "SUM")
        self.coeff = tuple(params.get("coeff", ()))
        self.label = str(layer)
        if self.coeff and (self.operation != "SUM" or len(self.coeff) != len(layer.bottoms)):
            raise UnsupportedError(f"{layer}: coeff is for SUM, one for each bottom", got=self.coeff)

    def forward(self, *xs: Variable | Array) -> Variable:
        """The blobs' shape. Raises ShapeError if their shapes differ: Caffe does not broadcast."""
        if any(x.shape != xs[0].shape for x in xs):
            raise ShapeError(f"{self.label}: the blobs' shapes differ", got=[x.shape for x in xs])
        y = as_variable(xs[0])
        if self.operation == "SUM" and self.coeff:
            y = y if self.coeff[0] == 1 else y * self.coeff[0]
            for x, c in zip(xs[1:], self.coeff[1:]):
                y = y + (x if c == 1 else as_variable(x) * c)
            return y
        for x in xs[1:]:
            y = y + x if self.operation == "SUM" else y * x if self.operation == "PROD" else maximum(y, x)
        return y

    def describe(self) -> str:
        return self.operation + (f", coeff={self.coeff}" if self.coeff else "")


class Slice(Link):
    """Splits a blob along an axis (by default 1) at the given points, or into equal parts."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("slice_param", {})
        self.axis = params.get("axis", params.get("slice_dim", 1))
        self.points = tuple(params.get("slice_point", ()))
        self.n_top = len(layer.tops)
        self.label = str(layer)
        steps = [b - a for a, b in itertools.pairwise(self.points)]
        if self.points and (len(self.points) != self.n_top - 1 or min([1, self.points[0], *steps]) < 1):
            raise UnsupportedError(
                f"{layer}: slice_point is invalid", expected=f"{self.n_top - 1} rising points", got=list(self.points)
            )

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The parts."""
        if not -len(x.shape) <= self.axis < len(x.shape):
            raise ShapeError(f"{self.label}: there is no axis {self.axis}", got=x.shape)
        size = x.shape[self.axis]
        if (self.points and self.points[-1] >= size) or (not self.points and size % self.n_top):
            want = f"more than {self.points[-1]}" if self.points else f"a multiple of {self.n_top}"
            raise ShapeError(f"{self.label}: axis {self.axis}", expected=want, got=size)
        if self.n_top == 1:
            return (as_variable(x),)
        return tuple(split_axis(x, list(self.points) or self.n_top, self.axis))

    def describe(self) -> str:
        return f"axis={self.axis}, {self.points or self.n_top}"


class Split(Link):
    """The same blob under several names."""

    def __init__(self, layer: CaffeLayer):
        self.n_top = len(layer.tops)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """n_top times x."""
        return (as_variable(x),) * self.n_top


class Silence(Link):
    """Consumes blobs that no other layer reads."""

    def __init__(self, layer: CaffeLayer):
        pass

    def forward(self, *xs: Variable | Array) -> tuple[()]:
        """Nothing."""
        return ()
