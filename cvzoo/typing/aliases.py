"""Types of arrays by what they hold; shape, dtype, unit and order are those of docs/data.md.

The dtype is not part of a type: a function that documents float32 takes float64 and lists, too, and converts them.
`Array` stands for CuPy's arrays as well, which have the same interface and no stubs.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cvzoo.typing.plain import FilePath as FilePath
from cvzoo.typing.plain import LabelNames as LabelNames
from cvzoo.typing.plain import Shape as Shape
from cvzoo.typing.plain import Size as Size

Array: TypeAlias = npt.NDArray[Any]  # any shape and dtype, of NumPy or CuPy
ArrayLike: TypeAlias = npt.ArrayLike  # an array or nested lists of numbers
ArrayModule: TypeAlias = Any  # the module of an array's functions, NumPy or CuPy, which has no stubs

Image: TypeAlias = npt.NDArray[Any]  # (3, H, W) float32, RGB in [0, 255]; grayscale (1, H, W)
BBox: TypeAlias = npt.NDArray[Any]  # (R, 4) float32, y_min, x_min, y_max, x_max in pixels
Box: TypeAlias = Sequence[float] | npt.NDArray[Any]  # one box, (4,)
Label: TypeAlias = npt.NDArray[Any]  # (R,) int32 of instances, () int32 of an image
Score: TypeAlias = npt.NDArray[Any]  # (R,) float32
Prob: TypeAlias = npt.NDArray[Any]  # (L,) float32, probabilities of classes
Flags: TypeAlias = npt.NDArray[np.bool_]  # (R,) bool: difficult, crowded, visible
Area: TypeAlias = npt.NDArray[Any]  # (R,) float32, pixels
Mask: TypeAlias = npt.NDArray[np.bool_]  # (R, H, W) bool, instance masks
ClassMap: TypeAlias = npt.NDArray[Any]  # (H, W) int32, a semantic segmentation; -1: ignored
Point: TypeAlias = npt.NDArray[Any]  # (R, K, 2) float32, keypoints as y, x in pixels
