"""CUDA kernel compilation for other packages, such as optimizers, which generate kernels from formulas."""

from cvzoo.backends.cuda.kernel_module import KernelModule
from cvzoo.backends.cupy.library import cupy as gpu_arrays  # a function that returns CuPy, imported at the first call

__all__ = ["gpu_arrays", "KernelModule"]
