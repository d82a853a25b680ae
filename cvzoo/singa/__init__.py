"""Apache SINGA's Python interface on this engine: programs for SINGA run with the imports changed."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.singa import autograd, device, initializer, layer, model, opt, tensor

__all__ = ["autograd", "device", "initializer", "layer", "model", "opt", "tensor"]

import_on_demand(__name__)
