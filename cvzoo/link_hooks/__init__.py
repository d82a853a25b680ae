"""Chainer's `chainer.link_hooks`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.hooks.spectral_normalization import SpectralNormalization
    from cvzoo.links.hooks.weight_standardization import WeightStandardization

__all__ = ["SpectralNormalization", "WeightStandardization"]

import_on_demand(__name__)
