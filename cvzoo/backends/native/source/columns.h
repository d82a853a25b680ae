/* Sums of the columns of a matrix of float32, in double: each column is added from its first row to its last, whatever
the width of the processor's registers. */
#ifndef CVZOO_COLUMNS_H
#define CVZOO_COLUMNS_H

#include "native.h"

enum {
    CACHED = 1 << 12, /* numbers that stay in a level-1 cache while their columns are added, some at a time */
    NARROW = 64,
    WIDE = 256,
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

/* Eight rows of many columns, from left to right. */
static inline void add_eight_rows(const float *x, int64_t step, int64_t width, double *sums)
{
    int64_t c = 0;
    for (; c + 2 * LANES <= width; c += 2 * LANES) {
        Full eight = add_four(x + c, step) + add_four(x + c + 4 * step, step);
        store_double(sums + c, load_double(sums + c) + widened(low_half(eight)));
        store_double(sums + c + LANES, load_double(sums + c + LANES) + widened(high_half(eight)));
    }
    for (; c < width; c++)
        for (int64_t r = 0; r < 8; r++)
            sums[c] += x[r * step + c];
}

static inline void add_few_columns(const float *x, int64_t m, int64_t step, int64_t width, double *sums)
{
    int64_t c = 0;
    for (; c + TILE <= width; c += TILE) {
        Wide s[UNROLLED];
        const float *row = x + c;
        EACH(k) s[k] = load_double(sums + c + k * LANES);
        for (int64_t r = 0; r + 4 <= m; r += 4, row += 4 * step) {
            if (step > TILE) /* else the processor sees what comes next */
                for (int64_t j = 0; j < 4; j++)
                    prefetch_tile(row + (j + m) * step);
            HALVES(k)
            {
                Full four = add_four(row + 2 * k * LANES, step);
                s[2 * k] += widened(low_half(four)), s[2 * k + 1] += widened(high_half(four));
            }
        }
        for (int64_t r = 0; r < m % 4; r++, row += step)
            EACH(k) s[k] += load_wide(row + k * LANES);
        EACH(k) store_double(sums + c + k * LANES, s[k]);
    }
    for (; c + LANES <= width; c += LANES) {
        Wide s = load_double(sums + c);
        const float *row = x + c;
        for (int64_t r = 0; r < m; r++, row += step)
            s += load_wide(row);
        store_double(sums + c, s);
    }
    if (c < width)
        for (int64_t r = 0; r < m; r++)
            for (int64_t k = c; k < width; k++)
                sums[k] += x[r * step + k];
}

/* sums[c] += x[r * step + c] for each of m rows r */
static inline void add_columns(const float *x, int64_t m, int64_t step, int64_t width, double *sums)
{
    int64_t joined = step == width ? rows_joined(width) : 1;
    if (joined > 1 && m >= 2 * joined) {
        double wide[WIDEST];
        int64_t wide_width = joined * width, n = m / joined;
        memset(wide, 0, (size_t)wide_width * sizeof *wide);
        add_few_columns(x, n, wide_width, wide_width, wide);
        for (int64_t k = 0; k < wide_width; k += width)
            for (int64_t c = 0; c < width; c++)
                sums[c] += wide[k + c];
        x += n * wide_width;
        m -= n * joined;
    }
    int64_t some = most(CACHED / width / 4 * 4, 8), r = 0;
    if (width >= WIDE)
        for (; r + 8 <= m; r += 8)
            add_eight_rows(x + r * step, step, width, sums);
    for (; r < m; r += some)
        add_few_columns(x + r * step, least(some, m - r), step, width, sums);
}

#endif
