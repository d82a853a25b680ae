/* Means over windows of channels-last maps (B, H, W, C). */
#include "columns.h"

enum { BLOCK = 1 << 10 }; /* channels of a job */

typedef struct {
    int64_t b, h, w, c;
    int64_t out_h, out_w, window_h, window_w, step_h, step_w, top, left;
    int64_t counts_pad; /* whether pixels of the padding count as zeros */
} AveragePoolPlan;

typedef struct {
    const AveragePoolPlan *plan;
    const float *x;
    float *y;
} AveragePool;

/* Of the window that begins at `start` the pixels inside a map of `size`. */
static int64_t clip(int64_t *start, int64_t window, int64_t size)
{
    int64_t end = least(*start + window, size);
    *start = most(*start, 0);
    return most(end - *start, 0);
}

/* Adds n pixels of a row, and of the next one: at most four additions one after the other are in float32. */
static inline __attribute__((always_inline)) void add_pixels(const float *x, int n, int64_t step, int64_t below,
                                                             int64_t width, double *sums)
{
    int64_t c = 0;
    for (; c + 2 * LANES <= width; c += 2 * LANES) {
        Full sum = {0};
        for (int row = 0; row < 2; row++) {
            const float *from = x + c + row * below;
            if (row && !below)
                break;
            Full first = load(from), second = n > 1 ? load(from + step) : (Full){0};
            _Pragma("GCC unroll 8") for (int j = 2; j < n; j++)
            {
                if (j % 2)
                    second += load(from + j * step);
                else
                    first += load(from + j * step);
            }
            sum = row ? sum + (first + second) : first + second;
        }
        store_double(sums + c, load_double(sums + c) + widened(low_half(sum)));
        store_double(sums + c + LANES, load_double(sums + c + LANES) + widened(high_half(sum)));
    }
    for (; c < width; c++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += x[c + j * step] + (below ? x[c + below + j * step] : 0);
        sums[c] += sum;
    }
}

static void add_some_pixels(const float *x, int64_t n, int64_t step, int64_t below, int64_t width, double *sums)
{
    switch (n) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        add_pixels(x, n, step, below, width, sums);                                                                    \
        break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
    default:
        add_pixels(x, 8, step, below, width, sums);
    }
}

static void pixel_job(void *what, int64_t job)
{
    const AveragePool *pool = what;
    const AveragePoolPlan *plan = pool->plan;
    int64_t c = plan->c, n_block = parts_of(c, BLOCK), first = job % n_block * BLOCK, width = least(c - first, BLOCK);
    job /= n_block;
    int64_t row = job / plan->out_w % plan->out_h * plan->step_h - plan->top;
    int64_t column = job % plan->out_w * plan->step_w - plan->left;
    int64_t rows = clip(&row, plan->window_h, plan->h), columns = clip(&column, plan->window_w, plan->w);
    double share = 1 / (double)(plan->counts_pad ? plan->window_h * plan->window_w : most(rows * columns, 1));
    const float *x = pool->x + ((job / plan->out_w / plan->out_h * plan->h + row) * plan->w + column) * c + first;
    float *y = pool->y + job * c + first;
    double sums[BLOCK];
    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int64_t r = 0; r < rows; r += 2, x += 2 * plan->w * c)
        for (int64_t j = 0; j < columns; j += 8)
            add_some_pixels(x + j * c, least(columns - j, 8), c, r + 1 < rows ? plan->w * c : 0, width, sums);
    for (int64_t k = 0; k < width; k++)
        y[k] = (float)(sums[k] * share);
}

/* arrays: x, y */
KERNEL(average_pool)(const AveragePoolPlan *plan, void *const *arrays, int threads)
{
    AveragePool pool = {plan, arrays[0], arrays[1]};
    int64_t n = plan->b * plan->out_h * plan->out_w, size = n * plan->window_h * plan->window_w * plan->c;
    run_jobs(pixel_job, &pool, n * parts_of(plan->c, BLOCK), size < SMALL ? 1 : threads);
    return 0;
}
