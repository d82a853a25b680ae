/* Convolution with 3x3 filters by Winograd's algorithm F(4x4, 3x3): Lavin and Gray 2016, "Fast Algorithms for
Convolutional Neural Networks". A tile of 4x4 results takes 36 multiplications for each channel instead of 144.

Tiles of 6x6 pixels and filters are evaluated, as polynomials, at 6x6 points; for each point, the products are summed over
the channels, a product of matrices; 4x4 results are interpolated. Errors depend on the points. 0, +-5/8, +-3/2 and
infinity, with sums of at most 128 products in a row, are about as exact as direct convolution; 0, +-1, +-2, which the
paper uses, lose ten times as much. */
#include "products.h"
#include "winograd_tiles.h"

enum {
    ROUND = 64, /* results of a job's step: their products with all tiles stay in the cache */
    IN_A_ROW = 128, /* products that are summed before they are added to other sums */
    APART = 16, /* numbers between the arrays of two points, which would share lines of the cache otherwise */
    MOST_TILES = 72, /* of a block: many for each number of the filters, which come from further away than tiles */
};

typedef struct {
    int64_t b, h, w, c, o, out_h, out_w, top, left;
    int64_t has_bias, has_addend /* 2: added after the activation */, activation;
    double alpha, beta;
} WinogradPlan;

/* Where a filter's results are: `rounds` of ROUND each, the last one filled up to whole COLUMNS. */
static inline int64_t width_of_round(const WinogradPlan *plan, int64_t round)
{
    return least(ROUND, parts_of(plan->o, COLUMNS) * COLUMNS - round * ROUND);
}

/* ---- filters ---- */

typedef struct {
    int64_t o, c, step_o, step_c, step_h, step_w;
} WinogradFiltersPlan;

typedef struct {
    const WinogradFiltersPlan *plan;
    const float *w;
    float *u;
    double values[REACH][TAPS]; /* of 1, x, x^2 at the points, divided by what the interpolation would multiply by */
} Filters;

static void evaluate_powers(double values[REACH][TAPS])
{
    static const double points[REACH - 1] = {0, INNER, -INNER, OUTER, -OUTER};
    for (int i = 0; i < REACH - 1; i++) {
        double divisor = 1;
        for (int j = 0; j < REACH - 1; j++)
            divisor *= j == i ? 1 : points[i] - points[j];
        values[i][0] = 1 / divisor;
        values[i][1] = points[i] / divisor;
        values[i][2] = points[i] * points[i] / divisor;
    }
    values[REACH - 1][0] = values[REACH - 1][1] = 0;
    values[REACH - 1][2] = 1; /* at infinity: the coefficient of the highest power */
}

/* COLUMNS filters evaluated along their columns, u[row of points][channel][column of taps][filter], and zeros for filters
that are not there. */
static void filters_job(void *what, int64_t job)
{
    const Filters *all_filters = what;
    const WinogradFiltersPlan *plan = all_filters->plan;
    int64_t first = job * COLUMNS, n = least(COLUMNS, plan->o - first), round = first / ROUND;
    int64_t width = least(ROUND, parts_of(plan->o, COLUMNS) * COLUMNS - round * ROUND);
    float *u = all_filters->u + (round * ROUND * REACH + first % ROUND) * TAPS * plan->c;
    for (int64_t c = 0; c < plan->c; c++) {
        double taps[TAPS][TAPS][COLUMNS] = {{{0}}};
        for (int64_t k = 0; k < n; k++)
            for (int i = 0; i < TAPS * TAPS; i++)
                taps[i / TAPS][i % TAPS][k] = all_filters->w[(first + k) * plan->step_o + c * plan->step_c +
                                                             i / TAPS * plan->step_h + i % TAPS * plan->step_w];
        for (int p = 0; p < REACH; p++) {
            const double *value = all_filters->values[p];
            for (int j = 0; j < TAPS; j++) {
                float *to = u + p * width * TAPS * plan->c + (c * TAPS + j) * COLUMNS;
                for (int k = 0; k < COLUMNS; k++)
                    to[k] = (float)(value[0] * taps[0][j][k] + value[1] * taps[1][j][k] + value[2] * taps[2][j][k]);
            }
        }
    }
}

