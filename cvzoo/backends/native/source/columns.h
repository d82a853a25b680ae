/* Sums of the columns of a matrix of float32, in double: each column is added from its first row to its last, whatever
the width of the processor's registers. */
#ifndef CVZOO_COLUMNS_H
#define CVZOO_COLUMNS_H

#include "native.h"

enum {
    CACHED = 1 << 12, /* numbers that stay in a level-1 cache while their columns are added, some at a time */
    AT_ONCE = 16, /* rows */
    AHEAD = 1 << 12, /* numbers from those that are added to those that are fetched */
    BESIDE = 512, /* the same, where rows lie apart */
    NARROW = 64,
    WIDEST = 512, /* of narrow rows joined to one */
};

/* How many rows of `width` numbers that lie one behind the other are added as one row: registers should be full. */
static inline int64_t rows_joined(int64_t width)
{
    int64_t joined = 1;
    while (joined * width <= WIDEST && (joined * width % 16 || joined * width < NARROW))
        joined++;
    return joined * width <= WIDEST ? joined : 1;
}

/* Of four rows: 1.2e-7 of the sum is lost at most, and half the time saved that adding each in double takes. */
static inline Full add_four(const float *x, int64_t step)
{
    return (load(x) + load(x + step)) + (load(x + 2 * step) + load(x + 3 * step));
}

/* Adds m rows, sixteen at a time in float32: five additions deep, 3e-7 of them is lost at most. From column *first on, of
`wide` registers side by side, as long as there are so many. */
static inline __attribute__((always_inline)) void add_strips(const float *x, int m, int64_t step, int wide,
                                                             int64_t *first, int64_t width, double *sums)
{
    const float *ahead = x + *first * AT_ONCE + AHEAD; /* rows that lie one behind the other are fetched as they lie */
    for (; *first + wide * 2 * LANES <= width; *first += wide * 2 * LANES) {
        const float *row = x + *first;
        Full s[UNROLLED] = {{0}};
        int r = 0;
        _Pragma("GCC unroll 4") for (; r + 4 <= m; r += 4, row += 4 * step)
        {
            keep_pointer(row);
            if (step == width)
                for (int k = 0; k < wide * 8 * LANES; k += 16, ahead += 16)
                    __builtin_prefetch(ahead);
            else
                for (int j = 0; j < 4; j++)
                    for (int k = 0; k < wide * 2 * LANES; k += 16)
                        __builtin_prefetch(row + j * step + BESIDE + k);
            _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) s[k] += add_four(row + k * 2 * LANES, step);
        }
        if (r < m) {
            Full rest[UNROLLED] = {{0}};
            for (; r < m; r++, row += step)
                _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) rest[k] += load(row + k * 2 * LANES);
            _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) s[k] += rest[k];
        }
        _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) add_wide(sums + *first + k * 2 * LANES, s[k]);
    }
}

static inline void add_row_blocks(const float *x, int64_t m, int64_t step, int64_t width, double *sums)
{
    for (; m > 0; m -= AT_ONCE, x += AT_ONCE * step) {
        int64_t c = 0;
        int some = (int)least(m, AT_ONCE);
        if (some == AT_ONCE) {
            add_strips(x, AT_ONCE, step, UNROLLED, &c, width, sums);
            add_strips(x, AT_ONCE, step, 1, &c, width, sums);
        } else {
            add_strips(x, some, step, UNROLLED, &c, width, sums);
            add_strips(x, some, step, 1, &c, width, sums);
        }
        for (int r = 0; r < (c < width ? some : 0); r++)
            for (int64_t k = c; k < width; k++)
                sums[k] += x[r * step + k];
    }
}

/* sums[c] += x[r * step + c] for each of m rows r */
static inline void add_columns(const float *x, int64_t m, int64_t step, int64_t width, double *sums)
{
    int64_t joined = step == width ? rows_joined(width) : 1;
    if (joined > 1 && m >= 2 * joined) {
        double wide[WIDEST];
        int64_t wide_width = joined * width, n = m / joined;
        memset(wide, 0, (size_t)wide_width * sizeof *wide);
        add_row_blocks(x, n, wide_width, wide_width, wide);
        for (int64_t k = 0; k < wide_width; k += width)
            for (int64_t c = 0; c < width; c++)
                sums[c] += wide[k + c];
        x += n * wide_width;
        m -= n * joined;
    }
    add_row_blocks(x, m, step, width, sums);
}

#endif
