/* What the softmax of a row is made of. */
#ifndef CVZOO_SOFTMAX_H
#define CVZOO_SOFTMAX_H

#include "exponential.h"

static inline Full load_last(const float *x, int64_t n, float filled)
{
    float last[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++)
        last[k] = k < n ? x[k] : filled;
    return load(last);
}

/* The largest number; those that are NaN are passed over. */
static inline float largest(const float *x, int64_t n)
{
    const Full lowest = (Full){0} - __builtin_inff();
    Full top[UNROLLED];
    float most = -__builtin_inff();
    int64_t k = 0;
    EACH(j) top[j] = lowest;
    for (; k + UNROLLED * WIDTH <= n; k += UNROLLED * WIDTH)
        EACH(j) {
            Full v = load(x + k + j * WIDTH);
            top[j] = chosen(v > top[j], v, top[j]);
        }
    for (; k < n; k += WIDTH) {
        Full v = n - k < WIDTH ? load_last(x + k, n - k, -__builtin_inff()) : load(x + k);
        top[0] = chosen(v > top[0], v, top[0]);
    }
    for (int j = 0; j < UNROLLED * WIDTH; j++)
        most = top[j / WIDTH][j % WIDTH] > most ? top[j / WIDTH][j % WIDTH] : most;
    return most;
}

/* y = e^(x - top); returns its sum */
static inline double exponentials(const float *x, int64_t n, float top, float *y)
{
    Wide sums[2] = {{0}};
    double sum = 0;
    int64_t k = 0;
    for (; k + UNROLLED * WIDTH <= n; k += UNROLLED * WIDTH) {
        Full e[UNROLLED];
        EACH(j) {
            e[j] = exponential(load(x + k + j * WIDTH) - top);
            store(y + k + j * WIDTH, e[j]);
        }
        e[0] = (e[0] + e[1]) + (e[2] + e[3]);
        sums[0] += widened(low_half(e[0])), sums[1] += widened(high_half(e[0]));
    }
    for (; k < n; k += WIDTH) {
        int64_t left = least(WIDTH, n - k);
        float last[WIDTH];
        store(last, exponential(load_last(x + k, left, -__builtin_inff()) - top));
        for (int64_t j = 0; j < left; j++)
            sum += last[j];
        memcpy(y + k, last, (size_t)left * sizeof *y);
    }
    sums[0] += sums[1];
    for (int j = 0; j < LANES; j++)
        sum += sums[0][j];
    return sum;
}

#endif
