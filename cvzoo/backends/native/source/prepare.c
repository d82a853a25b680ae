/* Preprocessing of an image in one pass: bytes to float32, resizing by tables of weights, normalization, padding's place.
Strips of rows are normalized, added to rows of the result, and these to pixels, while they are in the cache. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off") /* each operation rounds as NumPy's does: the results have the same bits */
#endif
#include "native.h"

enum { CHANNELS = 3, STRIP = 16 /* rows of the result */ };

typedef struct {
    int64_t h, w, step_c, step_h, step_w; /* of the image, steps in numbers */
    int64_t is_bytes, has_mean, has_std, before;
    int64_t row_taps, column_taps; /* input pixels of a result's pixel; 0: the axis is not resized */
    int64_t new_h, new_w;          /* of the whole resized image */
    int64_t first_row, rows, first_column, columns; /* the part of it that is written */
    int64_t out_step_h, out_step_w;                 /* its channels are neighbors */
    float factor, divisor, shift;
} PreparePlan;

typedef struct {
    const PreparePlan *plan;
    const void *image;
    float *out;
    const int32_t *row_index, *column_index; /* [tap][pixel], and [tap][pixel and channel], in numbers of a row */
    const float *row_weight, *column_weight;
    const float *mean, *std; /* of the channels, again and again */
    int failed;
} Prepare;

static inline void normalize(const PreparePlan *plan, const Prepare *all, float *x, int64_t n)
{
    if (plan->has_mean)
        for (int64_t k = 0; k < n; k++)
            x[k] -= all->mean[k];
    if (plan->has_std)
        for (int64_t k = 0; k < n; k++)
            x[k] /= all->std[k];
}

/* A row of the image, channels next to each other. */
static void read_row(const PreparePlan *plan, const Prepare *all, int64_t row, float *x)
{
    int64_t start = row * plan->step_h, n = plan->w * CHANNELS;
    if (plan->is_bytes) {
        const uint8_t *bytes = (const uint8_t *)all->image + start;
        if (plan->step_c == 1 && plan->step_w == CHANNELS)
            for (int64_t k = 0; k < n; k++)
                x[k] = bytes[k];
        else
            for (int c = 0; c < CHANNELS; c++)
                for (int64_t k = 0; k < plan->w; k++)
                    x[k * CHANNELS + c] = bytes[c * plan->step_c + k * plan->step_w];
    } else {
        const float *floats = (const float *)all->image + start;
        if (plan->step_c == 1 && plan->step_w == CHANNELS)
            memcpy(x, floats, (size_t)n * sizeof *x);
        else
            for (int c = 0; c < CHANNELS; c++)
                for (int64_t k = 0; k < plan->w; k++)
                    x[k * CHANNELS + c] = floats[c * plan->step_c + k * plan->step_w];
    }
    if (plan->before)
        normalize(plan, all, x, n);
}

static void write_row(const PreparePlan *plan, const Prepare *all, float *x, float *out)
{
    int64_t n = plan->columns * CHANNELS;
    if (!plan->before)
        normalize(plan, all, x, n);
    if (plan->factor != 1)
        for (int64_t k = 0; k < n; k++)
            x[k] *= plan->factor;
    if (plan->divisor != 1)
        for (int64_t k = 0; k < n; k++)
            x[k] /= plan->divisor;
    if (plan->shift != 0)
        for (int64_t k = 0; k < n; k++)
            x[k] -= plan->shift;
    if (x != out)
        for (int64_t k = 0; k < plan->columns; k++)
            memcpy(out + k * plan->out_step_w, x + k * CHANNELS, CHANNELS * sizeof *x);
}

static void prepare_job(void *what, int64_t job)
{
    Prepare *all = what;
    const PreparePlan *plan = all->plan;
    int64_t first = plan->first_row + job * STRIP, last = least(first + STRIP, plan->first_row + plan->rows);
    int64_t low = first, high = last, n = plan->w * CHANNELS, width = plan->columns * CHANNELS;
    if (plan->row_taps) {
        low = plan->h, high = 0;
        for (int64_t tap = 0; tap < plan->row_taps; tap++)
            for (int64_t row = first; row < last; row++) {
                low = least(low, all->row_index[tap * plan->new_h + row]);
                high = most(high, all->row_index[tap * plan->new_h + row] + 1);
            }
    }
    int64_t line = whole_lines(n) + 16;
    float *rows = new_lines((size_t)((high - low + 1) * line + whole_lines(width)) * sizeof *rows);
    if (!rows) {
        all->failed = 1;
        return;
    }
    float *sum = rows + (high - low) * line, *pixels = sum + line;
    for (int64_t row = low; row < high; row++)
        read_row(plan, all, row, rows + (row - low) * line);
    for (int64_t row = first; row < last; row++) {
        const float *x = rows + (row - low) * line;
        if (plan->row_taps) {
            for (int64_t tap = 0; tap < plan->row_taps; tap++) {
                const float *from = rows + (all->row_index[tap * plan->new_h + row] - low) * line;
                float weight = all->row_weight[tap * plan->new_h + row];
                if (tap == 0)
                    for (int64_t k = 0; k < n; k++)
                        sum[k] = from[k] * weight;
                else
                    for (int64_t k = 0; k < n; k++)
                        sum[k] += from[k] * weight;
            }
            x = sum;
        }
        float *out = all->out + (row - plan->first_row) * plan->out_step_h;
        float *y = plan->out_step_w == CHANNELS ? out : pixels;
        if (plan->column_taps) {
            for (int64_t tap = 0; tap < plan->column_taps; tap++) {
                int64_t start = (tap * plan->new_w + plan->first_column) * CHANNELS;
                const int32_t *index = all->column_index + start;
                const float *weight = all->column_weight + start;
                if (tap == 0)
                    for (int64_t k = 0; k < width; k++)
                        y[k] = x[index[k]] * weight[k];
                else
                    for (int64_t k = 0; k < width; k++)
                        y[k] += x[index[k]] * weight[k];
            }
        } else {
            memcpy(y, x + plan->first_column * CHANNELS, (size_t)width * sizeof *y);
        }
        write_row(plan, all, y, out);
    }
    free(rows);
}

/* arrays: the image; the result's part of the frame; indices and weights of rows, then of columns; mean and std for each
number of a row */
KERNEL(prepare)(const PreparePlan *plan, void *const *arrays, int threads)
{
    Prepare all = {plan,      arrays[0], arrays[1], arrays[2], arrays[4],
                   arrays[3], arrays[5], arrays[6], arrays[7], 0};
    run_jobs(prepare_job, &all, parts_of(plan->rows, STRIP), plan->rows * plan->columns < SMALL ? 1 : threads);
    return all.failed;
}
