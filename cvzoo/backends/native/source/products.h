/* Products of matrices in registers, and what follows a convolution's sums. */
#ifndef CVZOO_PRODUCTS_H
#define CVZOO_PRODUCTS_H

#include "native.h"

enum {
    ROWS = LANES == 8 ? 12 : 6, /* of a product: two registers of sums each, and three more, are all there are */
    COLUMNS = 2 * WIDTH, /* results of a product's row */
};

enum { LINEAR, RELU, CLIP, LEAKY_RELU };

static inline Full all(float x) { return x - (Full){0}; }

/* m[row][0..COLUMNS) = sums over c channels of v[row][channel] * u[channel][0..COLUMNS), added to m if `more`. A row of v
begins `row_step` numbers behind the one before; WIDTH channels of it lie together, `step` numbers before the next ones.
Filters at `next` are fetched ahead, one line of the cache for a channel. */
static inline __attribute__((always_inline)) void product(const int rows, int64_t c, const float *v,
                                                          int64_t row_step, int64_t step, const float *u, float *m,
                                                          int64_t m_step, int more, const float *next)
{
    Full sums[ROWS][2] = {{{0}}};
    for (; c > 0; c -= WIDTH, v += step)
        for (int k = 0; k < WIDTH; k++, u += COLUMNS, next += COLUMNS / 2) {
            Full left = load(u), right = load(u + WIDTH);
            __builtin_prefetch(next, 0, 2);
            _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
            {
                Full x = all(v[r * row_step + k]);
                sums[r][0] += x * left;
                sums[r][1] += x * right;
            }
        }
    _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
    {
        float *to = m + r * m_step;
        store(to, more ? load(to) + sums[r][0] : sums[r][0]);
        store(to + WIDTH, more ? load(to + WIDTH) + sums[r][1] : sums[r][1]);
    }
}

static inline Full activated(int64_t activation, double with, double limit, Full v)
{
    const Full alpha = all((float)with), beta = all((float)limit), zero = {0};
    switch (activation) { /* by comparisons that leave NaN as it is */
    case RELU:
        return chosen(v < zero, zero, v);
    case CLIP:
        v = chosen(v < alpha, alpha, v);
        return chosen(v > beta, beta, v);
    case LEAKY_RELU:
        return chosen(v < zero, v * alpha, v);
    default:
        return v;
    }
}

/* `n` numbers at p, at most a register full */
static inline Full load_some(const float *p, int64_t n)
{
    Full v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}

#endif
