/* Gradients of the filters of depthwise convolutions, channels-last: each channel has a filter of its own. */
#include "columns.h"

typedef struct {
    int64_t b, c, h, w, out_h, out_w, window_h, window_w;
    int64_t step_h, step_w, dilate_h, dilate_w, top, left;
} DepthwisePlan;

enum { RUN = 16, TAPS = 3, MOST_CHUNKS = 32, WIDEST_UNIT = 256 };

/* How many numbers of a row are added side by side: all channels of a pixel, or of as many pixels as fill registers,
where windows take steps of one pixel. */
static int64_t unit_of(const DepthwisePlan *plan)
{
    int64_t unit = plan->c;
    while (plan->step_w == 1 && unit % (2 * LANES) && unit <= WIDEST_UNIT)
        unit += plan->c;
    return unit <= WIDEST_UNIT ? unit : plan->c;
}

typedef struct {
    const DepthwisePlan *plan;
    const float *x, *gy;
    double *parts; /* of each chunk (window_h, window_w, unit) */
    int64_t n_chunk, unit;
} Depthwise;

/* Up to three taps of a row of the filter: which pixels of the result's row each sees on the map, and where. */
typedef struct {
    const float *x, *gy; /* what the first tap would see from pixel 0, and the gradients of the result's row */
    int64_t step, apart, c, unit;
    int64_t first[TAPS], end[TAPS];
    int64_t from, to, inner, outer; /* pixels that any tap sees, and those that all see */
} Taps;

/* sums[tap][c] += gy[j][c] * x[j * step + tap * apart][c] for the pixels j, in float32 over a run of them. */
static inline __attribute__((always_inline)) void add_taps(const Taps *at, int taps, double *sums)
{
    int64_t c = at->c, step = at->step, apart = at->apart, k = 0;
    for (; k + 2 * LANES <= c; k += 2 * LANES)
        for (int64_t begin = at->from; begin < at->to; begin += RUN) {
            int64_t end = least(begin + RUN, at->to);
            int64_t inner = least(most(at->inner, begin), end), outer = least(most(at->outer, inner), end);
            const float *x = at->x + k, *gy = at->gy + k;
            Full few[TAPS] = {{0}};
            for (int64_t j = inner; j < outer; j++) {
                Full g = load(gy + j * c);
                _Pragma("GCC unroll 3") for (int tap = 0; tap < taps; tap++)
                    few[tap] += g * load(x + j * step + tap * apart);
            }
            _Pragma("GCC unroll 3") for (int tap = 0; tap < taps; tap++)
            {
                for (int64_t j = most(at->first[tap], begin); j < least(inner, at->end[tap]); j++)
                    few[tap] += load(gy + j * c) * load(x + j * step + tap * apart);
                for (int64_t j = most(at->first[tap], outer); j < least(end, at->end[tap]); j++)
                    few[tap] += load(gy + j * c) * load(x + j * step + tap * apart);
            }
            _Pragma("GCC unroll 3") for (int tap = 0; tap < taps; tap++)
            {
                double *to = sums + tap * c + k;
                store_double(to, load_double(to) + widened(low_half(few[tap])));
                store_double(to + LANES, load_double(to + LANES) + widened(high_half(few[tap])));
            }
        }
    for (; k < c; k++)
        for (int tap = 0; tap < taps; tap++) {
            double sum = 0;
            for (int64_t j = at->first[tap]; j < at->end[tap]; j++)
                sum += (double)at->gy[j * c + k] * at->x[j * step + tap * apart + k];
            sums[tap * c + k] += sum;
        }
}

/* The same where pixels lie one behind the other in both rows: registers are filled by channels of several. */
static inline __attribute__((always_inline)) void add_joined_taps(const Taps *at, int taps, double *sums)
{
    int64_t c = at->c, unit = at->unit, apart = at->apart, outer = most(at->outer, at->inner);
    int64_t n = (outer - at->inner) * c, whole = n - n % (2 * LANES);
    const float *x = at->x + at->inner * c, *gy = at->gy + at->inner * c;
    for (int64_t first = 0; first < least(unit, whole); first += 2 * LANES)
        for (int64_t begin = first; begin < whole; begin += RUN * unit) {
            Full few[TAPS] = {{0}};
            for (int64_t k = begin; k < least(begin + RUN * unit, whole); k += unit) {
                Full g = load(gy + k);
                _Pragma("GCC unroll 3") for (int tap = 0; tap < taps; tap++) few[tap] += g * load(x + k + tap * apart);
            }
            _Pragma("GCC unroll 3") for (int tap = 0; tap < taps; tap++) add_wide(sums + tap * unit + first, few[tap]);
        }
    for (int tap = 0; tap < taps; tap++) {
        double *to = sums + tap * unit;
        for (int64_t k = whole; k < n; k++)
            to[k % unit] += (double)gy[k] * x[k + tap * apart];
        for (int64_t k = at->first[tap] * c; k < least(at->inner, at->end[tap]) * c; k++)
            to[k % c] += (double)at->gy[k] * at->x[k + tap * apart];
        for (int64_t k = most(at->first[tap], outer) * c; k < at->end[tap] * c; k++)
            to[k % c] += (double)at->gy[k] * at->x[k + tap * apart];
    }
}

