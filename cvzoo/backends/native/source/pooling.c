/* Means over windows of channels-last maps (B, H, W, C). */
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

/* --- windows that share no pixels, of channels that fill registers ------------------------------------------------ */

enum { ROWS_TOGETHER = 4, PIXELS_TOGETHER = 28 }; /* added in float32, six additions deep: 3.6e-7 is lost at most */

/* The sums of n pixels, of `wide` registers. */
static inline __attribute__((always_inline)) void add_pixels(const float *x, int64_t n, int wide, int64_t c, Full *sums)
{
    int64_t p = n % 4 ? n % 4 : 4;
    _Pragma("GCC unroll 8") for (int k = 0; k < wide; k++)
        sums[k] = p == 4 ? add_four(x + k * 2 * LANES, c) : add_less(x + k * 2 * LANES, (int)p, c);
    for (; p < n; p += 4)
        _Pragma("GCC unroll 8") for (int k = 0; k < wide; k++) sums[k] += add_four(x + p * c + k * 2 * LANES, c);
}

/* A row of a window: n pixels from x on, and some of their channels. */
typedef struct {
    const float *x;
    int64_t c, channels;
    int is_first; /* whether sums begin with it */
} PixelRow;

static inline __attribute__((always_inline)) void add_pixel_strips(const PixelRow *row, int64_t n, int wide,
                                                                   int64_t *first, float *sums)
{
    const float *ahead = row->x + *first * n + AHEAD;
    for (; *first + wide * 2 * LANES <= row->channels; *first += wide * 2 * LANES) {
        const float *x = row->x + *first;
        Full s[WIDE_STRIP];
        keep_pointer(x);
        for (int64_t k = 0; k < n * wide * 2 * LANES; k += 16, ahead += 16)
            __builtin_prefetch(ahead);
        add_pixels(x, n, wide, row->c, s);
        _Pragma("GCC unroll 8") for (int k = 0; k < wide; k++)
        {
            float *sum = sums + *first + k * 2 * LANES;
            store(sum, row->is_first ? s[k] : s[k] + load(sum));
        }
    }
}

/* sums[k] (+)= channel k of n pixels, 16 at most */
static inline __attribute__((always_inline)) void add_pixel_row(const PixelRow *row, int64_t n, float *sums)
{
    int64_t c = 0;
    if (n == 0) { /* nothing but padding */
        if (row->is_first)
            memset(sums, 0, (size_t)row->channels * sizeof *sums);
        return;
    }
    if (WIDE_STRIP > UNROLLED)
        add_pixel_strips(row, n, WIDE_STRIP, &c, sums);
    add_pixel_strips(row, n, UNROLLED, &c, sums);
    add_pixel_strips(row, n, 2, &c, sums);
    add_pixel_strips(row, n, 1, &c, sums);
    for (; c < row->channels; c++) {
        double sum = row->is_first ? 0 : sums[c];
        for (int64_t p = 0; p < n; p++)
            sum += row->x[p * row->c + c];
        sums[c] = (float)sum;
    }
}

static void add_to_double(const float *some, int64_t n, double *sums)
{
    int64_t k = 0;
    for (; k + 2 * LANES <= n; k += 2 * LANES)
        add_wide(sums + k, load(some + k));
    for (; k < n; k++)
        sums[k] += some[k];
}

/* What a job computes of them: some windows of a row, and channels. */
typedef struct {
    const float *x; /* the first row that the windows see, from the first of the channels on */
    int64_t rows, first, n, channels;
} Apart;

/* Sums of the windows, row by row: memory is read as it lies. */
static void add_windows(const AveragePoolPlan *plan, const Apart *own, double *sums)
{
    float some[ROOM];
    int64_t c = plan->c, together = most(least(ROWS_TOGETHER, PIXELS_TOGETHER / plan->window_w), 1);
    for (int64_t r = 0; r < own->rows; r++) {
        for (int64_t j = 0; j < own->n; j++) {
            int64_t column = (own->first + j) * plan->step_w - plan->left, n = clip(&column, plan->window_w, plan->w);
            PixelRow row = {own->x + (r * plan->w + column) * c, c, own->channels, r % together == 0};
            if (n == 7) {
                add_pixel_row(&row, 7, some + j * own->channels);
                continue;
            }
            for (; n > AT_ONCE; n -= AT_ONCE, row.x += AT_ONCE * c) {
                add_pixel_row(&row, AT_ONCE, some + j * own->channels);
                add_to_double(some + j * own->channels, own->channels, sums + j * own->channels);
            }
            add_pixel_row(&row, n, some + j * own->channels);
        }
        if (r % together == together - 1 || r == own->rows - 1)
            add_to_double(some, own->n * own->channels, sums);
    }
}

static void apart_job(void *what, int64_t job)
{
    const AveragePool *pool = what;
    const AveragePoolPlan *plan = pool->plan;
    int64_t c = plan->c, n_block = parts_of(c, ROOM), block = job % n_block * ROOM;
    job /= n_block;
    int64_t row = job % plan->out_h * plan->step_h - plan->top, rows = clip(&row, plan->window_h, plan->h);
    const float *x = pool->x + (job / plan->out_h * plan->h + row) * plan->w * c + block;
    Apart own = {x, rows, 0, 0, least(ROOM, c - block)};
    for (int64_t some = ROOM / own.channels; own.first < plan->out_w; own.first += some) {
        double sums[ROOM];
        own.n = least(some, plan->out_w - own.first);
        memset(sums, 0, (size_t)(own.n * own.channels) * sizeof *sums);
        add_windows(plan, &own, sums);
        for (int64_t j = 0; j < own.n; j++) {
            int64_t column = (own.first + j) * plan->step_w - plan->left;
            int64_t columns = clip(&column, plan->window_w, plan->w);
            double n = (double)(plan->counts_pad ? plan->window_h * plan->window_w : most(rows * columns, 1));
            float *y = pool->y + (job * plan->out_w + own.first + j) * c + block;
            fold_window(sums + j * own.channels, 1, own.channels, 1 / n, y);
        }
    }
}

/* arrays: x, y */
KERNEL(average_pool)(const AveragePoolPlan *plan, void *const *arrays, int threads)
{
    AveragePool pool = {plan, arrays[0], arrays[1], least(plan->c, most(ROOM / plan->window_w, 1))};
    int64_t rows = plan->b * plan->out_h, size = rows * plan->out_w * plan->window_h * plan->window_w * plan->c;
    if (plan->c >= 2 * LANES && plan->step_h >= plan->window_h && plan->step_w >= plan->window_w) {
        run_jobs(apart_job, &pool, rows * parts_of(plan->c, ROOM), size < SMALL ? 1 : threads);
        return 0;
    }
    run_jobs(row_job, &pool, rows * parts_of(plan->c, pool.channels), size < SMALL ? 1 : threads);
    return 0;
}
