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

static void swish_job(void *what, int64_t job)
{
    const Swish *all = what;
    const double alpha = all->plan->alpha;
    int64_t k = job * JOB, end = least(k + JOB, all->plan->n);
    const float *x = all->x;
    float *y = all->y;
    for (; k + UNROLLED * WIDTH <= end; k += UNROLLED * WIDTH)
        EACH(j) store(y + k + j * WIDTH, logistic(1, alpha, load(x + k + j * WIDTH)));
    for (; k < end; k += WIDTH) {
        size_t size = (size_t)least(WIDTH, end - k) * sizeof *x;
        float few[WIDTH] = {0};
        memcpy(few, x + k, size);
        store(few, logistic(1, alpha, load(few)));
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
