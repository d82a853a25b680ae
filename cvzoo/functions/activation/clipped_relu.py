"""The rectifier with a ceiling."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.clip import clip


def clipped_relu(x: Variable | Any, z: float = 20.0) -> Variable:
    """min(max(x, 0), z); of NaN as `clip`.

    Raises ValueRangeError if z is negative.
    """
    return clip(x, 0.0, z)


def relu6(x: Variable | Any) -> Variable:
    """min(max(x, 0), 6); of NaN as `clip`.

    Source: MobileNetV2: inverted residuals and linear bottlenecks (Sandler et al., CVPR 2018).
    """
    return clip(x, 0.0, 6.0)
