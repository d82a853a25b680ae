/* Means over windows of channels-last maps (B, H, W, C). */
#include "columns.h"

#ifndef __clang__ /* `join_chain` is called for turns in order: 0 writes `sum` first, 2 and 4 `other` */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

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
} Overlapping;

/* Sums of the windows' columns, pixel by pixel. */
static void add_window_columns(const AveragePoolPlan *plan, const Overlapping *own, double *sums)
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
    Overlapping own = {pool->x + (job / plan->out_h * plan->h + row) * plan->w * c + block, rows, 0, 0, 0, 0,
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

enum {
    CHAIN = 7, /* pixels that are added one after the other */
    CHAINS = 7, /* whose sums are added by pairs in float32: measured errors are at most 2.4e-7 */
    STRIP = LANES == 8 ? 8 : 16, /* registers side by side, of a window or of some that are narrow */
    MOST = 16,
    WIDE_PIXEL = 256, /* channels of which MOST are added at a time: fewer places are read in turn */
};
#define REGISTERS(k) _Pragma("GCC unroll 16") for (int k = 0; k < wide * windows; k++)
#define WINDOWS(j) _Pragma("GCC unroll 16") for (int j = 0; j < windows; j++)

/* Some windows of a row, all of one size. */
typedef struct {
    const float *x; /* the first pixel of the first */
    int64_t n, rows, columns, parts, c, next, next_row; /* parts: chains of a row; next: from a window to the next */
    double share;
    float *y;
} Windows;

/* Pixel by pixel with the same few instructions: the processor fetches ahead by what each of them read before. */
static inline __attribute__((always_inline)) void add_chain(const float *x, int64_t next, int64_t n, int wide,
                                                            int windows, int64_t c, Full *sums)
{
    const float *each[STRIP];
    WINDOWS(j) each[j] = x + j * next;
    REGISTERS(k) sums[k] = load(each[k / wide] + k % wide * 2 * LANES);
    _Pragma("GCC unroll 1") for (int64_t p = 1; p < n; p++)
    {
        WINDOWS(j)
        {
            each[j] += c;
            keep_pointer(each[j]);
        }
        REGISTERS(k) sums[k] += load(each[k / wide] + k % wide * 2 * LANES);
    }
}

/* ((0 + 1) + (2 + 3)) + ((4 + 5) + 6), of which `other` is to be added yet after 2, 4 and 5 */
static inline __attribute__((always_inline)) void join_chain(int turn, int wide, int windows, const Full *chain,
                                                             Full *sum, Full *other)
{
    switch (turn) {
    case 0: REGISTERS(k) sum[k] = chain[k]; break;
    case 1: REGISTERS(k) sum[k] += chain[k]; break;
    case 5: REGISTERS(k) other[k] += chain[k]; break;
    case 3:
    case 6: REGISTERS(k) sum[k] += other[k] + chain[k]; break;
    default: REGISTERS(k) other[k] = chain[k];
    }
}

static inline __attribute__((always_inline)) void put_means(const Windows *own, int64_t at, int wide, int windows,
                                                            const Full *sum, const Wide *total)
{
    REGISTERS(k)
    {
        float *y = own->y + at + k / wide * own->c + k % wide * 2 * LANES;
        store_narrow(y, (total ? total[2 * k] : widened(low_half(sum[k]))) * own->share);
        store_narrow(y + LANES, (total ? total[2 * k + 1] : widened(high_half(sum[k]))) * own->share);
    }
}

/* The means of so many windows, of `wide` registers of their channels from number `at` on. */
static inline __attribute__((always_inline)) void strip_means(const Windows *own, const float *x, int64_t at, int wide,
                                                              int windows, int is_long)
{
    Full chain[MOST], sum[MOST], other[MOST];
    Wide total[2 * MOST];
    const float *row = x, *pixel = x;
    int64_t left = own->columns;
    if (is_long)
        memset(total, 0, sizeof total);
    for (int64_t chains = own->rows * own->parts; chains > 0; chains -= CHAINS) {
        int last = (int)least(chains, CHAINS) - 1;
        _Pragma("GCC unroll 1") for (int turn = 0; turn <= last; turn++)
        {
            int64_t n = is_long ? least(left, CHAIN) : left;
            add_chain(pixel, own->next, n, wide, windows, own->c, chain);
            join_chain(turn, wide, windows, chain, sum, other);
            left -= n, pixel += n * own->c;
            if (!is_long || left == 0)
                left = own->columns, pixel = row += own->next_row;
        }
        if (last == 2 || last == 4 || last == 5)
            REGISTERS(k) sum[k] += other[k];
        if (!is_long)
            break;
        REGISTERS(k) total[2 * k] += widened(low_half(sum[k])), total[2 * k + 1] += widened(high_half(sum[k]));
    }
    put_means(own, at, wide, windows, sum, is_long ? total : NULL);
}

/* Of `wide` registers from channel *first on, as many as there are, in one window after the other. */
static inline __attribute__((always_inline)) void wide_strips(const Windows *own, int wide, int is_long, int64_t *first)
{
    int64_t size = wide * 2 * LANES, end = *first + (own->c - *first) / size * size;
    for (int64_t j = 0; j < (*first < end ? own->n : 0); j++)
        for (int64_t c = *first; c < end; c += size)
            strip_means(own, own->x + j * own->next + c, j * own->c + c, wide, 1, is_long);
    *first = end;
}

/* Of `wide` registers from channel *first on, if there are so many, in some windows at a time. */
static inline __attribute__((always_inline)) void narrow_strip(const Windows *own, int wide, int64_t *first)
{
    if (*first + wide * 2 * LANES > own->c)
        return;
    int64_t j = 0;
    for (; j + STRIP / wide <= own->n; j += STRIP / wide)
        strip_means(own, own->x + j * own->next + *first, j * own->c + *first, wide, STRIP / wide, 0);
    for (; j < own->n; j++)
        strip_means(own, own->x + j * own->next + *first, j * own->c + *first, wide, 1, 0);
    *first += wide * 2 * LANES;
}

static void short_means(const Windows *own, int64_t *first)
{
    if (MOST > STRIP && own->c >= WIDE_PIXEL)
        wide_strips(own, MOST, 0, first);
    wide_strips(own, STRIP, 0, first);
    if (STRIP > 8)
        narrow_strip(own, 8, first);
    narrow_strip(own, 4, first);
    narrow_strip(own, 2, first);
    narrow_strip(own, 1, first);
}

static void long_means(const Windows *own, int64_t *first)
{
    wide_strips(own, STRIP, 1, first);
    wide_strips(own, STRIP / 4, 1, first);
    wide_strips(own, 1, 1, first);
}

static void window_means(const Windows *own)
{
    void (*means)(const Windows *, int64_t *) = own->parts > 1 || own->rows > CHAINS ? long_means : short_means;
    int64_t c = 0;
    if (own->rows * own->columns == 0) { /* nothing but padding */
        memset(own->y, 0, (size_t)(own->n * own->c) * sizeof *own->y);
        return;
    }
    means(own, &c);
    if (c < own->c) { /* the last channels, some of them again */
        c = own->c - 2 * LANES;
        means(own, &c);
    }
}

/* A row of windows. */
static void apart_job(void *what, int64_t job)
{
    const AveragePool *pool = what;
    const AveragePoolPlan *plan = pool->plan;
    int64_t c = plan->c, row = job % plan->out_h * plan->step_h - plan->top;
    Windows own = {.rows = clip(&row, plan->window_h, plan->h), .c = c, .next = plan->step_w * c,
                   .next_row = plan->w * c};
    const float *x = pool->x + (job / plan->out_h * plan->h + row) * plan->w * c;
    for (int64_t j = 0; j < plan->out_w; j += own.n) {
        int64_t first = j * plan->step_w - plan->left, whole = (plan->w - plan->window_w - first) / plan->step_w + 1;
        own.n = first < 0 || first + plan->window_w > plan->w ? 1 : least(whole, plan->out_w - j);
        own.columns = clip(&first, plan->window_w, plan->w);
        own.parts = parts_of(own.columns, CHAIN);
        own.share = 1 / (double)(plan->counts_pad ? plan->window_h * plan->window_w : most(own.rows * own.columns, 1));
        own.x = x + first * c, own.y = pool->y + (job * plan->out_w + j) * c;
        window_means(&own);
    }
}

/* arrays: x, y */
KERNEL(average_pool)(const AveragePoolPlan *plan, void *const *arrays, int threads)
{
    AveragePool pool = {plan, arrays[0], arrays[1], least(plan->c, most(ROOM / plan->window_w, 1))};
    int64_t rows = plan->b * plan->out_h, size = rows * plan->out_w * plan->window_h * plan->window_w * plan->c;
    threads = size < SMALL ? 1 : threads;
    if (plan->c >= 2 * LANES && plan->step_h >= plan->window_h && plan->step_w >= plan->window_w)
        run_jobs(apart_job, &pool, rows, threads);
    else
        run_jobs(row_job, &pool, rows * parts_of(plan->c, pool.channels), threads);
    return 0;
}
