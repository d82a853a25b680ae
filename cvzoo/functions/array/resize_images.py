"""Resizing of images and feature maps."""

import operator
from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.dtypes import floating_backend
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array, Shape, Size


class ResizeImages(FunctionNode):
    def __init__(self, size: tuple[int, int], mode: str, align_corners: bool, antialias: bool):
        self.size = size
        self.settings = (mode, align_corners, antialias)

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        mode, align_corners, antialias = self.settings
        backend = floating_backend(x, "resize_images")
        y = backend.resize_2d(x, self.size, mode=mode, align_corners=align_corners, antialias=antialias)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return ResizeImagesGrad(_size_of(self.inputs[0].shape), *self.settings).apply(gys)


class ResizeImagesGrad(FunctionNode):
    """The transpose of resizing, which is linear."""

    def __init__(self, size: tuple[int, int], mode: str, align_corners: bool, antialias: bool):
        self.size = size
        self.settings = (mode, align_corners, antialias)

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (gy,) = inputs
        mode, align_corners, antialias = self.settings
        backend = floating_backend(gy, "resize_images")
        gx = backend.resize_2d_grad(gy, self.size, mode=mode, align_corners=align_corners, antialias=antialias)
        return (gx,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return ResizeImages(_size_of(self.inputs[0].shape), *self.settings).apply(gys)


def _size_of(shape: Shape) -> Size:
    return shape[2], shape[3]


def resize_images(
    x: Variable | Array,
    output_shape: Sequence[int],
    *,
    mode: str = "bilinear",
    align_corners: bool = True,
    antialias: bool = False,
) -> Variable:
    """(B, C, OH, OW): x (B, C, H, W) at the size `output_shape` (OH, OW).

    mode: "bilinear", or "nearest" (pixel floor(i * H / OH); the other settings do not count)
    align_corners: the corner pixels' centres fall on each other (Chainer, Spatial transformer networks); False: the
        images' edges do, with pixel centres at half (Pillow, OpenCV, most networks of today)
    antialias: when shrinking, average over the pixels that fall into one (as Pillow does), rather than picking four
    Raises ShapeError if x is not (B, C, H, W) or a size is not positive, DtypeError if output_shape is
    not two integers, ValueRangeError if mode is unknown.
    """
    x = as_variable(x)
    if mode not in ("bilinear", "nearest"):
        raise ValueRangeError(f"resize_images: there is no mode {mode!r}", expected="bilinear or nearest")
    try:
        size = tuple([operator.index(n) for n in output_shape])
    except TypeError:
        raise DtypeError("resize_images: output_shape must be (OH, OW)", got=repr(output_shape)) from None
    if x.ndim != 4 or len(size) != 2 or min(*size, *x.shape[2:]) < 1:
        raise ShapeError(
            "resize_images: needs images that are not empty, and an output size",
            expected="x (B, C, H, W), output_shape (OH, OW)",
            got=f"x {x.shape}, output_shape {size}",
        )
    return ResizeImages(size, mode, align_corners, antialias).apply((x,))[0]


def upsample_nearest(x: Variable | Array, factor: int | Sequence[int]) -> Variable:
    """(B, C, fy * H, fx * W): each pixel of x (B, C, H, W) repeated `factor` times, a number or (fy, fx).

    Raises ShapeError if x is not (B, C, H, W) or a factor is not positive.
    """
    x = as_variable(x)
    if x.ndim != 4:
        raise ShapeError("upsample_nearest: x must be feature maps", expected="x (B, C, H, W)", got=x.shape)
    fy, fx = pair(factor, name="factor", function="upsample_nearest")
    return resize_images(x, (x.shape[2] * fy, x.shape[3] * fx), mode="nearest")