/* arrays: W (O, C, 3, 3); the filters evaluated along their columns, REACH * 3 * C * O numbers with O rounded up to
COLUMNS: twice the filters' memory. `finish_filters` evaluates them along their rows, COLUMNS filters of some channels at
a time, which all of a block's tiles then use. */
KERNEL(winograd_filters)(const WinogradFiltersPlan *plan, void *const *arrays, int threads)
{
    Filters filters = {plan, arrays[0], arrays[1], {{0}}};
    evaluate_powers(filters.values);
    run_jobs(filters_job, &filters, parts_of(plan->o, COLUMNS), plan->o * plan->c < SMALL ? 1 : threads);
    return 0;
}

enum { PANEL = IN_A_ROW * COLUMNS + APART }; /* numbers of COLUMNS filters at a point */

/* panels[column of points][channel][filter] of u[channel][column of taps][filter]. */
static __attribute__((noinline)) void finish_filters(int64_t c, const float *u, float *panels)
{
    const float inner = INNER * INNER, outer = OUTER * OUTER;
    const float near = 1 / (2 * inner * (inner - outer)), far = 1 / (2 * outer * (outer - inner));
    for (int64_t k = 0; k < c * COLUMNS; k += COLUMNS, u += TAPS * COLUMNS)
        for (int half = 0; half < COLUMNS; half += WIDTH) {
            Full x = load(u + half), y = load(u + COLUMNS + half), z = load(u + 2 * COLUMNS + half);
            Full even = near * x + near * inner * z, more = far * x + far * outer * z;
            float *to = panels + k + half;
            store(to, 1 / (inner * outer) * x);
            store(to + PANEL, even + near * (float)INNER * y);
            store(to + 2 * PANEL, even - near * (float)INNER * y);
            store(to + 3 * PANEL, more + far * (float)OUTER * y);
            store(to + 4 * PANEL, more - far * (float)OUTER * y);
            store(to + 5 * PANEL, z);
        }
}

typedef void Product(int64_t c, const float *v, int64_t step, const float *u, float *m, int64_t m_step, int more,
                     const float *next);
#define PRODUCT(rows) \
    static __attribute__((noinline)) void product_of_##rows(int64_t c, const float *v, int64_t step, const float *u, \
                                                            float *m, int64_t m_step, int more, const float *next) \
    { \
        product(rows, c, v, WIDTH, step, u, m, m_step, more, next); \
    }
PRODUCT(1) PRODUCT(2) PRODUCT(3) PRODUCT(4) PRODUCT(5) PRODUCT(6)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
PRODUCT(7) PRODUCT(8) PRODUCT(9) PRODUCT(10) PRODUCT(11) PRODUCT(12)
#endif
static Product *const products[ROWS] = {
    product_of_1, product_of_2, product_of_3, product_of_4,  product_of_5,  product_of_6,
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    product_of_7, product_of_8, product_of_9, product_of_10, product_of_11, product_of_12,
#endif
};

/* ---- convolution ---- */

typedef struct {
    const WinogradPlan *plan;
    const float *x, *u, *bias, *addend;
    float *y, *scratch;
    int64_t tiles_h, tiles_w, tiles, room, rounds, splits, jobs, workers, next;
} Convolution;

/* A tile: where its results are, and how many. */
typedef struct {
    int64_t image, row, column, rows, columns;
} Tile;

static inline Tile tile_at(const Convolution *all_tiles, int64_t tile)
{
    const WinogradPlan *plan = all_tiles->plan;
    Tile own = {.column = tile % all_tiles->tiles_w * SIDE, .row = tile / all_tiles->tiles_w % all_tiles->tiles_h * SIDE};
    own.image = tile / (all_tiles->tiles_w * all_tiles->tiles_h);
    own.rows = least(SIDE, plan->out_h - own.row), own.columns = least(SIDE, plan->out_w - own.column);
    return own;
}

/* The tiles of a block in the order low, whole, narrow, both: those that have a point are side by side. */
typedef struct {
    int64_t n, low, whole, narrow;
    Tile tiles[MOST_TILES];
} Block;

static Block block_at(const Convolution *all_tiles, int64_t first)
{
    Block block = {.n = least(all_tiles->room, all_tiles->tiles - first)};
    int64_t place[4] = {0};
    for (int64_t turn = 0; turn < 2; turn++) {
        for (int64_t t = 0; t < block.n; t++) {
            Tile own = tile_at(all_tiles, first + t);
            int of = own.rows < SIDE ? own.columns < SIDE ? 3 : 0 : own.columns < SIDE ? 2 : 1;
            if (turn)
                block.tiles[place[of]] = own;
            place[of]++;
        }
        if (turn)
            break;
        block.low = place[0], block.whole = place[1], block.narrow = place[2];
        place[3] = block.low + block.whole + block.narrow, place[2] = block.low + block.whole, place[1] = block.low;
        place[0] = 0;
    }
    return block;
}