/* One row of the result with one row of the map. */
static void add_row_pair(const DepthwisePlan *plan, int64_t unit, const float *x, const float *gy, double *sums)
{
    int64_t c = plan->c;
    for (int64_t tap = 0; tap < plan->window_w; tap += TAPS) {
        int taps = (int)least(TAPS, plan->window_w - tap);
        int64_t offset = tap * plan->dilate_w - plan->left;
        Taps at = {.x = x + offset * c, .gy = gy, .step = plan->step_w * c, .apart = plan->dilate_w * c, .c = c,
                   .unit = unit, .from = plan->out_w, .outer = plan->out_w};
        for (int k = 0; k < taps; k++, offset += plan->dilate_w) {
            at.first[k] = offset < 0 ? parts_of(-offset, plan->step_w) : 0;
            at.end[k] = offset < plan->w ? least(parts_of(plan->w - offset, plan->step_w), plan->out_w) : 0;
            at.from = least(at.from, at.first[k]), at.to = most(at.to, at.end[k]);
            at.inner = most(at.inner, at.first[k]), at.outer = least(at.outer, at.end[k]);
        }
        if (unit > c && taps == TAPS)
            add_joined_taps(&at, TAPS, sums + tap * unit);
        else if (unit > c)
            add_joined_taps(&at, taps, sums + tap * unit);
        else if (taps == TAPS)
            add_taps(&at, TAPS, sums + tap * c);
        else
            add_taps(&at, taps, sums + tap * c);
    }
}

static void rows_job(void *what, int64_t chunk)
{
    const Depthwise *all = what;
    const DepthwisePlan *plan = all->plan;
    int64_t n = plan->window_h * plan->window_w * all->unit, rows = plan->b * plan->out_h;
    double *sums = all->parts + chunk * n;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t r = rows * chunk / all->n_chunk; r < rows * (chunk + 1) / all->n_chunk; r++)
        for (int64_t i = 0; i < plan->window_h; i++) {
            int64_t row = r % plan->out_h * plan->step_h + i * plan->dilate_h - plan->top;
            if (row < 0 || row >= plan->h)
                continue;
            const float *x = all->x + (r / plan->out_h * plan->h + row) * plan->w * plan->c;
            add_row_pair(plan, all->unit, x, all->gy + r * plan->out_w * plan->c,
                         sums + i * plan->window_w * all->unit);
        }
}

/* arrays: x, gy, and the gradient (C, window_h, window_w) */
KERNEL(depthwise_weight_grad)(const DepthwisePlan *plan, void *const *arrays, int threads)
{
    Depthwise all = {plan, arrays[0], arrays[1], NULL, 1, unit_of(plan)};
    float *gw = arrays[2];
    int64_t taps = plan->window_h * plan->window_w, n = taps * all.unit, rows = plan->b * plan->out_h;
    int64_t size = rows * plan->out_w * plan->c;
    all.n_chunk = most(least(least(rows / 4, size / SMALL), MOST_CHUNKS), 1);
    all.parts = malloc((size_t)(all.n_chunk * n) * sizeof *all.parts);
    if (!all.parts)
        return 1;
    run_jobs(rows_job, &all, all.n_chunk, size < SMALL ? 1 : threads);
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t c = 0; c < plan->c; c++) {
            double sum = 0;
            for (int64_t part = tap * all.unit; part < all.n_chunk * n; part += n)
                for (int64_t k = c; k < all.unit; k += plan->c)
                    sum += all.parts[part + k];
            gw[c * taps + tap] = (float)sum;
        }
    free(all.parts);
    return 0;
}
