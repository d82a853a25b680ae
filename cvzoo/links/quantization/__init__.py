"""Post-training quantization: calibration on images, and int8 and bfloat16 kernels."""
