"""What kernels take and give."""

from typing import Any

Array = Any  # numpy.ndarray on the CPU, cupy.ndarray on a GPU
Pair = tuple[int, int]
Pad = tuple[int, int, int, int]
