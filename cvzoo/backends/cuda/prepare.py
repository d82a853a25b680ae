"""Preprocessing on a GPU: each image is resized, normalized and padded in one pass."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.backends.image_plan import AxisTable, ImagePlan, Resampling, axis_table, frame_of
from cvzoo.backends.transfer import upload
from cvzoo.typing.aliases import Array

__all__ = ["prepare_images"]

_MODULE = KernelModule("prepare")
_THREADS = 128


def prepare_images(
    images: Sequence[np.ndarray], plans: Sequence[ImagePlan], *, dtype: npt.DTypeLike = np.float32, channels: int = 3
) -> Array:
    """See `AbstractBackend.prepare_images`; the images are uploaded by one copy."""
    xp = cupy()
    height, width = frame_of(images, plans)
    parts = [_Part(image, plan) for image, plan in zip(images, plans)]
    arrays = [array for part in parts for array in part.arrays]
    uploaded = upload(arrays)
    x = xp.empty((len(parts), height, width, channels), dtype)
    for i, part in enumerate(parts):
        image, row, row_weight, column, column_weight, colors = uploaded[6 * i : 6 * i + 6]
        plan = part.plan
        numbers = (*part.size, *part.start, part.accumulator, part.vertical_first, plan.before)
        args = (
            *(image, *part.strides, np.int32(part.image_size[0]), np.int32(part.image_size[1])),
            *(row, row_weight, np.int32(row_weight.shape[1])),
            *(column, column_weight, np.int32(column_weight.shape[1])),
            *map(np.int32, numbers),
            *(colors, np.float32(plan.factor / plan.divisor), np.float32(plan.shift)),
            *map(np.int32, (height, width, channels)),
            x[i],
        )
        name = f"prepare_{'u8' if image.dtype == np.uint8 else 'f32'}_{suffix(x.dtype)}"
        _MODULE.launch(name, blocks(height * width, _THREADS), (_THREADS, 1, 1), args)
    return x.transpose(0, 3, 1, 2)


class _Part:
    """The kernel's arguments for one image."""

    def __init__(self, image: np.ndarray, plan: ImagePlan):
        self.plan = plan
        self.image_size = h, w = image.shape[1:]
        image = image[::-1] if plan.bgr else image
        # the kernel reads by strides: interleaved pixels and planes are uploaded without a transposition on the host
        last = image.transpose(1, 2, 0)
        if last.flags.c_contiguous:
            image, self.strides = last, tuple(map(np.int64, (3 * w, 3, 1)))
        else:
            image, self.strides = np.ascontiguousarray(image), tuple(map(np.int64, (w, 1, h * w)))
        tables, begin, size = [], [], []
        for old, new, start, frame in zip((h, w), plan.resized, plan.offset, plan.frame):
            table = axis_table(old, new, plan.how)
            first, last_one = max(-start, 0), min(new, frame - start)
            tables.append(AxisTable(*(np.ascontiguousarray(each[first:last_one]) for each in table)))
            begin.append(max(start, 0))
            size.append(max(last_one - first, 0))
        self.start, self.size = begin, size
        weight_dtype = tables[0].weights.dtype
        self.accumulator = 0 if weight_dtype == np.int32 else 2 if weight_dtype == np.float64 else 1
        pillow = plan.how in (Resampling.PILLOW, Resampling.PILLOW_CUBIC, Resampling.PILLOW_FLOATS)
        corners = plan.how is Resampling.CORNERS
        self.vertical_first = not (plan.horizontal_first if pillow else corners)
        colors = np.array([*plan.mean, *plan.std, *plan.fill], np.float32)
        self.arrays = [image, *tables[0], *tables[1], colors]
