/* Softmax along long rows, whose exponentials are added in double. */
#include "native.h"

typedef struct {
    int64_t rows, n;
} SoftmaxPlan;

typedef struct {
    const SoftmaxPlan *plan;
    const float *x;
    float *y;
} Softmax;

typedef uint32_t FullBits __attribute__((vector_size(LANES * 8)));

enum { WIDTH = 2 * LANES };

static inline Full chosen(FullInt where, Full a, Full b)
{
    return (Full)(((FullInt)a & where) | ((FullInt)b & ~where));
}

/* e to the power of v, which is 0 at most, or NaN, which stays: 2^k e^r, |r| < 0.35. Off by 1.3e-7 of it at most. */
static inline Full exponential(Full v)
{
    const Full lowest = (Full){0} - 110; /* e to its power, and of all below, is 0 in float32 */
    const float round = 0x1.8p23f, octave = 0x1.62e4p-1f, rest = 0x1.7f7d1cp-20f; /* which add up to log 2 */
    v = chosen(v < lowest, lowest, v);
    Full shifted = v * 0x1.715476p0f + round, k = shifted - round, r = (v - k * octave) - k * rest;
    /* the polynomial of degree 6 that begins with 1 + r and whose largest relative error is least, 3e-9 */
    Full p = 0.0013814467f * r + 0.0083687808f;
    p = ((p * r + 0.041668393f) * r + 0.16666520f) * r + 0.49999994f;
    p = p * (r * r) + r + 1;
    /* 2^k in two steps: it may be less than any number that has all its digits */
    FullBits raised = (FullBits)shifted - (0x4b400000u - 256), half = raised >> 1;
    return p * (Full)((half - 1) << 23) * (Full)((raised - half - 1) << 23);
}

static inline Full load_last(const float *x, int64_t n, float filled)
{
    float last[WIDTH];
    for (int64_t k = 0; k < WIDTH; k++)
        last[k] = k < n ? x[k] : filled;
    return load(last);
}

/* The largest number; those that are NaN are passed over. */
static float largest(const float *x, int64_t n)
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
static double exponentials(const float *x, int64_t n, float top, float *y)
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

static void softmax_job(void *what, int64_t row)
{
    const Softmax *all = what;
    int64_t n = all->plan->n, k = 0;
    const float *x = all->x + row * n;
    float *y = all->y + row * n, share = (float)(1 / exponentials(x, n, largest(x, n), y));
    for (; k + WIDTH <= n; k += WIDTH)
        store(y + k, load(y + k) * share);
    for (; k < n; k++)
        y[k] *= share;
}

/* arrays: x, y (may be x) */
KERNEL(softmax)(const SoftmaxPlan *plan, void *const *arrays, int threads)
{
    Softmax all = {plan, arrays[0], arrays[1]};
    run_jobs(softmax_job, &all, plan->rows, plan->rows * plan->n < SMALL ? 1 : threads);
    return 0;
}
