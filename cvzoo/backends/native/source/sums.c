/* Sums of float32 arrays along axes, however they lie, added in double. */
#include "columns.h"

enum {
    MOST_AXES = 12,
    BLOCK = 1 << 11, /* results that are added side by side */
    MOST_CHUNKS = 16,
};

/* The axes that are kept and those that are summed, of each kind the innermost (`width`, `run`) apart. */
typedef struct {
    int64_t n_kept, kept[MOST_AXES], kept_step[MOST_AXES];
    int64_t n_summed, summed[MOST_AXES], summed_step[MOST_AXES];
    int64_t width, width_step, run, run_step;
    double divisor;
} SumPlan;

typedef struct {
    const SumPlan *plan;
    const float *x;
    float *y;
    double *parts;
    int64_t n_kept, n_term, group, n_block, n_chunk;
} Sum;

static int64_t offset_of(int64_t k, int64_t n, const int64_t *sizes, const int64_t *steps)
{
    int64_t offset = 0;
    for (int64_t axis = n - 1; axis >= 0; axis--) {
        offset += k % sizes[axis] * steps[axis];
        k /= sizes[axis];
    }
    return offset;
}

static double add_row(const float *x, int64_t n)
{
    double sum = 0;
    int64_t k = 0;
    if (n >= LANES) {
        Wide s[UNROLLED] = {{0}};
        for (; k + 4 * TILE <= n; k += 4 * TILE)
            HALVES(j)
            {
                Full four = add_four(x + k + 2 * j * LANES, TILE);
                s[2 * j] += widened(low_half(four)), s[2 * j + 1] += widened(high_half(four));
            }
        for (; k + TILE <= n; k += TILE)
            EACH(j) s[j] += load_wide(x + k + j * LANES);
        for (; k + LANES <= n; k += LANES)
            s[0] += load_wide(x + k);
        s[0] = (s[0] + s[1]) + (s[2] + s[3]);
        for (int lane = 0; lane < LANES; lane++)
            sum += s[0][lane];
    }
    for (; k < n; k++)
        sum += x[k];
    return sum;
}

static void add_block(const SumPlan *plan, const float *x, int64_t m, int64_t width, double *sums)
{
    int64_t step = plan->width_step, along = plan->run_step;
    if (step == 1 && width > 1) {
        add_columns(x, m, along, width, sums);
    } else if (along == 1) {
        for (int64_t j = 0; j < width; j++)
            sums[j] += add_row(x + j * step, m);
    } else {
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < width; j++)
                sums[j] += x[r * along + j * step];
    }
}

/* Terms `begin` to `end` of the results from `first` on, `width` of them, that stand in row k of the kept axes. */
static void add_terms(const Sum *sum, int64_t k, int64_t first, int64_t width, int64_t begin, int64_t end, double *sums)
{
    const SumPlan *plan = sum->plan;
    const float *x = sum->x + offset_of(k, plan->n_kept, plan->kept, plan->kept_step) + first * plan->width_step;
    for (int64_t term = begin; term < end;) {
        int64_t inner = term % plan->run, m = least(plan->run - inner, end - term);
        int64_t outer = offset_of(term / plan->run, plan->n_summed, plan->summed, plan->summed_step);
        add_block(plan, x + outer + inner * plan->run_step, m, width, sums);
        term += m;
    }
}

static void sum_job(void *what, int64_t job)
{
    const Sum *sum = what;
    int64_t chunk = job % sum->n_chunk, block = job / sum->n_chunk % sum->n_block;
    int64_t group = job / sum->n_chunk / sum->n_block * sum->group;
    int64_t begin = sum->n_term * chunk / sum->n_chunk, end = sum->n_term * (chunk + 1) / sum->n_chunk;
    int64_t first = block * BLOCK, all = sum->plan->width, width = least(BLOCK, all - first);
    double sums[BLOCK], share = 1 / sum->plan->divisor;
    for (int64_t k = group; k < least(group + sum->group, sum->n_kept); k++) {
        memset(sums, 0, (size_t)width * sizeof *sums);
        add_terms(sum, k, first, width, begin, end, sums);
        if (sum->n_chunk > 1) {
            memcpy(sum->parts + (chunk * sum->n_kept + k) * all + first, sums, (size_t)width * sizeof *sums);
        } else {
            for (int64_t j = 0; j < width; j++)
                sum->y[k * all + first + j] = (float)(sums[j] * share);
        }
    }
}

static void join_chunks(const Sum *sum)
{
    int64_t n = sum->n_kept * sum->plan->width;
    for (int64_t j = 0; j < n; j++) {
        double total = 0;
        for (int64_t chunk = 0; chunk < sum->n_chunk; chunk++)
            total += sum->parts[chunk * n + j];
        sum->y[j] = (float)(total * (1 / sum->plan->divisor));
    }
}

