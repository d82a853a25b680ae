/* Means over the cells of regions of channels-last maps: RoI align, and RoI pooling by averages. Weights separate into rows
and columns, and a cell has few of both that are not 0. */
#include "native.h"

enum {
    REGISTERS = 8, /* of sums */
    CHANNELS = REGISTERS * WIDTH, /* at a time, so that the sums along columns stay in the cache */
};

typedef struct {
    int64_t n, h, w, c, out_h, out_w, row_room, column_room;
} RegionMeansPlan;

typedef struct {
    const RegionMeansPlan *plan;
    const float *x, *row_weights, *column_weights;
    const int64_t *places, *images, *tops, *lefts;
    float *y;
    int64_t next;
    int failed;
} Regions;

/* The pixels of a cell: from the first to the last whose weight is not 0. */
typedef struct {
    int64_t first, end;
} Span;

/* The spans of n cells, and the end of the last one. */
static int64_t find_spans(const float *weights, int64_t n, int64_t room, Span *spans)
{
    int64_t end = 0;
    for (int64_t cell = 0; cell < n; cell++, weights += room) {
        Span own = {0, room};
        while (own.end > 0 && weights[own.end - 1] == 0)
            own.end--;
        while (own.first < own.end && weights[own.first] == 0)
            own.first++;
        spans[cell] = own;
        end = most(end, own.end);
    }
    return end;
}

/* to[0..registers * WIDTH) = sums of weights[k] * from[k * step] over the span */
static inline __attribute__((always_inline)) void weigh(const int registers, Span span, const float *weights,
                                                        const float *from, int64_t step, float *to)
{
    Full sums[REGISTERS] = {{0}};
    from += span.first * step;
    for (int64_t k = span.first; k < span.end; k++, from += step)
        _Pragma("GCC unroll 8") for (int j = 0; j < registers; j++) sums[j] += weights[k] * load(from + j * WIDTH);
    _Pragma("GCC unroll 8") for (int j = 0; j < registers; j++) store(to + j * WIDTH, sums[j]);
}

/* The channels c to c + registers * WIDTH of a region; `along` has room for sums of each row's columns. */
static inline __attribute__((always_inline)) void mean_of_channels(const int registers, const Regions *regions, int64_t r,
                                                                   int64_t c, const Span *of_rows, int64_t height,
                                                                   const Span *of_columns, float *along)
{
    const RegionMeansPlan *plan = regions->plan;
    const int64_t width = registers * WIDTH;
    const float *x = regions->x + ((regions->images[r] * plan->h + regions->tops[r]) * plan->w + regions->lefts[r]) * plan->c;
    const float *weights = regions->column_weights + r * plan->out_w * plan->column_room;
    for (int64_t row = 0; row < height; row++)
        for (int64_t k = 0; k < plan->out_w; k++)
            weigh(registers, of_columns[k], weights + k * plan->column_room, x + row * plan->w * plan->c + c, plan->c,
                  along + (row * plan->out_w + k) * width);
    weights = regions->row_weights + r * plan->out_h * plan->row_room;
    float *y = regions->y + regions->places[r] * plan->out_h * plan->out_w * plan->c + c;
    for (int64_t i = 0; i < plan->out_h; i++)
        for (int64_t k = 0; k < plan->out_w; k++, y += plan->c)
            weigh(registers, of_rows[i], weights + i * plan->row_room, along + k * width, plan->out_w * width, y);
}

/* What one thread does: regions, until there are none left. */
static void regions_worker(void *what, int64_t worker)
{
    Regions *regions = what;
    const RegionMeansPlan *plan = regions->plan;
    float *along = new_lines((size_t)(plan->row_room * plan->out_w * CHANNELS) * sizeof *along);
    Span *spans = malloc((size_t)(plan->out_h + plan->out_w) * sizeof *spans), *of_columns = spans + plan->out_h;
    (void)worker;
    if (!along || !spans)
        __atomic_store_n(&regions->failed, 1, __ATOMIC_RELAXED);
    else
        for (;;) {
            int64_t r = __atomic_fetch_add(&regions->next, 1, __ATOMIC_RELAXED), c = 0;
            if (r >= plan->n)
                break;
            int64_t height =
                find_spans(regions->row_weights + r * plan->out_h * plan->row_room, plan->out_h, plan->row_room, spans);
            find_spans(regions->column_weights + r * plan->out_w * plan->column_room, plan->out_w, plan->column_room,
                       of_columns);
            for (; c + CHANNELS <= plan->c; c += CHANNELS)
                mean_of_channels(REGISTERS, regions, r, c, spans, height, of_columns, along);
            for (; c < plan->c; c += WIDTH)
                mean_of_channels(1, regions, r, c, spans, height, of_columns, along);
        }
    free(along);
    free(spans);
}

/* arrays: x (B, H, W, C), C a multiple of 16; weights of rows (N, OUT_H, ROW_ROOM), of columns (N, OUT_W, COLUMN_ROOM);
for each region its place in y, its map, and the first row and column of its window, (N,) int64 each; y (R, OUT_H, OUT_W,
C). */
KERNEL(region_means)(const RegionMeansPlan *plan, void *const *arrays, int threads)
{
    Regions regions = {.plan = plan, .x = arrays[0], .row_weights = arrays[1], .column_weights = arrays[2]};
    regions.places = arrays[3], regions.images = arrays[4], regions.tops = arrays[5], regions.lefts = arrays[6];
    regions.y = arrays[7];
    int64_t workers = plan->n * plan->out_h * plan->out_w * plan->c < SMALL ? 1 : threads;
    run_jobs(regions_worker, &regions, least(workers, plan->n), threads);
    return regions.failed;
}
