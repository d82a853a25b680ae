"""Initializers of parameters: callables that fill an array in place."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.initializers.constant import Constant, Identity, NaN, One, Zero
    from cvzoo.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
    from cvzoo.initializers.orthogonal import Orthogonal
    from cvzoo.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform
    from cvzoo.initializers.upsampling import UpsamplingDeconvFilter

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "LeCunNormal",
    "LeCunUniform",
    "NaN",
    "Normal",
    "One",
    "Orthogonal",
    "Uniform",
    "UpsamplingDeconvFilter",
    "Zero",
]

import_on_demand(__name__)
