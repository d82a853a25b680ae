/* Convolution with 3x3 filters by Winograd's algorithm F(4x4, 3x3): Lavin and Gray 2016, "Fast Algorithms for
Convolutional Neural Networks". A tile of 4x4 results takes 36 multiplications for each channel instead of 144.

Tiles of 6x6 pixels and filters are evaluated, as polynomials, at 6x6 points; for each point, the products are summed over
the channels, a product of matrices; 4x4 results are interpolated. Errors depend on the points. 0, +-5/8, +-3/2 and
infinity, with sums of at most 128 products in a row, are about as exact as direct convolution; 0, +-1, +-2, which the
paper uses, lose ten times as much. */
#include "native.h"

enum {
    WIDTH = 2 * LANES, /* float32 in a register */
    ROWS = LANES == 8 ? 12 : 6, /* tiles of a product: two registers of sums each, and three more, are all there are */
    FEW = ROWS / 3, /* tiles of the smallest product */
    COLUMNS = 2 * WIDTH, /* results of a product */
    ROUND = 64, /* results of a job's step: their products with all tiles stay in the cache */
    IN_A_ROW = 128, /* products that are summed before they are added to other sums */
    SIDE = 4, /* of a tile of results */
    REACH = 6, /* of a tile of pixels */
    POINTS = REACH * REACH,
    TAPS = 3,
    APART = 16, /* numbers between the arrays of two points, which would share lines of the cache otherwise */
};
#define INNER 0.625
#define OUTER 1.5

enum { LINEAR, RELU, CLIP, LEAKY_RELU };

typedef struct {
    int64_t b, h, w, c, o, out_h, out_w, top, left;
    int64_t has_bias, has_addend, activation;
    double alpha, beta;
} WinogradPlan;

static inline Full all(float x) { return x - (Full){0}; }

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

/* ---- tiles ---- */

/* The polynomial with the coefficients x at the six points. */
static inline void evaluate(const Full *x, Full *at)
{
    const float inner = INNER * INNER, outer = OUTER * OUTER;
    Full even = x[4] - outer * x[2], odd = (float)INNER * (x[3] - outer * x[1]);
    at[0] = x[4] - (inner + outer) * x[2] + inner * outer * x[0];
    at[1] = even + odd, at[2] = even - odd;
    even = x[4] - inner * x[2], odd = (float)OUTER * (x[3] - inner * x[1]);
    at[3] = even + odd, at[4] = even - odd;
    at[5] = x[5] - (inner + outer) * x[3] + inner * outer * x[1];
}

static inline void interpolate(const Full *at, Full *y)
{
    const float p = INNER, q = OUTER;
    Full sum = at[1] + at[2], difference = at[1] - at[2], more = at[3] + at[4], other = at[3] - at[4];
    y[0] = at[0] + (sum + more);
    y[1] = p * difference + q * other;
    y[2] = p * p * sum + q * q * more;
    y[3] = p * p * p * difference + q * q * q * other + at[5];
}

/* v[point * step] of WIDTH channels of a tile, whose pixels are at pixels[] + channel; those of the next tile are `next`
numbers behind them. */
static void transform_tile(const float *const *pixels, int64_t channel, float *v, int64_t step, int64_t next)
{
    Full columns[REACH][REACH], x[REACH], at[REACH];
    for (int i = 0; i < REACH; i++)
        for (int j = REACH - SIDE; j < REACH; j++)
            __builtin_prefetch(pixels[i * REACH + j] + channel + next);
    for (int j = 0; j < REACH; j++) {
        _Pragma("GCC unroll 6") for (int i = 0; i < REACH; i++) x[i] = load(pixels[i * REACH + j] + channel);
        evaluate(x, at);
        _Pragma("GCC unroll 6") for (int i = 0; i < REACH; i++) columns[i][j] = at[i];
    }
    for (int i = 0; i < REACH; i++) {
        evaluate(columns[i], at);
        _Pragma("GCC unroll 6") for (int j = 0; j < REACH; j++) store(v + (i * REACH + j) * step, at[j]);
    }
}

static void interpolate_tile(const float *m, int64_t step, Full y[SIDE][SIDE])
{
    Full columns[SIDE][REACH], x[REACH], at[SIDE];
    for (int j = 0; j < REACH; j++) {
        _Pragma("GCC unroll 6") for (int i = 0; i < REACH; i++) x[i] = load(m + (i * REACH + j) * step);
        interpolate(x, at);
        _Pragma("GCC unroll 4") for (int i = 0; i < SIDE; i++) columns[i][j] = at[i];
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < SIDE; i++) interpolate(columns[i], y[i]);
}

