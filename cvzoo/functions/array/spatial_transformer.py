"""Spatial transformer: feature maps warped by an affine map or by any grid of points."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.float_types import is_float, is_half
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.dtypes import cast, widened
from cvzoo.functions.array.pixels_at import pixels_between
from cvzoo.functions.math.arithmetic import add, multiply
from cvzoo.functions.math.matmul import MatMul
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def spatial_transformer_grid(theta: Variable | Array, output_shape: Sequence[int]) -> Variable:
    """(B, 2, OH, OW): for each pixel of the output, the point of the input that it shows, x first, then y.

    theta: (B, 2, 3) floating: the affine map from output to input, applied to (x, y, 1)
    output_shape: (OH, OW)
    Coordinates run from -1 to 1, the centres of the first and of the last pixel.
    Raises ShapeError or DtypeError if theta or output_shape is something else.
    Source: Jaderberg et al., "Spatial transformer networks", NIPS 2015, equation 1.
    """
    theta = as_variable(theta)
    h, w = pair(output_shape, name="output_shape", function="spatial_transformer_grid")
    if theta.ndim != 3 or theta.shape[1:] != (2, 3) or min(h, w) < 1:
        raise ShapeError(
            "spatial_transformer_grid: needs affine maps and a size",
            expected="theta (B, 2, 3), output_shape (OH, OW)",
            got=f"theta {theta.shape}, output_shape {output_shape!r}",
        )
    if not is_float(theta.dtype):
        raise DtypeError("spatial_transformer_grid: theta must be floating", got=theta.dtype)
    dtype = "float32" if is_half(theta.dtype) else theta.dtype
    y, x = np.meshgrid(np.linspace(-1, 1, h, dtype=dtype), np.linspace(-1, 1, w, dtype=dtype), indexing="ij")
    points = np.stack([x.reshape(-1), y.reshape(-1), np.ones(h * w, dtype)])
    # not `matmul`, which would round coordinates to config.dtype
    grid = MatMul(False, False).apply((widened(theta), to_device_of(points, theta.array)))[0]
    return cast(reshape(grid, (len(theta), 2, h, w)), theta.dtype)


@on_device_of_arguments
def spatial_transformer_sampler(x: Variable | Array, grid: Variable | Array) -> Variable:
    """(B, C, OH, OW): x at the points of the grid, bilinearly, as if zeros were around it.

    x: (B, C, H, W) floating
    grid: (B, 2, OH, OW) of x's dtype: x and y of each point, -1 to 1 from the first to the last pixel's centre; beyond
        lie zeros, to which the last pixel falls off within a pixel's width
    Raises ShapeError or DtypeError if the arrays do not fit.
    Source: Jaderberg et al., "Spatial transformer networks", NIPS 2015, equation 5.
    """
    x, grid = as_variable(x), as_variable(grid)
    if x.ndim != 4 or grid.ndim != 4 or grid.shape[1] != 2 or len(x) != len(grid):
        raise ShapeError(
            "spatial_transformer_sampler: needs maps and a grid of points for each",
            expected="x (B, C, H, W), grid (B, 2, OH, OW)",
            got=f"x {x.shape}, grid {grid.shape}",
        )
    if not is_float(x.dtype) or grid.dtype != x.dtype:
        raise DtypeError(
            "spatial_transformer_sampler: x and grid must be floating, of one dtype", got=f"{x.dtype} and {grid.dtype}"
        )
    b, c, h, w = x.shape
    out_size = grid.shape[2:]
    points = reshape(widened(grid), (b, 2, -1))
    # -1 and 1 are the centers of the corner pixels
    columns, rows = [multiply(add(points[:, i], 1.0), (size - 1) / 2) for i, size in enumerate((w, h))]
    return transpose(reshape(pixels_between(x, rows, columns), (b, *out_size, c)), (0, 3, 1, 2))
