"""Kernels that users write as C expressions: compiled by CuPy on a GPU, evaluated by NumPy on the CPU."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.backends.user_kernels.elementwise import ElementwiseKernel, elementwise
    from cvzoo.backends.user_kernels.reduction import ReductionKernel, reduce

__all__ = ["ElementwiseKernel", "ReductionKernel", "elementwise", "reduce"]

import_on_demand(__name__)