/* The tiles of a block, in v [point][channel / WIDTH][tile][channel % WIDTH]; `zeros` are a pixel of the padding. */
static void transform_tiles(const Convolution *all_tiles, const Block *block, const float *zeros, float *v)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t c = plan->c, step = all_tiles->room * c + APART;
    for (int64_t t = 0; t < block->n; t++) {
        Tile own = block->tiles[t];
        int64_t column = own.column - plan->left, row = own.row - plan->top;
        const float *x = all_tiles->x + own.image * plan->h * plan->w * c;
        const float *pixels[POINTS];
        for (int i = 0; i < REACH; i++)
            for (int j = 0; j < REACH; j++) {
                int inside = row + i >= 0 && row + i < plan->h && column + j >= 0 && column + j < plan->w;
                pixels[i * REACH + j] = inside ? x + ((row + i) * plan->w + column + j) * c : zeros;
            }
        for (int64_t k = 0; k < c; k += WIDTH)
            transform_tile(own.rows, own.columns, pixels, k, v + k * all_tiles->room + t * WIDTH, step, SIDE * c);
    }
}

/* The products at all points of a block's tiles with the filters of a round, m [point][tile][filter]. */
static void multiply(const Convolution *all_tiles, const Block *block, int64_t round, const float *v, float *m,
                     float *panels)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t c = plan->c, room = all_tiles->room, width = width_of_round(plan, round);
    const uint8_t *of_low = points_of[(plan->out_h - 1) % SIDE + 1], *of_narrow = points_of[(plan->out_w - 1) % SIDE + 1];
    const float *u = all_tiles->u + round * ROUND * REACH * TAPS * c;
    for (int row = 0; row < REACH; row++)
        for (int64_t k = 0; k < width; k += COLUMNS)
            for (int64_t i = 0; i < c; i += IN_A_ROW) {
                int64_t some = least(IN_A_ROW, c - i);
                finish_filters(some, u, panels);
                u += some * TAPS * COLUMNS;
                for (int p = 0; p < REACH; p++) {
                    const float *from = v + (row * REACH + p) * (room * c + APART) + room * i;
                    float *to = m + (row * REACH + p) * (room * ROUND + APART) + k;
                    int64_t t = of_low[row] ? 0 : block->low, end = block->low + block->whole;
                    if (of_narrow[p])
                        end = of_low[row] ? block->n : end + block->narrow;
                    for (int64_t turns = parts_of(end - t, ROWS); turns > 0; turns--) {
                        int64_t taken = parts_of(end - t, turns);
                        products[taken - 1](some, from + t * WIDTH, room * WIDTH, panels + p * PANEL, to + t * width,
                                            width, i > 0, u + p * some * COLUMNS / 2);
                        t += taken;
                    }
                }
            }
}

/* The results of a block's tiles with the filters of a round. */
static void write_results(const Convolution *all_tiles, const Block *block, int64_t round, const float *m)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t width = width_of_round(plan, round), step = all_tiles->room * ROUND + APART;
    for (int64_t t = 0; t < block->n; t++) {
        int64_t column = block->tiles[t].column, row = block->tiles[t].row, image = block->tiles[t].image;
        int64_t rows = block->tiles[t].rows, columns = block->tiles[t].columns;
        for (int64_t k = round * ROUND; k < least(plan->o, (round + 1) * ROUND); k += WIDTH) {
            int64_t some = least(WIDTH, plan->o - k);
            Full y[SIDE][SIDE], bias = plan->has_bias ? load_some(all_tiles->bias + k, some) : (Full){0};
            for (int64_t i = 0; i < rows; i++) /* the next tile's results */
                for (int64_t j = SIDE; j < 2 * SIDE; j++)
                    __builtin_prefetch(
                        all_tiles->y + ((image * plan->out_h + row + i) * plan->out_w + column + j) * plan->o + k, 1);
            interpolate_tile(rows, columns, m + t * width + k - round * ROUND, step, y);
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < columns; j++) {
                    int64_t at = ((image * plan->out_h + row + i) * plan->out_w + column + j) * plan->o + k;
                    Full result = y[i][j] + bias;
                    Full addend = {0};
                    if (plan->has_addend)
                        addend = some == WIDTH ? load(all_tiles->addend + at) : load_some(all_tiles->addend + at, some);
                    if (plan->has_addend == 1)
                        result += addend;
                    result = activated(plan->activation, plan->alpha, plan->beta, result);
                    if (plan->has_addend == 2)
                        result += addend;
                    if (some == WIDTH)
                        store(all_tiles->y + at, result);
                    else
                        memcpy(all_tiles->y + at, &result, (size_t)some * sizeof(float));
                }
        }
    }
}

