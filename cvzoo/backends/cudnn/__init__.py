"""cuDNN 9 by ctypes: GPU convolutions; everything else is the backend `cupy`."""
