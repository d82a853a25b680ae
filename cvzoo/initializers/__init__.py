"""What parameters start from: callables that fill an array in place."""

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
