"""Regions of maps that lie on a GPU: functions of one kernel, forward and backward, whatever the cells are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda.roi import Cells, RoIs, roi_grad, roi_greatest, roi_means, roi_picked
from cvzoo.backends.device import device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.roi.regions import checked_maps


class RoIMeans(FunctionNode):
    """Maps (B, C, H, W) of each level to (R, C', OH, OW): means of cells."""

    def __init__(self, rois: RoIs):
        self.rois = rois

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.shapes = [x.shape for x in inputs]
        return (roi_means([backend_of(x).channels_last(x) for x in inputs], self.rois),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        gxs = RoIGrad(self.rois, self.shapes, None).apply(gys)
        return tuple([gxs[i] for i in indexes])


class RoIGreatest(FunctionNode):
    """Maps (B, C, H, W) of each level to (R, C', OH, OW): the greatest that each cell sees, or what lies where `best`
    says that it was."""

    def __init__(self, rois: RoIs, *, remember: bool, best: Any = None):
        self.rois, self.remember, self.best = rois, remember, best

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.shapes = [x.shape for x in inputs]
        maps = [backend_of(x).channels_last(x) for x in inputs]
        if self.best is not None:
            return (roi_picked(maps, self.rois, self.best),)
        y, self.best = roi_greatest(maps, self.rois, remember=self.remember)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        gxs = RoIGrad(self.rois, self.shapes, self.best).apply(gys)
        return tuple([gxs[i] for i in indexes])


class RoIGrad(FunctionNode):
    """gy (R, C', OH, OW) to the gradient of each level's maps: the transpose."""

    def __init__(self, rois: RoIs, shapes: Sequence[tuple[int, ...]], best: Any):
        self.rois, self.shapes, self.best = rois, shapes, best

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        return roi_grad(backend_of(gy).channels_last(gy), self.rois, self.shapes, self.best)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        gys = tuple([_or_zeros(gy, shape, self.rois) for gy, shape in zip(gys, self.shapes)])
        if self.best is None:
            return RoIMeans(self.rois).apply(gys)
        return RoIGreatest(self.rois, remember=True, best=self.best).apply(gys)


def _or_zeros(gy: Any, shape: tuple[int, ...], rois: RoIs) -> Any:
    return backend_of(rois.bbox).zeros(shape, np.float32) if gy is None else gy


def is_on_device(x: Any) -> bool:
    """Whether maps lie on a GPU."""
    return is_device_array(as_array(x))


def device_regions(
    maps: Sequence[Any],
    rois: Any,
    roi_indices: Any,
    scales: Sequence[float],
    outsize: tuple[int, int],
    cells: Cells,
    *,
    function: str,
    level: Any = None,
    sampling: tuple[int, int] = (0, 0),
    aligned: bool = False,
    group: int = 1,
    greatest: bool = False,
) -> Variable:
    """(R, C', OH, OW) of maps on a GPU; rois, roi_indices and level may lie anywhere. See `RoIs`.

    Raises as `checked_regions`, but values that lie on a GPU are not looked at.
    """
    inputs = [checked_maps(x, rois, roi_indices, function=function)[0] for x in maps]
    rois, roi_indices = as_array(rois), as_array(roi_indices)
    if not is_device_array(rois) and not np.isfinite(rois).all():
        raise ValueRangeError(f"{function}: rois must be finite", got=rois[~np.isfinite(rois).all(axis=1)][0])
    place = device_of(inputs[0].array)
    with place:
        found = RoIs(
            _flat(place.asarray(rois, np.float32)),
            _flat(place.asarray(roi_indices, np.int32)),
            None if level is None else _flat(place.asarray(level, np.int32)),
            tuple(map(float, scales)),
            outsize,
            cells,
            sampling,
            aligned,
            group,
        )
        if not greatest:
            return RoIMeans(found).apply(inputs)[0]
        remember = switches.enable_backprop and any(x.requires_grad for x in inputs)
        return RoIGreatest(found, remember=remember).apply(inputs)[0]


def _flat(array: Any) -> Any:
    return array if array.flags.c_contiguous else array.copy()
