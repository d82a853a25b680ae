"""CUDA C on the host: the files of kernels compiled by g++ and run on NumPy's memory, to prove their logic."""

from host_cuda.module import HostCudaError, HostModule, thread_order

__all__ = ["HostCudaError", "HostModule", "thread_order"]