/* Numbers of scratch memory that a worker needs: transformed tiles, products, filters, a pixel of the padding. */
static int64_t scratch_of_worker(const Convolution *all_tiles)
{
    int64_t c = all_tiles->plan->c;
    int64_t n = POINTS * (all_tiles->room * c + APART) + POINTS * (all_tiles->room * ROUND + APART);
    n += REACH * PANEL + c;
    return parts_of(n, APART) * APART;
}

/* A block of tiles, and of the rounds a part: all of them where there are enough blocks for the threads. */
static void convolution_job(const Convolution *all_tiles, int64_t job, float *v)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t split = job % all_tiles->splits;
    float *m = v + POINTS * (all_tiles->room * plan->c + APART);
    float *panels = m + POINTS * (all_tiles->room * ROUND + APART), *zeros = panels + REACH * PANEL;
    Block block = block_at(all_tiles, job / all_tiles->splits * all_tiles->room);
    memset(zeros, 0, (size_t)plan->c * sizeof *zeros);
    transform_tiles(all_tiles, &block, zeros, v);
    int64_t last = (split + 1) * all_tiles->rounds / all_tiles->splits;
    for (int64_t round = split * all_tiles->rounds / all_tiles->splits; round < last; round++) {
        multiply(all_tiles, &block, round, v, m, panels);
        write_results(all_tiles, &block, round, m);
    }
}

/* What one thread does, in scratch memory of its own: jobs, until there are none left. */
static void convolution_worker(void *what, int64_t worker)
{
    Convolution *all_tiles = what;
    float *scratch = all_tiles->scratch + worker * scratch_of_worker(all_tiles);
    for (;;) {
        int64_t job = __atomic_fetch_add(&all_tiles->next, 1, __ATOMIC_RELAXED);
        if (job >= all_tiles->jobs)
            return;
        convolution_job(all_tiles, job, scratch);
    }
}

/* How the work is cut for so many threads. */
static Convolution cut(const WinogradPlan *plan, int threads)
{
    Convolution own = {.plan = plan};
    own.tiles_h = parts_of(plan->out_h, SIDE);
    own.tiles_w = parts_of(plan->out_w, SIDE);
    own.tiles = plan->b * own.tiles_h * own.tiles_w;
    own.rounds = parts_of(plan->o, ROUND);
    int64_t blocks = parts_of(own.tiles, MOST_TILES);
    own.splits = blocks < threads ? least(own.rounds, parts_of(threads, blocks)) : 1;
    if (blocks >= threads) /* as many for each thread */
        blocks = parts_of(blocks, threads) * threads;
    own.room = parts_of(own.tiles, blocks);
    own.jobs = parts_of(own.tiles, own.room) * own.splits;
    own.workers = least(own.jobs, threads);
    return own;
}

/* Bytes of scratch memory that the convolution needs, at a multiple of 64. */
SIZE(winograd_scratch)(const WinogradPlan *plan, int threads)
{
    Convolution own = cut(plan, threads);
    return own.workers * scratch_of_worker(&own) * (int64_t)sizeof(float);
}

/* arrays: x (B, H, W, C), C a multiple of 16; the transformed filters; y (B, OUT_H, OUT_W, O); then, if there are any,
the bias (O,) and an addend like y; then the scratch memory. y = activation(convolution + bias + addend). A tile's
results depend on neither the other tiles nor the threads. */
KERNEL(winograd)(const WinogradPlan *plan, void *const *arrays, int threads)
{
    Convolution own = cut(plan, threads);
    own.x = arrays[0], own.u = arrays[1], own.y = arrays[2];
    own.bias = plan->has_bias ? arrays[3] : NULL;
    own.addend = plan->has_addend ? arrays[3 + plan->has_bias] : NULL;
    own.scratch = arrays[3 + plan->has_bias + (plan->has_addend > 0)];
    run_jobs(convolution_worker, &own, own.workers, threads);
    return 0;
}
