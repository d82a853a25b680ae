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
    WIDE = 1 << 12, /* numbers of rows that are added four by four */
    WIDE_STRIP = LANES == 8 ? 2 * UNROLLED : UNROLLED, /* registers side by side, where there are 32 */
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

/* The sum of fewer than four rows, how many the compiler knows. */
static inline __attribute__((always_inline)) Full add_less(const float *x, int n, int64_t step)
{
    Full v = load(x);
    if (n > 1)
        v += load(x + step);
    return n > 2 ? v + load(x + 2 * step) : v;
}

/* Adds m rows in float32, sixteen and few more at a time: six additions deep, 3.6e-7 of them is lost at most. The
compiler knows `left` = m % 4. From column *first on, of `wide` registers side by side, as long as there are so many. */
static inline __attribute__((always_inline)) void add_strips(const float *x, int m, int left, int64_t step, int wide,
                                                             int64_t *first, int64_t width, double *sums)
{
    const float *ahead = x + *first * m + AHEAD; /* rows that lie one behind the other are fetched as they lie */
    for (; *first + wide * 2 * LANES <= width; *first += wide * 2 * LANES) {
        const float *row = x + *first;
        Full s[WIDE_STRIP] = {{0}};
        _Pragma("GCC unroll 4") for (int r = left; r < m; r += 4, row += 4 * step)
        {
            keep_pointer(row);
            if (step == width)
                for (int k = 0; k < wide * 8 * LANES; k += 16, ahead += 16)
                    __builtin_prefetch(ahead);
            else
                for (int j = 0; j < 4; j++)
                    for (int k = 0; k < wide * 2 * LANES; k += 16)
                        __builtin_prefetch(row + j * step + BESIDE + k);
            _Pragma("GCC unroll 8") for (int k = 0; k < wide; k++) s[k] += add_four(row + k * 2 * LANES, step);
        }
        if (left) {
            for (int k = 0; k < left * wide * 2 * LANES && step == width; k += 16, ahead += 16)
                __builtin_prefetch(ahead);
            _Pragma("GCC unroll 8") for (int k = 0; k < wide; k++) s[k] += add_less(row + k * 2 * LANES, left, step);
        }
        _Pragma("GCC unroll 8") for (int k = 0; k < wide; k++) add_wide(sums + *first + k * 2 * LANES, s[k]);
    }
}

/* As add_strips, to the same bits, four whole rows after four: many wide ones are more than a level-1 cache holds, and
the processor fetches ahead of few that are read as they lie. Returns how many columns. */
static inline __attribute__((always_inline)) int64_t add_wide_rows(const float *x, int m, int left, int64_t step,
                                                                   int64_t width, double *sums)
{
    float some[WIDE];
    int64_t end = width / (2 * LANES) * 2 * LANES;
    for (int r = 0; r < m; r += 4, x += 4 * step) {
        int is_last = r + 4 >= m;
        for (int64_t c = 0; c < end; c += 2 * LANES) {
            Full v = left && is_last ? add_less(x + c, left, step) : add_four(x + c, step);
            if (r)
                v += load(some + c);
            if (is_last)
                add_wide(sums + c, v);
            else
                store(some + c, v);
        }
    }
    return end;
}

/* Rows of NARROW numbers that lie one behind the other, sixteen by sixteen: the sums stay in registers. Returns how many
rows. */
static inline int64_t add_narrow_rows(const float *x, int64_t m, double *sums)
{
    enum { REGISTERS = NARROW / (2 * LANES) };
    Wide wide[2 * REGISTERS];
    int64_t n = m / AT_ONCE - (m >= AT_ONCE && m % AT_ONCE > 0 && m % AT_ONCE < 4); /* as add_row_blocks cuts others */
    _Pragma("GCC unroll 32") for (int k = 0; k < 2 * REGISTERS; k++) wide[k] = load_double(sums + k * LANES);
    for (int64_t block = 0; block < n; block++) {
        Full s[REGISTERS] = {{0}};
        _Pragma("GCC unroll 1") for (int r = 0; r < AT_ONCE; r += 4, x += 4 * NARROW)
        {
            keep_pointer(x);
            for (int k = 0; k < 4 * NARROW; k += 16)
                __builtin_prefetch(x + AHEAD + k);
            _Pragma("GCC unroll 16") for (int k = 0; k < REGISTERS; k++) s[k] += add_four(x + k * 2 * LANES, NARROW);
        }
        _Pragma("GCC unroll 16") for (int k = 0; k < REGISTERS; k++)
        {
            wide[2 * k] += widened(low_half(s[k]));
            wide[2 * k + 1] += widened(high_half(s[k]));
        }
    }
    _Pragma("GCC unroll 32") for (int k = 0; k < 2 * REGISTERS; k++) store_double(sums + k * LANES, wide[k]);
    return n * AT_ONCE;
}

static inline __attribute__((always_inline)) int64_t add_rows_of(const float *x, int m, int left, int64_t step,
                                                                 int64_t width, double *sums)
{
    int64_t c = 0;
    if (step > WIDEST && width <= WIDE)
        return add_wide_rows(x, m, left, step, width, sums);
    if ((int)WIDE_STRIP > (int)UNROLLED)
        add_strips(x, m, left, step, WIDE_STRIP, &c, width, sums);
    add_strips(x, m, left, step, UNROLLED, &c, width, sums);
    add_strips(x, m, left, step, 1, &c, width, sums);
    return c;
}

/* How many columns were added of few rows, whose number the compiler does not know. */
static __attribute__((noinline)) int64_t add_few_rows(const float *x, int m, int64_t step, int64_t width, double *sums)
{
    switch (m % 4) {
    case 0: return add_rows_of(x, m, 0, step, width, sums);
    case 1: return add_rows_of(x, m, 1, step, width, sums);
    case 2: return add_rows_of(x, m, 2, step, width, sums);
    default: return add_rows_of(x, m, 3, step, width, sums);
    }
}

static inline void add_row_blocks(const float *x, int64_t m, int64_t step, int64_t width, double *sums)
{
    if (width == NARROW && step == width) {
        int64_t n = add_narrow_rows(x, m, sums);
        x += n * step;
        m -= n;
    }
    for (int some; m > 0; m -= some, x += some * step) {
        some = (int)(m < AT_ONCE + 4 ? m : AT_ONCE);
        int64_t c = some == AT_ONCE ? add_rows_of(x, AT_ONCE, 0, step, width, sums)
                                    : add_few_rows(x, some, step, width, sums);
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
