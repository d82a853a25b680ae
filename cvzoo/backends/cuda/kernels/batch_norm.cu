// Batch normalization over NHWC.
extern "C" __global__ void bn_placeholder(float *x) {}
