"""An image as an SSDLite sees it."""

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.preparation.stretch import Stretch


def ssdlite_preparation(insize: int) -> Stretch:
    """Stretched without antialiasing, in [-1, 1]."""
    return Stretch(
        (insize, insize),
        mean=(127.5,) * 3,
        std=(127.5,) * 3,
        arithmetic="x * (1 / std) - mean / std",
        resampling=Resampling.BILINEAR,
    )
