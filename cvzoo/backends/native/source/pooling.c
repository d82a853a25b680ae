/* Means over windows of channels-last maps (B, H, W, C) of few channels: of many oneDNN's are as fast. */
#include "columns.h"

enum {
    ROOM = 1 << 12, /* sums of columns that lie side by side; no window is wider */
};

typedef struct {
    int64_t b, h, w, c;
    int64_t out_h, out_w, window_h, window_w, step_h, step_w, top, left;
    int64_t counts_pad; /* whether pixels of the padding count as zeros */
} AveragePoolPlan;

typedef struct {
    const AveragePoolPlan *plan;
    const float *x;
    float *y;
    int64_t channels; /* of a job */
} AveragePool;

/* Of the window that begins at `start` the pixels inside a map of `size`. */
static int64_t clip(int64_t *start, int64_t window, int64_t size)
{
    int64_t end = least(*start + window, size);
    *start = most(*start, 0);
    return most(end - *start, 0);
}

/* What a job computes: windows of a row of the result, and channels. */
typedef struct {
    const float *x; /* the first row that the windows see, from the first of the channels on */
    int64_t rows, first, n, from, width, channels;
} Windows;

/* Sums of the windows' columns, pixel by pixel. */
static void add_window_columns(const AveragePoolPlan *plan, const Windows *own, double *sums)
{
    int64_t c = plan->c, step = plan->w * c;
    memset(sums, 0, (size_t)(own->width * own->channels) * sizeof *sums);
    if (own->channels == c) {
        add_columns(own->x + own->from * c, own->rows, step, own->width * c, sums);
        return;
    }
    for (int64_t j = 0; j < own->width; j++)
        add_columns(own->x + (own->from + j) * c, own->rows, step, own->channels, sums + j * own->channels);
}

/* y[k] = share * the sum of sums[j * step + k] for n pixels j */
static void fold_window(const double *sums, int64_t n, int64_t step, double share, float *y)
{
    int64_t k = 0;
    for (; k + TILE <= step; k += TILE) {
        Wide s[UNROLLED] = {{0}};
        for (int64_t j = 0; j < n; j++)
            EACH(i) s[i] += load_double(sums + j * step + k + i * LANES);
        EACH(i) store_narrow(y + k + i * LANES, s[i] * share);
    }
    for (; k < step; k++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += sums[j * step + k];
        y[k] = (float)(sum * share);
    }
}

/* Columns of all windows of a row first, then rows of their sums: what windows share is added once. */
static void row_job(void *what, int64_t job)
{
    const AveragePool *pool = what;
    const AveragePoolPlan *plan = pool->plan;
    int64_t c = plan->c, n_block = parts_of(c, pool->channels), block = job % n_block * pool->channels;
    job /= n_block;
    int64_t row = job % plan->out_h * plan->step_h - plan->top, rows = clip(&row, plan->window_h, plan->h);
    Windows own = {pool->x + (job / plan->out_h * plan->h + row) * plan->w * c + block, rows, 0, 0, 0, 0,
                   least(pool->channels, c - block)};
    int64_t some = (ROOM / own.channels - plan->window_w) / plan->step_w + 1;
    for (; own.first < plan->out_w; own.first += some) {
        double sums[ROOM];
        own.n = least(some, plan->out_w - own.first);
        own.from = own.first * plan->step_w - plan->left;
        own.width = clip(&own.from, (own.n - 1) * plan->step_w + plan->window_w, plan->w);
        add_window_columns(plan, &own, sums);
        for (int64_t j = own.first; j < own.first + own.n; j++) {
            int64_t column = j * plan->step_w - plan->left, columns = clip(&column, plan->window_w, plan->w);
            double n = (double)(plan->counts_pad ? plan->window_h * plan->window_w : most(rows * columns, 1));
            fold_window(sums + (column - own.from) * own.channels, columns, own.channels, 1 / n,
                        pool->y + (job * plan->out_w + j) * c + block);
        }
    }
}

/* arrays: x, y */
KERNEL(average_pool)(const AveragePoolPlan *plan, void *const *arrays, int threads)
{
    AveragePool pool = {plan, arrays[0], arrays[1], least(plan->c, most(ROOM / plan->window_w, 1))};
    int64_t rows = plan->b * plan->out_h, size = rows * plan->out_w * plan->window_h * plan->window_w * plan->c;
    run_jobs(row_job, &pool, rows * parts_of(plan->c, pool.channels), size < SMALL ? 1 : threads);
    return 0;
}
