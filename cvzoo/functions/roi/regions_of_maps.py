"""RoI pooling of feature maps for all kinds of cells: means and maxima, forward and backward."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_array, range_of
from cvzoo.backends.device import device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.backends.regions import Cells, Regions
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.shapes.check import pair
from cvzoo.typing.aliases import Array

Sampling = int | Sequence[int] | None
# (C, OH, OW), or (OH, OW) or one number for both where C follows from the map's channels
PlacedOutsize = int | Sequence[int]


def checked_maps(
    x: Variable | Array, rois: Variable | Array, roi_indices: Variable | Array, *, function: str
) -> Variable:
    """The feature maps of the regions; values on a GPU are not checked.

    Raises ShapeError, DtypeError or ValueRangeError if they do not fit together.
    """
    x = as_variable(x)
    rois, indices = (each if is_array(each) else np.asarray(each) for each in (as_array(rois), as_array(roi_indices)))
    if x.ndim != 4:
        raise ShapeError(f"{function}: x must be feature maps", expected="(B, C, H, W)", got=x.shape)
    if not is_float(x.dtype):
        raise DtypeError(f"{function}: x must hold floats", got=x.dtype)
    if 0 in x.shape[2:]:
        raise ShapeError(f"{function}: x has no pixels", got=x.shape)
    if rois.ndim != 2 or rois.shape[1] != 4 or indices.shape != rois.shape[:1]:
        raise ShapeError(
            f"{function}: needs one index for each region",
            expected="rois (R, 4), roi_indices (R,)",
            got=f"rois {rois.shape}, roi_indices {indices.shape}",
        )
    if len(rois) and indices.dtype.kind not in "iu":
        raise DtypeError(f"{function}: roi_indices must be integers", got=indices.dtype)
    extremes = range_of(indices)
    if extremes and not (extremes[0] >= 0 and extremes[1] < x.shape[0]):
        raise ValueRangeError(
            f"{function}: roi_indices must name a map of the batch",
            expected=f"0 .. {x.shape[0] - 1}",
            got=f"{extremes[0]} .. {extremes[1]}",
        )
    return x


def checked_boxes(rois: Array, *, function: str) -> Array:
    """The boxes; those of a GPU are not checked. Raises ValueRangeError if values exceed float32's range."""
    rois = rois if is_array(rois) else np.asarray(rois)
    extremes = range_of(rois)
    if extremes and not (np.isfinite(np.float32(extremes[0])) and np.isfinite(np.float32(extremes[1]))):
        finite = np.isfinite(rois.astype(np.float32)).all(axis=1)
        raise ValueRangeError(f"{function}: rois must be finite", got=rois[~finite][0])
    return rois


def checked_outsize(outsize: int | Sequence[int], *, function: str) -> tuple[int, int]:
    """(OH, OW). Raises ShapeError if one is below 1."""
    size = pair(outsize, name="outsize", function=function)
    if min(size) < 1:
        raise ShapeError(f"{function}: outsize must be positive", got=size)
    return size


def checked_sampling(sampling_ratio: Sampling, *, function: str) -> tuple[int, int]:
    """Samples per cell (rows, columns); 0 for one per pixel. Raises ValueRangeError below 0."""
    if sampling_ratio is None:
        return 0, 0
    if isinstance(sampling_ratio, tuple | list):
        sampling_ratio = [0 if each is None else each for each in sampling_ratio]
    sampling = pair(sampling_ratio, name="sampling_ratio", function=function)
    if min(sampling) < 0:
        raise ValueRangeError(f"{function}: sampling_ratio must not be negative", got=sampling)
    return sampling


def checked_placed_outsize(
    x: Variable | Array, outsize: PlacedOutsize, group_size: int, *, function: str
) -> tuple[int, int]:
    """OH and OW of outsize. Raises DtypeError or ShapeError unless it fits position-sensitive maps x."""
    size = tuple(outsize) if isinstance(outsize, Sequence) else (outsize, outsize)
    if len(size) not in (2, 3):
        raise DtypeError(f"{function}: outsize must be (channels, rows, columns)", got=repr(outsize))
    oh, ow = checked_outsize(size[-2:], function=function)
    g = group_size
    groups = max(g, 1) ** 2
    c = size[0] if len(size) == 3 else x.shape[1] // groups
    if type(c) is bool or not isinstance(c, int | np.integer):
        raise DtypeError(f"{function}: outsize must be (channels, rows, columns)", got=repr(outsize))
    if g < 1 or c < 1 or x.shape[1] != c * groups:
        expected = c * groups if len(size) == 3 else f"a multiple of {groups}"
        raise ShapeError(
            f"{function}: x must have outsize[0] * group_size ** 2 channels", expected=expected, got=x.shape[1]
        )
    return oh, ow


