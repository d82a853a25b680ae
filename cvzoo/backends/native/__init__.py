"""Our own CPU kernels in C, an optional library: accurate sums at memory bandwidth."""
