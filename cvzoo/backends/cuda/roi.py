"""Regions of feature maps at one size, by kernels: all kinds of cells, all levels of a pyramid in one launch."""

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.cuda.kernel_module import KernelModule, blocks
from cvzoo.backends.cuda.suffix import suffix
from cvzoo.backends.cupy.library import cupy
from cvzoo.config.switches import switches

_MODULE = KernelModule("roi")
_THREADS = 256
MOST_LEVELS = 5


class Cells(enum.IntEnum):
    """What a region's cells are made of: bilinear samples; pixels, of edges rounded to whole ones, the last of which
    may belong to the region; pixels, of edges as they are."""

    SAMPLES = 0
    ROUNDED = 1
    ROUNDED_INCLUSIVE = 2
    REAL = 3


class _Mode(enum.IntEnum):
    MEAN = 0
    GREATEST = 1
    PICKED = 2


class RoIs(NamedTuple):
    """Regions, and how they become cells.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the photo
    photo: (R,) int32, which of the B maps each lies on
    level: (R,) int32, which level of the pyramid each looks at; None if there is one
    scales: pixels of each level's maps for one of the photo
    outsize: cells (OH, OW)
    sampling: samples in a cell (rows, columns), 0 for one a pixel
    aligned: as in `roi_average_align_2d`
    group: position-sensitive maps have group ** 2 channels for each of the result's
    """

    bbox: Any
    photo: Any
    level: Any
    scales: tuple[float, ...]
    outsize: tuple[int, int]
    cells: Cells
    sampling: tuple[int, int] = (0, 0)
    aligned: bool = False
    group: int = 1


def roi_means(maps: Sequence[Any], rois: RoIs) -> Any:
    """(R, C, OH, OW), channels-last: each cell the mean of what it sees, 0 where that is nothing.

    maps: (B, C * group ** 2, H, W) of each level, channels-last in memory
    """
    return _forward(maps, rois, _Mode.MEAN, None)


def roi_greatest(maps: Sequence[Any], rois: RoIs, *, remember: bool) -> tuple[Any, Any]:
    """(R, C, OH, OW), channels-last: each cell the greatest it sees, 0 where that is nothing; and, to remember where it
    was, (R, OH, OW, C) int32 for the other functions, else None."""
    best = None
    if remember:
        best = cupy().empty((rois.bbox.shape[0], *rois.outsize, maps[0].shape[1] // rois.group**2), np.int32)
    return _forward(maps, rois, _Mode.GREATEST, best), best


def roi_picked(maps: Sequence[Any], rois: RoIs, best: Any) -> Any:
    """(R, C, OH, OW), channels-last: what lies where `roi_greatest` found the greatest, in other maps."""
    return _forward(maps, rois, _Mode.PICKED, best)


def roi_grad(gy: Any, rois: RoIs, shapes: Sequence[tuple[int, ...]], best: Any = None) -> tuple[Any, ...]:
    """The gradient of each level's maps, channels-last.

    gy: (R, C, OH, OW), channels-last in memory
    shapes: (B, C * group ** 2, H, W) of each level
    best: None for means

    With config.deterministic each number is a sum in the order of the regions; otherwise in any order, which is
    quicker where regions are many.
    """
    xp = cupy()
    mode = _Mode.MEAN if best is None else _Mode.PICKED
    wide = np.float64 if gy.dtype == np.float64 else np.float32
    grads = [xp.zeros((b, h, w, c), wide) for b, c, h, w in shapes]
    r, channels = gy.shape[:2]
    if gy.size and all(grad.size for grad in grads):
        how = _how(rois, mode)
        if switches.deterministic:
            for number, (grad, scale) in enumerate(zip(grads, rois.scales)):
                b, h, w, _ = grad.shape
                where = (grad, np.int32(h), np.int32(w), np.float32(scale), np.int32(number))
                _MODULE.launch(
                    f"roi_gather_{suffix(gy.dtype)}",
                    (-(-w // 8), -(-h // 8), b),
                    (_THREADS, 1, 1),
                    (*where, *how, np.int32(channels), best, gy, np.int32(r)),
                )
        else:
            _MODULE.launch(
                f"roi_scatter_{suffix(gy.dtype)}",
                blocks(gy.size),
                (_THREADS, 1, 1),
                (*_maps(grads, rois.scales), *how, np.int32(channels), best, gy, np.int64(gy.size)),
            )
    return tuple([grad.astype(gy.dtype, copy=False).transpose(0, 3, 1, 2) for grad in grads])


def region_levels(bbox: Any, first: int, last: int) -> Any:
    """(R,) int32, 0 for the level `first`: which one each box (R, 4) float32 looks at, a side of 224 at level 4.

    Source: as `links.model.faster_rcnn_fpn.pyramid_regions.region_levels`.
    """
    n = bbox.shape[0]
    level = cupy().empty((n,), np.int32)
    if n:
        _MODULE.launch(
            "roi_levels", blocks(n), (_THREADS, 1, 1), (bbox, np.int32(first), np.int32(last), level, np.int64(n))
        )
    return level


def _forward(maps: Sequence[Any], rois: RoIs, mode: _Mode, best: Any) -> Any:
    x = maps[0]
    channels = x.shape[1] // rois.group**2
    y = cupy().empty((rois.bbox.shape[0], *rois.outsize, channels), x.dtype)
    if y.size:
        _MODULE.launch(
            f"roi_forward_{suffix(x.dtype)}",
            blocks(y.size),
            (_THREADS, 1, 1),
            (
                *_maps([each.transpose(0, 2, 3, 1) for each in maps], rois.scales),
                *_how(rois, mode),
                *(np.int32(channels), best, y, np.int64(y.size)),
            ),
        )
    return y.transpose(0, 3, 1, 2)


def _maps(maps: Sequence[Any], scales: Sequence[float]) -> tuple[Any, ...]:
    """What kernels take for maps (B, H, W, C) of up to five levels; the first stands for those that are not there."""
    rest = MOST_LEVELS - len(maps)
    maps, scales = [*maps, *maps[:1] * rest], [*scales, *scales[:1] * rest]
    return (
        *maps,
        *[np.int32(each.shape[1]) for each in maps],
        *[np.int32(each.shape[2]) for each in maps],
        *map(np.float32, scales),
    )


def _how(rois: RoIs, mode: _Mode) -> tuple[Any, ...]:
    numbers = (*rois.outsize, *rois.sampling, rois.cells, rois.aligned, rois.group, mode)
    return (rois.bbox, rois.photo, rois.level, *map(np.int32, numbers))
