"""Caffe's layers that rearrange values: Flatten, Reshape, Permute, Upsample, Crop."""

import math

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, UnsupportedError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer


class Flatten(Link):
    """Flattens the axes from `axis` (default 1) to `end_axis` (default the last)."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("flatten_param", {})
        self.axis = params.get("axis", 1)
        self.end_axis = params.get("end_axis", -1)

    def forward(self, x: Variable | Array) -> Variable:
        """x with fewer axes."""
        x = as_variable(x)
        start, end = (axis + x.ndim if axis < 0 else axis for axis in (self.axis, self.end_axis))
        shape = x.shape
        return reshape(x, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


class Reshape(Link):
    """Reshapes the axes from `axis` on: 0 keeps a size, -1 infers it."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("reshape_param", {})
        self.dims = tuple(params.get("shape", {}).get("dim", ()))
        self.axis = params.get("axis", 0)
        self.num_axes = params.get("num_axes", -1)
        self.label = str(layer)
        if self.dims.count(-1) > 1 or min(self.dims, default=0) < -1:
            raise UnsupportedError(f"{layer}: shape is invalid", expected="sizes, 0 or one -1", got=self.dims)

    def forward(self, x: Variable | Array) -> Variable:
        """x with the new shape. Raises ShapeError if the sizes do not match."""
        x = as_variable(x)
        start = self.axis + x.ndim + 1 if self.axis < 0 else self.axis
        end = x.ndim if self.num_axes == -1 else start + self.num_axes
        if not 0 <= start <= end <= x.ndim or any(d == 0 and start + i >= x.ndim for i, d in enumerate(self.dims)):
            raise ShapeError(f"{self.label}: the input has too few axes", got=x.shape)
        middle = [x.shape[start + i] if dim == 0 else dim for i, dim in enumerate(self.dims)]
        shape = [*x.shape[:start], *middle, *x.shape[end:]]
        if -1 in shape:
            place = shape.index(-1)
            rest = math.prod(shape[:place] + shape[place + 1 :])
            shape[place] = x.size // rest if rest else 0
        if math.prod(shape) != x.size:
            raise ShapeError(f"{self.label}: {x.size} numbers do not fit", expected=tuple(self.dims), got=x.shape)
        return reshape(x, tuple(shape))

    def describe(self) -> str:
        return f"{self.dims}, axis={self.axis}"


class Permute(Link):
    """Permutes the axes; those that are not listed follow in their order.

    Source: the layer of Liu et al., SSD, ECCV 2016.
    """

    def __init__(self, layer: CaffeLayer):
        self.order = tuple(layer.params.get("permute_param", {}).get("order", ()))
        if len(set(self.order)) != len(self.order):
            raise UnsupportedError(f"{layer}: an axis comes twice", got=self.order)
        self.label = str(layer)

    def forward(self, x: Variable | Array) -> Variable:
        """x with its axes in the new order."""
        if any(axis >= len(x.shape) for axis in self.order):
            raise ShapeError(f"{self.label}: there is no such axis", expected=f"axes of {x.shape}", got=self.order)
        return transpose(x, self.order + tuple(axis for axis in range(len(x.shape)) if axis not in self.order))

    def describe(self) -> str:
        return f"{self.order}"


class Upsample(Link):
    """Nearest-neighbor upsampling by `scale`, as in several forks of Caffe."""

    def __init__(self, layer: CaffeLayer):
        self.scale = layer.params.get("upsample_param", {}).get("scale", 2)
        if type(self.scale) is not int or self.scale < 1:
            raise UnsupportedError(f"{layer}: scale must be a positive integer", got=self.scale)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, C, H * scale, W * scale) of x (B, C, H, W)."""
        h, w = x.shape[2:]
        return resize_images(x, (h * self.scale, w * self.scale), mode="nearest")

    def describe(self) -> str:
        return f"scale={self.scale}"


class Crop(Link):
    """Crops the first blob to the second's sizes from `axis` (default 2) on, beginning at `offset`."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("crop_param", {})
        self.axis = params.get("axis", 2)
        self.offset = tuple(params.get("offset", ())) or (0,)
        self.label = str(layer)

    def forward(self, x: Variable | Array, like: Variable | Array) -> Variable:
        """A part of x."""
        axis = self.axis + len(x.shape) if self.axis < 0 else self.axis
        n = len(x.shape) - axis
        offset = self.offset * n if len(self.offset) == 1 else self.offset
        ends = [o + size for o, size in zip(offset, like.shape[axis:])]
        if len(offset) != n or any(end > size for end, size in zip(ends, x.shape[axis:])):
            raise ShapeError(f"{self.label}: offset {offset}", expected=f"{like.shape} inside of it", got=x.shape)
        return get_item(x, (slice(None),) * axis + tuple(slice(o, end) for o, end in zip(offset, ends)))
