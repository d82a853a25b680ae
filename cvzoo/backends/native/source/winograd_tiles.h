/* Tiles of Winograd's algorithm F(4x4, 3x3): pixels evaluated at points, results interpolated from products there. */
#ifndef CVZOO_WINOGRAD_TILES_H
#define CVZOO_WINOGRAD_TILES_H

#include "products.h"

enum {
    SIDE = 4, /* of a tile of results */
    REACH = 6, /* of a tile of pixels */
    POINTS = REACH * REACH,
    TAPS = 3,
};
#define INNER 0.625
#define OUTER 1.5

/* How many results a tile has in each direction: SIDE, or fewer at the end of the map, where fewer points suffice. The
other points of such a tile are not computed. Filters are the same: what their values at the points were divided by for
the points that are left out, pixels are multiplied by. */
static const uint8_t points_of[SIDE + 1][REACH] = {
    {0}, {1, 1, 0, 0, 0, 1}, {1, 1, 1, 0, 0, 1}, {1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 1, 1}};

/* The polynomial with the coefficients x, n + 2 of them, at the points of a tile of n results. */
static inline __attribute__((always_inline)) void evaluate(const int n, const Full *x, Full *at)
{
    const float p = INNER, q = OUTER, inner = INNER * INNER, outer = OUTER * OUTER;
    if (n == SIDE) {
        Full even = x[4] - outer * x[2], odd = p * (x[3] - outer * x[1]);
        at[0] = x[4] - (inner + outer) * x[2] + inner * outer * x[0];
        at[1] = even + odd, at[2] = even - odd;
        even = x[4] - inner * x[2], odd = q * (x[3] - inner * x[1]);
        at[3] = even + odd, at[4] = even - odd;
        at[5] = x[5] - (inner + outer) * x[3] + inner * outer * x[1];
    } else if (n == 3) {
        Full more = x[3] - q * x[2], less = p * (x[2] - q * x[1]), odd = x[3] - inner * x[1];
        at[0] = q * (more - inner * (x[1] - q * x[0]));
        at[1] = (q + p) * (more + less), at[2] = (q - p) * (more - less);
        at[3] = 2 * q * odd;
        at[5] = x[4] - inner * x[2] - q * odd;
    } else if (n == 2) {
        Full even = (inner - outer) * x[2], odd = p * (inner - outer) * x[1];
        at[0] = outer * (inner * x[0] - x[2]);
        at[1] = even + odd, at[2] = even - odd;
        at[5] = x[3] - inner * x[1];
    } else {
        at[0] = p * outer * (p * x[0] - x[1]);
        at[1] = 2 * p * (inner - outer) * x[1];
        at[5] = x[2] - p * x[1];
    }
}

static inline __attribute__((always_inline)) void interpolate(const int n, const Full *at, Full *y)
{
    const float p = INNER, q = OUTER;
    if (n == 1) {
        y[0] = at[0] + at[1] + at[5];
        return;
    }
    Full sum = at[1] + at[2], difference = at[1] - at[2];
    if (n == 2) {
        y[0] = at[0] + sum;
        y[1] = p * difference + at[5];
    } else if (n == 3) {
        y[0] = at[0] + (sum + at[3]);
        y[1] = p * difference + q * at[3];
        y[2] = p * p * sum + q * q * at[3] + at[5];
    } else {
        Full more = at[3] + at[4], other = at[3] - at[4];
        y[0] = at[0] + (sum + more);
        y[1] = p * difference + q * other;
        y[2] = p * p * sum + q * q * more;
        y[3] = p * p * p * difference + q * q * q * other + at[5];
    }
}

/* By a tile's number of results, which the compiler then knows. */
#define FOR_EACH_SIDE(n, call) \
    switch (n) { \
    case 1: \
        call(1); \
        break; \
    case 2: \
        call(2); \
        break; \
    case 3: \
        call(3); \
        break; \
    default: \
        call(4); \
    }

/* v[point * step] of WIDTH channels of a tile of so many rows and columns, whose pixels are at pixels[] + channel; those
of the next tile are `next` numbers behind them. */
static void transform_tile(int64_t rows, int64_t columns, const float *const *pixels, int64_t channel, float *v,
                           int64_t step, int64_t next)
{
    Full between[REACH][REACH], x[REACH], at[REACH];
    for (int i = 0; i < REACH; i++)
        for (int j = REACH - SIDE; j < REACH; j++)
            __builtin_prefetch(pixels[i * REACH + j] + channel + next);
#define DOWN(n) \
    for (int j = 0; j < columns + TAPS - 1; j++) { \
        _Pragma("GCC unroll 6") for (int i = 0; i < n + TAPS - 1; i++) x[i] = load(pixels[i * REACH + j] + channel); \
        evaluate(n, x, at); \
        _Pragma("GCC unroll 6") for (int i = 0; i < REACH; i++) if (points_of[n][i]) between[i][j] = at[i]; \
    }
    FOR_EACH_SIDE(rows, DOWN)
#define ACROSS(n) \
    for (int i = 0; i < REACH; i++) { \
        if (!points_of[rows][i]) \
            continue; \
        evaluate(n, between[i], at); \
        _Pragma("GCC unroll 6") for (int j = 0; j < REACH; j++) if (points_of[n][j]) store(v + (i * REACH + j) * step, at[j]); \
    }
    FOR_EACH_SIDE(columns, ACROSS)
#undef DOWN
#undef ACROSS
}

static void interpolate_tile(int64_t rows, int64_t columns, const float *m, int64_t step, Full y[SIDE][SIDE])
{
    Full between[SIDE][REACH], x[REACH], at[SIDE];
#define DOWN(n) \
    for (int j = 0; j < REACH; j++) { \
        if (!points_of[columns][j]) \
            continue; \
        _Pragma("GCC unroll 6") for (int i = 0; i < REACH; i++) if (points_of[n][i]) x[i] = load(m + (i * REACH + j) * step); \
        interpolate(n, x, at); \
        _Pragma("GCC unroll 4") for (int i = 0; i < n; i++) between[i][j] = at[i]; \
    }
    FOR_EACH_SIDE(rows, DOWN)
#define ACROSS(n) \
    for (int i = 0; i < rows; i++) \
        interpolate(n, between[i], y[i]);
    FOR_EACH_SIDE(columns, ACROSS)
#undef DOWN
#undef ACROSS
}

#endif
