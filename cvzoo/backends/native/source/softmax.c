/* Softmax along long rows, whose exponentials are added in double. */
#include "softmax.h"

typedef struct {
    int64_t rows, n;
} SoftmaxPlan;

typedef struct {
    const SoftmaxPlan *plan;
    const float *x;
    float *y;
} Softmax;

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
