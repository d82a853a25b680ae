/* e to the power of registers. */
#ifndef CVZOO_EXPONENTIAL_H
#define CVZOO_EXPONENTIAL_H

#include "native.h"

typedef uint32_t FullBits __attribute__((vector_size(LANES * 8)));

/* e^r of e^v = 2^k e^r, |r| < 0.35; k is in the last bits of *shifted, a number around 0x1.8p23. */
static inline Full remainder_power(Full v, Full *shifted)
{
    const float round = 0x1.8p23f, octave = 0x1.62e4p-1f, rest = 0x1.7f7d1cp-20f; /* which add up to log 2 */
    *shifted = v * 0x1.715476p0f + round;
    Full k = *shifted - round, r = (v - k * octave) - k * rest;
    /* the polynomial of degree 6 that begins with 1 + r and whose largest relative error is least, 3e-9 */
    Full p = 0.0013814467f * r + 0.0083687808f;
    p = ((p * r + 0.041668393f) * r + 0.16666520f) * r + 0.49999994f;
    return p * (r * r) + r + 1;
}

/* e to the power of v, which is 0 at most, or NaN, which stays. Off by 1.3e-7 of it at most. */
static inline Full exponential(Full v)
{
    const Full lowest = (Full){0} - 110; /* e to its power, and of all below, is 0 in float32 */
    Full shifted, p = remainder_power(chosen(v < lowest, lowest, v), &shifted);
    /* 2^k in two steps: it may be less than any number that has all its digits */
    FullBits raised = (FullBits)shifted - (0x4b400000u - 256), half = raised >> 1;
    return p * (Full)((half - 1) << 23) * (Full)((raised - half - 1) << 23);
}

/* The second one if it is NaN. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
static inline Full larger(Full a, Full b) { return (Full)_mm512_max_ps((__m512)a, (__m512)b); }
static inline Full smaller(Full a, Full b) { return (Full)_mm512_min_ps((__m512)a, (__m512)b); }
#elif defined(__AVX2__)
static inline Full larger(Full a, Full b) { return (Full)_mm256_max_ps((__m256)a, (__m256)b); }
static inline Full smaller(Full a, Full b) { return (Full)_mm256_min_ps((__m256)a, (__m256)b); }
#else
static inline Full larger(Full a, Full b) { return chosen(a > b, a, b); }
static inline Full smaller(Full a, Full b) { return chosen(a < b, a, b); }
#endif

/* x, or 1, divided by 1 + e^(-alpha x), alpha above 0. 2^k is a number with all its digits for alpha x from -88 to 87;
beyond, results stay at those of -88, 5e-37 x and less than 1e-38, and of 87, which are x and 1. Off by 2.5e-7 of the
result at most. */
static inline __attribute__((always_inline)) Full logistic(const int times_x, double alpha, Full x)
{
    const Full zero = {0}, factor = zero - (float)alpha;
    x = larger(zero - (float)(88 / alpha), x);
    Full shifted, p = remainder_power(smaller(zero + (float)(87 / alpha), x) * factor, &shifted);
    p = 1 + (Full)((FullBits)p + ((FullBits)shifted << 23));
    return (times_x ? x : zero + 1) / p;
}

#endif
