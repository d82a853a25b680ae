"""An image as an SSD sees it."""

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.ssd.config import SSDConfig


def ssd_preparation(config: SSDConfig) -> Stretch:
    """Stretched, less the mean."""
    how = Resampling.ANTIALIASED if config.antialias else Resampling.BILINEAR
    # headers say "bilinear" of both
    header = ("channels", "mean", "std", "size", ("interpolation", "bilinear"))
    return Stretch((config.insize, config.insize), mean=config.mean, resampling=how, header=header)
