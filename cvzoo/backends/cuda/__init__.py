"""What both GPU backends share: our own kernels in CUDA C, what loads them, and the libraries beside them."""
