"""Our own kernels for the CPU in C: sums that keep their digits at the speed of memory. An optional library."""
