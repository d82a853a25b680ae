"""cuDNN 9 by ctypes: convolutions of a GPU; everything else is the backend `cupy`."""
