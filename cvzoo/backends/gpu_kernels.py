"""What rooms that write kernels of their own for a GPU make them of: optimizers, whose kernels are made of formulas."""

from cvzoo.backends.cuda.kernel_module import KernelModule
from cvzoo.backends.cupy.library import cupy as gpu_arrays  # NumPy's functions for arrays of a GPU, when it is called

__all__ = ["gpu_arrays", "KernelModule"]
