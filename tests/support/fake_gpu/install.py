"""The stand-in, put where `import cupy` finds it."""

import contextlib
import gc
import importlib.util
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np

from fake_gpu import fake_nccl, functions, machine, memory, operators, raw, runtime, ufuncs

VERSION = "14.2.0"


def _empty_pinned(shape: object, dtype: object = float, order: str = "C") -> np.ndarray:
    dtype = np.dtype(dtype)
    like = np.empty(shape, dtype, order=order)
    held = memory.PinnedMemoryPointer(max(like.nbytes, 1))
    return np.ndarray(like.shape, dtype, buffer=held, strides=like.strides)


def _zeros_pinned(shape: object, dtype: object = float, order: str = "C") -> np.ndarray:
    made = _empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def _empty_like_pinned(a: np.ndarray, dtype: object = None, order: str = "K") -> np.ndarray:
    return _empty_pinned(a.shape, a.dtype if dtype is None else dtype)


@contextlib.contextmanager
def _allow_synchronize(allow: bool) -> Iterator[None]:
    with contextlib.nullcontext() if allow else machine.machine().no_sync("cupyx.allow_synchronize(False)"):
        yield


def modules() -> dict[str, ModuleType]:
    """New modules `cupy` and `cupyx`, by what sys.modules calls them."""
    cuda = runtime.cuda_module()
    cuda.nccl = fake_nccl.nccl_module()
    cupy = ModuleType("cupy")
    cupy.__version__ = VERSION
    cupy.cuda = cuda
    cupy.ndarray = operators.CudaArray
    cupy.ufunc = ufuncs.Ufunc
    cupy.RawModule, cupy.RawKernel = raw.RawModule, raw.RawKernel
    cupy.get_default_memory_pool = lambda: machine.machine().memories.default_pool
    cupy.get_default_pinned_memory_pool = lambda: machine.machine().memories.pinned_pool
    cupy.is_available = cuda.is_available
    for name, value in {**functions.FUNCTIONS, **functions.CONSTANTS}.items():
        setattr(cupy, name, value)
    cupyx = ModuleType("cupyx")
    cupyx.empty_pinned, cupyx.zeros_pinned, cupyx.empty_like_pinned = _empty_pinned, _zeros_pinned, _empty_like_pinned
    cupyx.allow_synchronize = _allow_synchronize
    return {
        "cupy": cupy,
        "cupy.cuda": cuda,
        "cupy.cuda.runtime": cuda.runtime,
        "cupy.cuda.stream": cuda.stream,
        "cupy.cuda.memory": cuda.memory,
        "cupy.cuda.nccl": cuda.nccl,
        "cupyx": cupyx,
    }


_FORGETFUL: list[Callable[[], None]] = []


def on_change(forget: Callable[[], None]) -> None:
    """Call this whenever the stand-in comes or goes: what was kept for other devices must go."""
    _FORGETFUL.append(forget)


def _forget() -> None:
    from cvzoo.backends.cupy import library
    from cvzoo.backends.dispatch import forget_gpu

    library.forget()
    forget_gpu()
    for name in ("cvzoo.backends.cuda.blas", "cvzoo.backends.cuda.blas_lt", "cvzoo.backends.cuda.blas_library"):
        if name in sys.modules or importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            if "forget" in vars(module):
                module.forget()
    for forget in _FORGETFUL:
        forget()


@contextlib.contextmanager
def fake_gpu(devices: int = 1, *, late: bool = False) -> Iterator[machine.Machine]:
    """A machine with so many GPUs, for `import cupy` and all of cvzoo, until the block ends.

    late: streams other than the default one do nothing until somebody waits for them
    Gives the machine, whose `recorder` has all that was asked of the devices. At the end it raises FakeGpuError if
    somebody wrote beyond a block.
    """
    names = [name for name in sys.modules if name.split(".")[0] in ("cupy", "cupyx", "cupy_backends")]
    before = {name: sys.modules.pop(name) for name in names}
    made = machine.Machine(devices)
    made.memories = memory.Memories()
    made.late = late
    machine.push(made)
    new = modules()
    sys.modules.update(new)
    made.cupy = new["cupy"]
    _forget()
    libraries = _install_libraries(made)
    try:
        yield made
        for block in list(made.memory):
            block.check()
        if made.broken:
            raise machine.FakeGpuError("; ".join(made.broken))
    finally:
        libraries.close()
        for name in [name for name in sys.modules if name.split(".")[0] in ("cupy", "cupyx")]:
            del sys.modules[name]
        sys.modules.update(before)
        _forget()
        gc.collect()
        machine.pop()


def _install_libraries(made: machine.Machine) -> contextlib.ExitStack:
    """libcublas's stand-in, where cvzoo looks for the library; libcudnn is not to be found."""
    from cvzoo.backends.cuda import blas_library
    from cvzoo.backends.cudnn import library as cudnn_library
    from cvzoo.errors.exceptions import BackendError
    from fake_gpu.fake_cublas import FakeCublas

    made.cublas = FakeCublas(
        launch=lambda stream, name, work: made.run(name, work, stream=stream), is_capturing=made.is_capturing
    )
    stack = contextlib.ExitStack()
    for module, name, stand_in in (
        (blas_library, "open_library", lambda name, major=None: made.cublas),
        (cudnn_library, "_search", lambda: BackendError("the stand-in of a GPU has no cuDNN")),
    ):
        stack.callback(setattr, module, name, vars(module)[name])
        setattr(module, name, stand_in)
    return stack