/* m[row][0..COLUMNS) = sums over c channels of v[channel][row] * u[channel][0..COLUMNS), added to m if `more`.
WIDTH channels of a row of v lie together, `step` numbers before the next ones. Filters at `next` are fetched ahead, one
line of the cache for a channel. */
static inline __attribute__((always_inline)) void product(const int rows, int64_t c, const float *v, int64_t step,
                                                          const float *u, float *m, int64_t m_step, int more,
                                                          const float *next)
{
    Full sums[ROWS][2] = {{{0}}};
    for (; c > 0; c -= WIDTH, v += step)
        for (int k = 0; k < WIDTH; k++, u += COLUMNS, next += COLUMNS / 2) {
            Full left = load(u), right = load(u + WIDTH);
            __builtin_prefetch(next, 0, 2);
            _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
            {
                Full x = all(v[r * WIDTH + k]);
                sums[r][0] += x * left;
                sums[r][1] += x * right;
            }
        }
    _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
    {
        float *to = m + r * m_step;
        store(to, more ? load(to) + sums[r][0] : sums[r][0]);
        store(to + WIDTH, more ? load(to + WIDTH) + sums[r][1] : sums[r][1]);
    }
}

typedef void Product(int64_t c, const float *v, int64_t step, const float *u, float *m, int64_t m_step, int more,
                     const float *next);
#define PRODUCT(name, rows) \
    static __attribute__((noinline)) void name(int64_t c, const float *v, int64_t step, const float *u, float *m, \
                                               int64_t m_step, int more, const float *next) \
    { \
        product(rows, c, v, step, u, m, m_step, more, next); \
    }
PRODUCT(product_of_few, FEW)
PRODUCT(product_of_more, 2 * FEW)
PRODUCT(product_of_most, ROWS)
static Product *const products[] = {product_of_few, product_of_more, product_of_most};

/* How many tiles, in units of FEW, the next product takes of those that are left: no single unit is left behind. */
static inline int64_t units_of_product(int64_t left) { return left == ROWS / FEW + 1 ? 2 : least(left, ROWS / FEW); }

/* ---- convolution ---- */

typedef struct {
    const WinogradPlan *plan;
    const float *x, *u, *bias, *addend;
    float *y, *scratch;
    int64_t tiles_h, tiles_w, tiles, room, rounds, splits, jobs, workers, next;
} Convolution;

/* Tiles first ... first + n, in v [point][channel / WIDTH][tile][channel % WIDTH]; `zeros` are a pixel of the padding. */
static void transform_tiles(const Convolution *all_tiles, int64_t first, int64_t n, const float *zeros, float *v)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t c = plan->c, step = all_tiles->room * c + APART;
    for (int64_t t = 0; t < n; t++) {
        int64_t tile = first + t, column = tile % all_tiles->tiles_w * SIDE - plan->left;
        int64_t row = tile / all_tiles->tiles_w % all_tiles->tiles_h * SIDE - plan->top;
        const float *x = all_tiles->x + tile / (all_tiles->tiles_w * all_tiles->tiles_h) * plan->h * plan->w * c;
        const float *pixels[POINTS];
        for (int i = 0; i < REACH; i++)
            for (int j = 0; j < REACH; j++) {
                int inside = row + i >= 0 && row + i < plan->h && column + j >= 0 && column + j < plan->w;
                pixels[i * REACH + j] = inside ? x + ((row + i) * plan->w + column + j) * c : zeros;
            }
        for (int64_t k = 0; k < c; k += WIDTH)
            transform_tile(pixels, k, v + k * all_tiles->room + t * WIDTH, step, SIDE * c);
    }
}

/* The products at all points of n tiles with the filters of a round, m [point][tile][filter]. */
static void multiply(const Convolution *all_tiles, int64_t n, int64_t round, const float *v, float *m, float *panels)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t c = plan->c, room = all_tiles->room, width = width_of_round(plan, round), units = parts_of(n, FEW);
    const float *u = all_tiles->u + round * ROUND * REACH * TAPS * c;
    for (int row = 0; row < POINTS; row += REACH)
        for (int64_t k = 0; k < width; k += COLUMNS)
            for (int64_t i = 0; i < c; i += IN_A_ROW) {
                int64_t some = least(IN_A_ROW, c - i);
                finish_filters(some, u, panels);
                u += some * TAPS * COLUMNS;
                for (int p = 0; p < REACH; p++) {
                    const float *from = v + (row + p) * (room * c + APART) + room * i;
                    float *to = m + (row + p) * (room * ROUND + APART) + k;
                    for (int64_t t = 0, taken; t < units; t += taken) {
                        taken = units_of_product(units - t);
                        products[taken - 1](some, from + t * FEW * WIDTH, room * WIDTH, panels + p * PANEL,
                                            to + t * FEW * width, width, i > 0, u + p * some * COLUMNS / 2);
                    }
                }
            }
}

static inline Full chosen(FullInt where, Full a, Full b) { return (Full)((where & (FullInt)a) | (~where & (FullInt)b)); }