class RoIMeans(FunctionNode):
    """Maps (B, C, H, W) of each level to (R, C', OH, OW): means of cells."""

    def __init__(self, rois: Regions):
        self.rois = rois

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self.shapes = [x.shape for x in inputs]
        return (backend_of(inputs[0]).roi_average(inputs, self.rois),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        gxs = RoIGrad(self.rois, self.shapes, None).apply(gys)
        return tuple([gxs[i] for i in indexes])


class RoIGreatest(FunctionNode):
    """Maps (B, C, H, W) of each level to (R, C', OH, OW): the maximum over each cell, or the values at the indices
    `argmax`."""

    def __init__(self, rois: Regions, *, with_argmax: bool, argmax: Array | None = None):
        self.rois, self.with_argmax, self.argmax = rois, with_argmax, argmax

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self.shapes = [x.shape for x in inputs]
        backend = backend_of(inputs[0])
        if self.argmax is not None:
            return (backend.roi_at_argmax(inputs, self.rois, self.argmax),)
        y, self.argmax = backend.roi_max(inputs, self.rois, with_argmax=self.with_argmax)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        gxs = RoIGrad(self.rois, self.shapes, self.argmax).apply(gys)
        return tuple([gxs[i] for i in indexes])


class RoIGrad(FunctionNode):
    """gy (R, C', OH, OW) to the gradient of each level's maps: the transpose."""

    def __init__(self, rois: Regions, shapes: Sequence[tuple[int, ...]], argmax: Array | None):
        self.rois, self.shapes, self.argmax = rois, shapes, argmax

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (gy,) = inputs
        return backend_of(gy).roi_grad(gy, self.rois, self.shapes, self.argmax)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        maps = [_or_zeros(gy, shape, self.rois) for gy, shape in zip(gys, self.shapes)]
        if self.argmax is None:
            return RoIMeans(self.rois).apply(maps)
        return RoIGreatest(self.rois, with_argmax=True, argmax=self.argmax).apply(maps)


def _or_zeros(gy: Variable | None, shape: tuple[int, ...], rois: Regions) -> Variable | Array:
    return backend_of(rois.bbox).zeros(shape, np.float32) if gy is None else gy


def regions_of_maps(
    maps: Sequence[Variable | Array],
    rois: Variable | Array,
    roi_indices: Variable | Array,
    scales: Sequence[float],
    outsize: tuple[int, int],
    cells: Cells,
    *,
    function: str,
    level: Array | None = None,
    sampling: tuple[int, int] = (0, 0),
    aligned: bool = False,
    group: int = 0,
    greatest: bool = False,
) -> Variable:
    """(R, C', OH, OW) of maps (B, C, H, W) of each level; see `Regions`. rois, roi_indices and level may be on
    the CPU for maps on any device.

    Raises ShapeError, DtypeError or ValueRangeError if they do not fit together; values on a GPU are not
    checked.
    """
    inputs = [checked_maps(x, rois, roi_indices, function=function) for x in maps]
    bbox = checked_boxes(as_array(rois), function=function)
    place = device_of(inputs[0].array)
    with place:
        regions = Regions(
            _flat(place.asarray(bbox, np.float32)),
            _flat(place.asarray(as_array(roi_indices), np.int32)),
            None if level is None else _flat(place.asarray(level, np.int32)),
            tuple(map(float, scales)),
            outsize,
            cells,
            sampling,
            aligned,
            group,
        )
        if not greatest:
            return RoIMeans(regions).apply(inputs)[0]
        # the indices of the maxima are needed for a gradient only
        with_argmax = switches.enable_backprop and any(x.requires_grad for x in inputs)
        return RoIGreatest(regions, with_argmax=with_argmax).apply(inputs)[0]


def _flat(array: Array) -> Array:
    return array if array.flags.c_contiguous else array.copy()
