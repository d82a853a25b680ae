"""Shared by both GPU backends: our own CUDA kernels, their loading, and bindings of cuBLAS."""

from cvzoo.lazy_imports.on_demand import import_on_demand

import_on_demand(__name__)  # for Chainer's names, whose errors say what to use
