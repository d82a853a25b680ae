"""The kernels of a GPU by CuPy and our own CUDA C, without cuDNN.

`AbstractBackend` documents each kernel; a file's `__all__` lists those that it defines. `xp` is CuPy, imported on
first use.
"""

from types import ModuleType
from typing import TYPE_CHECKING

from cvzoo.backends.cuda.arithmetic import *
from cvzoo.backends.cuda.detection import *
from cvzoo.backends.cuda.loss import *
from cvzoo.backends.cuda.normalization import *
from cvzoo.backends.cuda.prepare import *
from cvzoo.backends.cuda.random_numbers import *
from cvzoo.backends.cuda.roi import *
from cvzoo.backends.cupy.bfloat16 import *
from cvzoo.backends.cupy.chain import *
from cvzoo.backends.cupy.concat import *
from cvzoo.backends.cupy.conv import *
from cvzoo.backends.cupy.eltwise import *
from cvzoo.backends.cupy.finite import *
from cvzoo.backends.cupy.indexing import *
from cvzoo.backends.cupy.library import Cupy
from cvzoo.backends.cupy.library import cupy as _cupy
from cvzoo.backends.cupy.matmul import *
from cvzoo.backends.cupy.memory import *
from cvzoo.backends.cupy.pooling import *
from cvzoo.backends.cupy.quantized import *
from cvzoo.backends.cupy.resize import *
from cvzoo.backends.cupy.softmax import *
from cvzoo.backends.transfer import constant as constant
from cvzoo.backends.transfer import upload as upload

name = "cupy"
if TYPE_CHECKING:
    xp: ModuleType


def __getattr__(attribute: str) -> Cupy:
    if attribute == "xp":
        return _cupy()
    raise AttributeError(f"a GPU's backend has no attribute {attribute!r}", name=attribute)
