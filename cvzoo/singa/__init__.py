"""Apache SINGA's Python interface on this engine: programs for SINGA run with the imports changed."""

from cvzoo.singa import autograd, device, initializer, layer, model, opt, tensor

__all__ = ["autograd", "device", "initializer", "layer", "model", "opt", "tensor"]
