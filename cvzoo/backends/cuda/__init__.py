"""Shared by both GPU backends: our own CUDA kernels, their loading, and bindings of cuBLAS."""
