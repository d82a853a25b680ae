"""A GPU that is none: the part of CuPy that cvzoo uses, on the processor's memory, to prove what needs no device.

It says nothing of speed, of races between threads, or of what real kernels of libraries compute.
"""
