/* e to the power of registers. */
#ifndef CVZOO_EXPONENTIAL_H
#define CVZOO_EXPONENTIAL_H

#include "native.h"

typedef uint32_t FullBits __attribute__((vector_size(LANES * 8)));

enum { WIDTH = 2 * LANES };

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

#endif
