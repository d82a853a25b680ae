"""RoI pooling of all levels of a pyramid in one launch."""

import enum
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.memory import channels_last
from cvzoo.backends.gpu_kernels import KernelArgument, KernelModule, blocks, suffix
from cvzoo.backends.regions import Regions
from cvzoo.config.switches import switches
from cvzoo.typing.aliases import Array

__all__ = ["region_levels", "roi_grad", "roi_max", "roi_average", "roi_at_argmax"]

_MODULE = KernelModule("roi")
_THREADS = 256
MAX_LEVELS = 5


class _Mode(enum.IntEnum):
    AVERAGE = 0
    MAX = 1
    AT_ARGMAX = 2


def roi_average(maps: Sequence[Array], rois: Regions) -> Array:
    """See `AbstractBackend.roi_average`."""
    return _forward(maps, rois, _Mode.AVERAGE, None)


def roi_max(maps: Sequence[Array], rois: Regions, *, with_argmax: bool) -> tuple[Array, Array | None]:
    """See `AbstractBackend.roi_max`; argmax: (R, OH, OW, C) int32."""
    argmax = None
    if with_argmax:
        argmax = cupy().empty((rois.bbox.shape[0], *rois.outsize, rois.channels(maps[0].shape[1])), np.int32)
    return _forward(maps, rois, _Mode.MAX, argmax), argmax


def roi_at_argmax(maps: Sequence[Array], rois: Regions, argmax: Array | None) -> Array:
    """See `AbstractBackend.roi_at_argmax`."""
    return _forward(maps, rois, _Mode.AT_ARGMAX, argmax)


def roi_grad(
    gy: Array, rois: Regions, shapes: Sequence[tuple[int, ...]], argmax: Array | None = None
) -> tuple[Array, ...]:
    """See `AbstractBackend.roi_grad`; without config.deterministic by atomic additions, which are faster for many
    regions."""
    xp, gy = cupy(), channels_last(gy)
    mode = _Mode.AVERAGE if argmax is None else _Mode.AT_ARGMAX
    wide = np.float64 if gy.dtype == np.float64 else np.float32
    grads = [xp.zeros((b, h, w, c), wide) for b, c, h, w in shapes]
    r, channels = gy.shape[:2]
    if gy.size and all(grad.size for grad in grads):
        settings = _settings(rois, mode)
        if switches.deterministic:
            for number, (grad, scale) in enumerate(zip(grads, rois.scales)):
                b, h, w, _ = grad.shape
                where = (grad, np.int32(h), np.int32(w), np.float32(scale), np.int32(number))
                _MODULE.launch(
                    f"roi_gather_{suffix(gy.dtype)}",
                    (-(-w // 8), -(-h // 8), b),
                    (_THREADS, 1, 1),
                    (*where, *settings, np.int32(channels), argmax, gy, np.int32(r)),
                )
        else:
            _MODULE.launch(
                f"roi_scatter_{suffix(gy.dtype)}",
                blocks(gy.size),
                (_THREADS, 1, 1),
                (*_maps(grads, rois.scales), *settings, np.int32(channels), argmax, gy, np.int64(gy.size)),
            )
    return tuple([grad.astype(gy.dtype, copy=False).transpose(0, 3, 1, 2) for grad in grads])


def region_levels(bbox: Array, first: int, last: int) -> Array:
    """See `AbstractBackend.region_levels`: int32."""
    n = bbox.shape[0]
    level = cupy().empty((n,), np.int32)
    if n:
        _MODULE.launch(
            "roi_levels", blocks(n), (_THREADS, 1, 1), (bbox, np.int32(first), np.int32(last), level, np.int64(n))
        )
    return level


def _forward(maps: Sequence[Array], rois: Regions, mode: _Mode, argmax: Array | None) -> Array:
    x = maps[0]
    channels = rois.channels(x.shape[1])
    y = cupy().empty((rois.bbox.shape[0], *rois.outsize, channels), x.dtype)
    if y.size:
        _MODULE.launch(
            f"roi_forward_{suffix(x.dtype)}",
            blocks(y.size),
            (_THREADS, 1, 1),
            (
                *_maps([channels_last(each).transpose(0, 2, 3, 1) for each in maps], rois.scales),
                *_settings(rois, mode),
                *(np.int32(channels), argmax, y, np.int64(y.size)),
            ),
        )
    return y.transpose(0, 3, 1, 2)


def _maps(maps: Sequence[Array], scales: Sequence[float]) -> tuple[KernelArgument, ...]:
    """The kernels' arguments for maps (B, H, W, C) of up to five levels; missing levels are filled with the first."""
    rest = MAX_LEVELS - len(maps)
    maps, scales = [*maps, *[maps[0]] * rest], [*scales, *[scales[0]] * rest]
    return (
        *maps,
        *[np.int32(each.shape[1]) for each in maps],
        *[np.int32(each.shape[2]) for each in maps],
        *map(np.float32, scales),
    )


def _settings(rois: Regions, mode: _Mode) -> tuple[KernelArgument, ...]:
    numbers = (*rois.outsize, *rois.sampling, rois.cells, rois.aligned, max(rois.group, 1), mode)
    return (rois.bbox, rois.image, rois.level, *map(np.int32, numbers))
