"""The kernels of a GPU with cuDNN's convolutions; the rest as in the backend "cupy"."""

from cvzoo.backends.cupy.backend import *
from cvzoo.backends.cupy.backend import __getattr__ as __getattr__  # which gives `xp`

# isort: split
from cvzoo.backends.cudnn.conv import *

name = "cudnn"