/* arrays: x, and y with the kept axes one within the other in the plan's order */
KERNEL(sum)(const SumPlan *plan, void *const *arrays, int threads)
{
    Sum sum = {plan, arrays[0], arrays[1], NULL, 1, plan->run, 1, parts_of(plan->width, BLOCK), 1};
    for (int64_t axis = 0; axis < plan->n_kept; axis++)
        sum.n_kept *= plan->kept[axis];
    for (int64_t axis = 0; axis < plan->n_summed; axis++)
        sum.n_term *= plan->summed[axis];
    int64_t size = sum.n_kept * plan->width * sum.n_term;
    sum.group = most(SMALL / 2 / (least(plan->width, BLOCK) * sum.n_term), 1);
    int64_t n_job = parts_of(sum.n_kept, sum.group) * sum.n_block;
    /* of each result's own terms and its neighbours: an image's sums have the same bits alone and in a batch. Results whose
    terms are contiguous are no neighbours: among them may be those of other images */
    int64_t terms = sum.n_term * (plan->width_step == 1 ? plan->width : 1);
    sum.n_chunk = most(least(least(terms / (4 * SMALL), MOST_CHUNKS), sum.n_term / 64), 1);
    if (sum.n_chunk > 1) {
        sum.parts = malloc((size_t)(sum.n_chunk * sum.n_kept * plan->width) * sizeof *sum.parts);
        if (!sum.parts)
            return 1;
    }
    run_jobs(sum_job, &sum, n_job * sum.n_chunk, size < SMALL ? 1 : threads);
    if (sum.n_chunk > 1)
        join_chunks(&sum);
    free(sum.parts);
    return 0;
}

/* --- running sums ------------------------------------------------------------------------------------------------ */

typedef struct {
    int64_t outer, n, inner; /* the array lies as (outer, n, inner), and is summed along n */
} RunningPlan;

typedef struct {
    const RunningPlan *plan;
    const float *x;
    float *y;
    int64_t group, n_block;
} Running;

enum { ROWS = 8 }; /* side by side: additions one after the other would wait for each other */

static void run_along(const float *x, float *y, int64_t n, int64_t rows)
{
    double sums[ROWS] = {0};
    for (int64_t j = 0; rows == ROWS && j < n; j++)
        _Pragma("GCC unroll 8") for (int64_t r = 0; r < ROWS; r++) y[r * n + j] = (float)(sums[r] += x[r * n + j]);
    for (int64_t r = 0; rows < ROWS && r < rows; r++)
        for (int64_t j = 0; j < n; j++)
            y[r * n + j] = (float)(sums[r] += x[r * n + j]);
}

static void run_down(const float *x, float *y, int64_t n, int64_t step, int64_t width)
{
    int64_t k = 0;
    for (; k + TILE <= width; k += TILE) {
        Wide s[UNROLLED] = {{0}};
        for (int64_t at = k; at < k + n * step; at += step)
            EACH(i) {
                s[i] += load_wide(x + at + i * LANES);
                store_narrow(y + at + i * LANES, s[i]);
            }
    }
    for (; k + 4 <= width; k += 4) {
        double s[4] = {0};
        for (int64_t at = k; at < k + n * step; at += step)
            _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) y[at + i] = (float)(s[i] += x[at + i]);
    }
    for (; k < width; k++) {
        double sum = 0;
        for (int64_t at = k; at < k + n * step; at += step)
            y[at] = (float)(sum += x[at]);
    }
}

static void running_job(void *what, int64_t job)
{
    const Running *all = what;
    int64_t n = all->plan->n, inner = all->plan->inner, first = job % all->n_block * BLOCK;
    int64_t begin = job / all->n_block * all->group, end = least(begin + all->group, all->plan->outer);
    for (int64_t k = begin, some = 1; k < end; k += some) {
        int64_t at = k * n * inner + first;
        some = inner == 1 ? least(ROWS, end - k) : 1;
        if (inner == 1)
            run_along(all->x + at, all->y + at, n, some);
        else
            run_down(all->x + at, all->y + at, n, inner, least(BLOCK, inner - first));
    }
}

/* arrays: x, y, which lies as x does */
KERNEL(running_sum)(const RunningPlan *plan, void *const *arrays, int threads)
{
    Running all = {plan, arrays[0], arrays[1], 1, parts_of(plan->inner, BLOCK)};
    int64_t each = plan->n * least(plan->inner, BLOCK);
    all.group = parts_of(most(SMALL / 2 / each, 1), ROWS) * ROWS;
    int64_t n_job = parts_of(plan->outer, all.group) * all.n_block;
    run_jobs(running_job, &all, n_job, plan->outer * plan->n * plan->inner < SMALL ? 1 : threads);
    return 0;
}
