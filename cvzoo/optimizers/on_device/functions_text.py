"""GPU source of the functions that traced formulas call, overloaded for float and double, with one rounding each.

The compiler must not contract them to fused multiply-adds, so that a GPU's updates equal the CPU's bitwise.
"""

FUNCTIONS = """
__device__ __forceinline__ float of_sqrt(float v) { return __fsqrt_rn(v); }
__device__ __forceinline__ double of_sqrt(double v) { return __dsqrt_rn(v); }
template <class T>
__device__ __forceinline__ T of_square(T v) {
    return times(v, v);
}
template <class T>
__device__ __forceinline__ T of_reciprocal(T v) {
    return over((T)1, v);
}
template <class T>
__device__ __forceinline__ T of_negative(T v) {
    return -v;
}
template <class T>
__device__ __forceinline__ T of_positive(T v) {
    return v;
}
template <class T>
__device__ __forceinline__ T of_absolute(T v) {
    return v < 0 ? -v : v == 0 ? (T)0 : v;
}
template <class T>
__device__ __forceinline__ T of_sign(T v) {
    return v > 0 ? (T)1 : v < 0 ? (T)-1 : v == 0 ? (T)0 : v;
}
template <class T>
__device__ __forceinline__ T of_maximum(T a, T b) {
    return a >= b || a != a ? a : b;
}
template <class T>
__device__ __forceinline__ T of_minimum(T a, T b) {
    return a <= b || a != a ? a : b;
}
template <class T>
__device__ __forceinline__ T of_exp(T v) {
    return exponential(v);
}
template <class T>
__device__ __forceinline__ T of_log(T v) {
    return logarithm(v);
}
__device__ __forceinline__ float of_tanh(float v) { return tanhf(v); }
__device__ __forceinline__ double of_tanh(double v) { return tanh(v); }
template <class T>
__device__ __forceinline__ T of_power(T v, T e) {
    return power(v, e);
}
template <class T>
__device__ __forceinline__ bool is_finite(T v) {
    return v - v == 0;
}
"""
