"""The part of CuPy that the package is typed against."""

import pytest

from cvzoo.backends.cupy.library import Cuda, CudaRuntime, Cupy, cupy

COMPILED_BY_CUPY = {"ElementwiseKernel", "ReductionKernel"}  # of users' kernels, which the stand-in does not compile


@pytest.mark.parametrize(
    ("protocol", "module"),
    [(Cupy, lambda: cupy()), (Cuda, lambda: cupy().cuda), (CudaRuntime, lambda: cupy().cuda.runtime)],
    ids=["cupy", "cuda", "runtime"],
)
def test_the_module_has_every_name_that_the_package_uses(fake_gpu, protocol, module):
    names = {name for name in {*vars(protocol), *protocol.__annotations__} if name[0] != "_"} - COMPILED_BY_CUPY
    assert len(names) > 5
    with fake_gpu():
        assert [name for name in sorted(names) if not hasattr(module(), name)] == []
