"""Regions of feature maps, whatever their cells are: means and maxima, forward and backward."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.device import device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.regions import Cells, Regions
from cvzoo.config.switches import switches
from cvzoo.functions.roi.checks import checked_boxes, checked_maps


class RoIMeans(FunctionNode):
    """Maps (B, C, H, W) of each level to (R, C', OH, OW): means of cells."""

    def __init__(self, rois: Regions):
        self.rois = rois

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.shapes = [x.shape for x in inputs]
        return (backend_of(inputs[0]).roi_means(inputs, self.rois),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        gxs = RoIGrad(self.rois, self.shapes, None).apply(gys)
        return tuple([gxs[i] for i in indexes])


class RoIGreatest(FunctionNode):
    """Maps (B, C, H, W) of each level to (R, C', OH, OW): the greatest that each cell sees, or what lies where `best`
    says that it was."""

    def __init__(self, rois: Regions, *, remember: bool, best: Any = None):
        self.rois, self.remember, self.best = rois, remember, best

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.shapes = [x.shape for x in inputs]
        backend = backend_of(inputs[0])
        if self.best is not None:
            return (backend.roi_picked(inputs, self.rois, self.best),)
        y, self.best = backend.roi_greatest(inputs, self.rois, remember=self.remember)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        gxs = RoIGrad(self.rois, self.shapes, self.best).apply(gys)
        return tuple([gxs[i] for i in indexes])


class RoIGrad(FunctionNode):
    """gy (R, C', OH, OW) to the gradient of each level's maps: the transpose."""

    def __init__(self, rois: Regions, shapes: Sequence[tuple[int, ...]], best: Any):
        self.rois, self.shapes, self.best = rois, shapes, best

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        return backend_of(gy).roi_grad(gy, self.rois, self.shapes, self.best)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        gys = tuple([_or_zeros(gy, shape, self.rois) for gy, shape in zip(gys, self.shapes)])
        if self.best is None:
            return RoIMeans(self.rois).apply(gys)
        return RoIGreatest(self.rois, remember=True, best=self.best).apply(gys)


def _or_zeros(gy: Any, shape: tuple[int, ...], rois: Regions) -> Any:
    return backend_of(rois.bbox).zeros(shape, np.float32) if gy is None else gy


def regions_of_maps(
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
    group: int = 0,
    greatest: bool = False,
) -> Variable:
    """(R, C', OH, OW) of maps (B, C, H, W) of each level; see `Regions`. rois, roi_indices and level may lie on the
    processor whatever the maps lie on.

    Raises ShapeError, DtypeError or ValueRangeError if they do not fit together; values that lie on a GPU are not
    looked at.
    """
    inputs = [checked_maps(x, rois, roi_indices, function=function) for x in maps]
    bbox = checked_boxes(as_array(rois), function=function)
    place = device_of(inputs[0].array)
    with place:
        found = Regions(
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
            return RoIMeans(found).apply(inputs)[0]
        remember = switches.enable_backprop and any(x.requires_grad for x in inputs)
        return RoIGreatest(found, remember=remember).apply(inputs)[0]


def _flat(array: Any) -> Any:
    return array if array.flags.c_contiguous else array.copy()
