"""The error function, which neither NumPy nor CuPy has, for arrays on any device."""

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.numpy.erf import erf as numpy_erf
from cvzoo.typing.aliases import Array


def erf(x: Array) -> Array:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x (floating), in its shape and dtype."""
    return elementwise("erf", "y = erf(x0);", (x,)) if is_device_array(x) else numpy_erf(x)
