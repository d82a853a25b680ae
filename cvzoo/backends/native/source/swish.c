/* Swish, x / (1 + e^(-alpha x)), in one pass. */
#include "exponential.h"

enum { JOB = 1 << 14 }; /* numbers */

typedef struct {
    int64_t n;
    double alpha; /* above 0 */
} SwishPlan;

typedef struct {
    const SwishPlan *plan;
    const float *x;
    float *y;
} Swish;

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

/* 2^k, for exponents from -87 to 88, is a number with all its digits. Below, the result stays at that of -88, which is
-5e-37 with alpha 1; above, it is x. Off by 2.5e-7 of the result at most. */
static inline Full swish_of(Full x, Full alpha, Full lowest, Full highest)
{
    x = larger(lowest, x);
    Full shifted, p = remainder_power(smaller(highest, x) * -alpha, &shifted);
    return x / (1 + (Full)((FullBits)p + ((FullBits)shifted << 23)));
}

static void swish_job(void *what, int64_t job)
{
    const Swish *all = what;
    const Full zero = {0}, alpha = zero + (float)all->plan->alpha;
    const Full lowest = zero - (float)(88 / all->plan->alpha), highest = zero + (float)(87 / all->plan->alpha);
    int64_t k = job * JOB, end = least(k + JOB, all->plan->n);
    const float *x = all->x;
    float *y = all->y;
    for (; k + UNROLLED * WIDTH <= end; k += UNROLLED * WIDTH)
        EACH(j) store(y + k + j * WIDTH, swish_of(load(x + k + j * WIDTH), alpha, lowest, highest));
    for (; k < end; k += WIDTH) {
        size_t size = (size_t)least(WIDTH, end - k) * sizeof *x;
        float few[WIDTH] = {0};
        memcpy(few, x + k, size);
        store(few, swish_of(load(few), alpha, lowest, highest));
        memcpy(y + k, few, size);
    }
}

/* arrays: x, y (may be x) */
KERNEL(swish)(const SwishPlan *plan, void *const *arrays, int threads)
{
    Swish all = {plan, arrays[0], arrays[1]};
    run_jobs(swish_job, &all, parts_of(plan->n, JOB), plan->n < SMALL ? 1 : threads);
    return 0;
}
