/* Selection of scores: probabilities above a threshold, and the best of each class. */
#include "softmax.h"

enum { STRIP = 256 }; /* rows of a job */

typedef struct {
    int64_t rows, n;
    float above, least; /* of a logit over that of the background: with less no probability is above */
} SoftmaxAbovePlan;

typedef struct {
    const SoftmaxAbovePlan *plan;
    const float *x;
    int64_t *pairs, *counts;
    float *scores;
    int failed;
} SoftmaxAbove;

static void strip_job(void *what, int64_t strip)
{
    SoftmaxAbove *all = what;
    int64_t n = all->plan->n, first = strip * STRIP, count = 0;
    int64_t *pairs = all->pairs + first * (n - 1);
    float *scores = all->scores + first * (n - 1), *prob = new_lines((size_t)n * sizeof *prob);
    all->counts[strip] = 0;
    if (!prob) {
        __atomic_store_n(&all->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t row = first; row < least(first + STRIP, all->plan->rows); row++) {
        const float *x = all->x + row * n;
        float best = largest(x + 1, n - 1);
        if (!(best - x[0] > all->plan->least)) /* most rows need no exponential */
            continue;
        float share = (float)(1 / exponentials(x, n, best > x[0] ? best : x[0], prob));
        for (int64_t k = 1; k < n; k++) {
            float score = prob[k] * share;
            pairs[count] = row * (n - 1) + k - 1;
            scores[count] = score;
            count += score > all->plan->above;
        }
    }
    all->counts[strip] = count;
    free(prob);
}

/* arrays: x (ROWS, N), logits, the background's first; pairs, ROWS * (N - 1) int64, and scores, as many; counts, of each
STRIP rows, the first of which becomes that of all. Pairs are row * (N - 1) + class, ascending. */
KERNEL(softmax_above)(const SoftmaxAbovePlan *plan, void *const *arrays, int threads)
{
    SoftmaxAbove all = {plan, arrays[0], .pairs = arrays[1], .scores = arrays[2], .counts = arrays[3]};
    int64_t strips = parts_of(plan->rows, STRIP), count = 0;
    run_jobs(strip_job, &all, strips, plan->rows * plan->n < SMALL ? 1 : threads);
    for (int64_t strip = 0; strip < strips; strip++) {
        int64_t from = strip * STRIP * (plan->n - 1), own = all.counts[strip];
        memmove(all.pairs + count, all.pairs + from, (size_t)own * sizeof *all.pairs);
        memmove(all.scores + count, all.scores + from, (size_t)own * sizeof *all.scores);
        count += own;
    }
    all.counts[0] = count;
    return all.failed;
}

typedef struct {
    int64_t n, parts, limit;
} BestOfPartsPlan;

/* The k-th of the n numbers from the greatest on, which are put into another order: Hoare's selection. */
static float kth_greatest(float *v, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        float a = v[low], b = v[low + (high - low) / 2], c = v[high];
        float pivot = a > b ? (b > c ? b : a > c ? c : a) : (a > c ? a : b > c ? c : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (v[i] > pivot)
                i++;
            while (v[j] < pivot)
                j--;
            if (i <= j) {
                float swapped = v[i];
                v[i++] = v[j], v[j--] = swapped;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return v[k];
    }
    return v[k];
}

/* arrays: scores (N,), none of them NaN; parts (N,) int32; (N,) int64, the indices of those that are among the `limit` of
highest scores of their part, of equals the first, ascending; their number. */
KERNEL(best_of_parts)(const BestOfPartsPlan *plan, void *const *arrays, int threads)
{
    const float *scores = arrays[0];
    const int32_t *parts = arrays[1];
    int64_t *kept = arrays[2], count = 0;
    int64_t *starts = calloc((size_t)plan->parts + 2, sizeof *starts);
    float *sorted = malloc((size_t)plan->n * sizeof *sorted + 1);
    float *bounds = malloc((size_t)plan->parts * sizeof *bounds + 1);
    (void)threads;
    int failed = !starts || !sorted || !bounds;
    if (!failed) {
        for (int64_t i = 0; i < plan->n; i++)
            starts[parts[i] + 2]++;
        for (int64_t part = 0; part < plan->parts; part++)
            starts[part + 2] += starts[part + 1];
        for (int64_t i = 0; i < plan->n; i++)
            sorted[starts[parts[i] + 1]++] = scores[i];
        for (int64_t part = 0; part < plan->parts; part++) { /* from here on the rooms for those that equal the bound */
            float *own = sorted + starts[part];
            int64_t size = starts[part + 1] - starts[part], room = plan->limit;
            bounds[part] = size > plan->limit ? kth_greatest(own, size, plan->limit - 1) : -__builtin_inff();
            for (int64_t i = 0; i < size; i++)
                room -= own[i] > bounds[part];
            starts[part] = room;
        }
        for (int64_t i = 0; i < plan->n; i++) {
            int32_t part = parts[i];
            int equal = scores[i] == bounds[part] && starts[part] > 0;
            starts[part] -= equal;
            kept[count] = i;
            count += equal || scores[i] > bounds[part];
        }
        *(int64_t *)arrays[3] = count;
    }
    free(starts);
    free(sorted);
    free(bounds);
    return failed;
}