static inline Full activated(const WinogradPlan *plan, Full v)
{
    const Full alpha = all((float)plan->alpha), beta = all((float)plan->beta), zero = {0};
    switch (plan->activation) { /* by comparisons that leave NaN as it is */
    case RELU:
        return chosen(v < zero, zero, v);
    case CLIP:
        v = chosen(v < alpha, alpha, v);
        return chosen(v > beta, beta, v);
    case LEAKY_RELU:
        return chosen(v < zero, v * alpha, v);
    default:
        return v;
    }
}

/* `n` numbers at p, at most a register full */
static inline Full load_some(const float *p, int64_t n)
{
    Full v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}

/* The results of n tiles with the filters of a round. */
static void write_results(const Convolution *all_tiles, int64_t first, int64_t n, int64_t round, const float *m)
{
    const WinogradPlan *plan = all_tiles->plan;
    int64_t width = width_of_round(plan, round), step = all_tiles->room * ROUND + APART;
    for (int64_t t = 0; t < n; t++) {
        int64_t tile = first + t, column = tile % all_tiles->tiles_w * SIDE;
        int64_t row = tile / all_tiles->tiles_w % all_tiles->tiles_h * SIDE;
        int64_t image = tile / (all_tiles->tiles_w * all_tiles->tiles_h);
        int64_t rows = least(SIDE, plan->out_h - row), columns = least(SIDE, plan->out_w - column);
        for (int64_t k = round * ROUND; k < least(plan->o, (round + 1) * ROUND); k += WIDTH) {
            int64_t some = least(WIDTH, plan->o - k);
            Full y[SIDE][SIDE], bias = plan->has_bias ? load_some(all_tiles->bias + k, some) : (Full){0};
            for (int64_t i = 0; i < rows; i++) /* the next tile's results */
                for (int64_t j = SIDE; j < 2 * SIDE; j++)
                    __builtin_prefetch(
                        all_tiles->y + ((image * plan->out_h + row + i) * plan->out_w + column + j) * plan->o + k, 1);
            interpolate_tile(m + t * width + k - round * ROUND, step, y);
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < columns; j++) {
                    int64_t at = ((image * plan->out_h + row + i) * plan->out_w + column + j) * plan->o + k;
                    Full result = y[i][j] + bias;
                    if (plan->has_addend)
                        result += some == WIDTH ? load(all_tiles->addend + at) : load_some(all_tiles->addend + at, some);
                    result = activated(plan, result);
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
    int64_t first = job / all_tiles->splits * all_tiles->room, n = least(all_tiles->room, all_tiles->tiles - first);
    int64_t split = job % all_tiles->splits, filled = parts_of(n, FEW) * FEW;
    float *m = v + POINTS * (all_tiles->room * plan->c + APART);
    float *panels = m + POINTS * (all_tiles->room * ROUND + APART), *zeros = panels + REACH * PANEL;
    memset(zeros, 0, (size_t)plan->c * sizeof *zeros);
    transform_tiles(all_tiles, first, n, zeros, v);
    for (int64_t t = n; t < filled; t++) /* computed with the others: undefined numbers might be slow */
        for (int64_t k = 0; k < POINTS * (plan->c / WIDTH); k++) {
            int64_t at = k / (plan->c / WIDTH) * (all_tiles->room * plan->c + APART);
            memset(v + at + (k % (plan->c / WIDTH) * all_tiles->room + t) * WIDTH, 0, WIDTH * sizeof *v);
        }
    int64_t last = (split + 1) * all_tiles->rounds / all_tiles->splits;
    for (int64_t round = split * all_tiles->rounds / all_tiles->splits; round < last; round++) {
        multiply(all_tiles, n, round, v, m, panels);
        write_results(all_tiles, first, n, round, m);
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

enum {
    CACHE = 1 << 19, /* bytes of transformed tiles and products that stay in the second cache */
    BUSY = 72, /* tiles at least for each number of the filters, which come from further away */
};

/* How the work is cut for so many threads. */
static Convolution cut(const WinogradPlan *plan, int threads)
{
    Convolution own = {.plan = plan};
    own.tiles_h = parts_of(plan->out_h, SIDE);
    own.tiles_w = parts_of(plan->out_w, SIDE);
    own.tiles = plan->b * own.tiles_h * own.tiles_w;
    own.rounds = parts_of(plan->o, ROUND);
    int64_t room = least(own.tiles, most(BUSY, CACHE / (POINTS * (int64_t)sizeof(float) * (plan->c + ROUND))));
    int64_t blocks = parts_of(own.tiles, room);
    own.splits = blocks < threads ? least(own.rounds, parts_of(threads, blocks)) : 1;
    if (blocks >= threads) /* as many for each thread */
        blocks = parts_of(blocks, threads) * threads;
    own.room = parts_of(parts_of(own.tiles, blocks), FEW) * FEW;
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
    own.scratch = arrays[3 + plan->has_bias + plan->has_addend];
    run_jobs(convolution_worker, &own, own.workers, threads);
    return 0;
}
