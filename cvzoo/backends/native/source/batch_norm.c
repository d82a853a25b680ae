/* Batch normalization of rows (N, C): statistics of the columns, and gradients. */
#include "columns.h"

enum { NO_MASK, BYTES, BITS };

typedef struct {
    int64_t rows, c, mask; /* mask: how it lies, if a rectifier came behind: a byte or a bit for each number */
    float eps;
} BatchNormPlan;

/* How the rows are cut among jobs, and the channels where there are many. */
typedef struct {
    int64_t rows, c, joined, n_chunk, n_block;
} Cut;

enum { SIDE_BY_SIDE = LANES == 8 ? 4 : 2 }; /* registers whose four constants fill the others */
enum { FEW_ROWS = 64, SOME_ROWS = 8, MOST_CHUNKS = 64, BLOCK = 2048, FAR = 1 << 21 };

static Cut cut_of(int64_t rows, int64_t c)
{
    Cut cut = {rows, c, rows_joined(c), 1, parts_of(c, BLOCK)};
    cut.n_chunk = most(least(least(rows / FEW_ROWS, rows * c / SMALL), MOST_CHUNKS), 1);
    return cut;
}

/* A job's rows, from a multiple of those that are added at once, and its channels. */
typedef struct {
    int64_t chunk, row, m, first, width;
} Share;

static Share share_of(const Cut *cut, int64_t job)
{
    Share share = {.chunk = job / cut->n_block, .first = job % cut->n_block * BLOCK};
    int64_t unit = cut->joined * SOME_ROWS, n = cut->rows / unit;
    share.row = n * share.chunk / cut->n_chunk * unit;
    int64_t end = share.chunk + 1 == cut->n_chunk ? cut->rows : n * (share.chunk + 1) / cut->n_chunk * unit;
    share.m = end - share.row;
    share.width = least(BLOCK, cut->c - share.first);
    return share;
}

/* values[c] again and again, for each of the joined rows */
static void repeat(const float *values, int64_t width, int64_t joined, float *wide)
{
    for (int64_t k = 0; k < joined; k++)
        memcpy(wide + k * width, values, (size_t)width * sizeof *wide);
}

static void fold(const double *wide, int64_t width, int64_t joined, double *sums)
{
    for (int64_t k = 0; k < joined; k++)
        for (int64_t c = 0; c < width; c++)
            sums[c] += wide[k * width + c];
}

/* --- statistics -------------------------------------------------------------------------------------------------- */

static void add_few_moments(const float *x, int64_t m, int64_t step, int64_t width, const double *middle, double *sums,
                            double *squares)
{
    int64_t c = 0;
    for (; c + TILE <= width; c += TILE) {
        Wide s[UNROLLED], q[UNROLLED], mid[UNROLLED];
        const float *row = x + c;
        EACH(k) mid[k] = load_double(middle + c + k * LANES);
        EACH(k) s[k] = load_double(sums + c + k * LANES);
        EACH(k) q[k] = load_double(squares + c + k * LANES);
        for (int64_t r = 0; r < m; r++, row += step) {
            if (step < 1024) /* rows of 4096 bytes compete for the same lines of a level-1 cache */
                prefetch_tile(row + m * step);
            EACH(k) {
                Wide d = load_wide(row + k * LANES) - mid[k];
                s[k] += d;
                q[k] += d * d;
            }
        }
        EACH(k) store_double(sums + c + k * LANES, s[k]);
        EACH(k) store_double(squares + c + k * LANES, q[k]);
    }
    if (c < width)
        for (int64_t r = 0; r < m; r++)
            for (int64_t k = c; k < width; k++) {
                double d = x[r * step + k] - middle[k];
                sums[k] += d;
                squares[k] += d * d;
            }
}

static void add_moments(const float *x, int64_t m, int64_t step, int64_t width, const double *middle, double *sums,
                        double *squares)
{
    int64_t some = most(CACHED / width, 8);
    for (int64_t r = 0; r < m; r += some)
        add_few_moments(x + r * step, least(some, m - r), step, width, middle, sums, squares);
}

typedef struct {
    Cut cut;
    const float *x;
    double *sums, *squares; /* of each chunk */
} Moments;

static void moments_job(void *what, int64_t job)
{
    const Moments *all = what;
    const Cut *cut = &all->cut;
    Share own = share_of(cut, job);
    const float *x = all->x + own.row * cut->c + own.first;
    double *sums = all->sums + own.chunk * cut->c + own.first;
    double *squares = all->squares + own.chunk * cut->c + own.first;
    double middle[BLOCK]; /* the first row: of what lies around it no digits are lost to squares of the mean */
    for (int64_t c = 0; c < own.width; c++)
        middle[c] = all->x[own.first + c], sums[c] = squares[c] = 0;
    if (cut->joined > 1) {
        double wide[3][WIDEST] = {{0}};
        int64_t n = own.m / cut->joined, width = cut->joined * cut->c;
        for (int64_t k = 0; k < width; k++)
            wide[0][k] = middle[k % cut->c];
        add_moments(x, n, width, width, wide[0], wide[1], wide[2]);
        fold(wide[1], cut->c, cut->joined, sums);
        fold(wide[2], cut->c, cut->joined, squares);
        x += n * width;
        own.m -= n * cut->joined;
    }
    add_moments(x, own.m, cut->c, own.width, middle, sums, squares);
}

/* arrays: x, mean, var */
KERNEL(batch_statistics)(const BatchNormPlan *plan, void *const *arrays, int threads)
{
    Moments all = {.cut = cut_of(plan->rows, plan->c), .x = arrays[0]};
    int64_t c = plan->c, n_part = all.cut.n_chunk * c;
    float *mean = arrays[1], *var = arrays[2];
    all.sums = malloc((size_t)(2 * n_part) * sizeof *all.sums);
    if (!all.sums)
        return 1;
    all.squares = all.sums + n_part;
    run_jobs(moments_job, &all, all.cut.n_chunk * all.cut.n_block, plan->rows * c < SMALL ? 1 : threads);
    for (int64_t k = 0; k < c; k++) {
        double sum = 0, square = 0;
        for (int64_t part = k; part < n_part; part += c)
            sum += all.sums[part], square += all.squares[part];
        sum /= (double)plan->rows;
        mean[k] = (float)(all.x[k] + sum);
        var[k] = (float)(square / (double)plan->rows - sum * sum);
        if (var[k] < 0)
            var[k] = 0;
    }
    free(all.sums);
    return 0;
}

/* --- gradients --------------------------------------------------------------------------------------------------- */

/* Those of the gradients from gy[at] on that a mask lets pass. */
static inline Full passed(const float *gy, const uint8_t *mask, int64_t kind, int64_t at)
{
    Full y = load(gy + at);
    return kind == BITS ? where_bits(y, mask + at / 8, at % 8) : kind == BYTES ? where_bytes(y, mask + at) : y;
}

static inline float passed_one(const float *gy, const uint8_t *mask, int64_t kind, int64_t at)
{
    if (kind == NO_MASK)
        return gy[at];
    return (kind == BITS ? mask[at / 8] >> at % 8 & 1 : mask[at] != 0) ? gy[at] : 0;
}

typedef struct {
    Cut cut;
    const float *x, *gy, *gamma, *mean, *var;
    const uint8_t *mask;
    float *gx, *ggamma, *gbeta;
    float *scale, *slope, *shift; /* gx = scale * gy + slope * (x - mean) + shift */
    double *sums, *products;      /* of each chunk */
    int64_t kind;
    int streams, far; /* streams: gx is too large for most caches, and written past them; far: so is what is read */
    double eps;
} Gradient;

/* Rows from number `at` of the arrays on; of `width` numbers, `step` apart. */
typedef struct {
    int64_t at, m, step, width;
} Rows;

/* Adds n * m rows: m of them to one another in float32, n such sums likewise, and what that gives to the sums. Of 8 rows
by fours 2.4e-7 of the terms is lost at most. */
static inline __attribute__((always_inline)) void add_few_products(const Gradient *all, int64_t kind, int far, int n,
                                                                   int m, int wide, int64_t *first, Rows rows,
                                                                   const float *mean, double *sums, double *products)
{
    const float *x = all->x, *gy = all->gy;
    int64_t c = *first;
    for (; c + wide * 2 * LANES <= rows.width; c += wide * 2 * LANES) {
        Full s[UNROLLED] = {{0}}, p[UNROLLED] = {{0}}, mid[UNROLLED];
        int64_t at = rows.at + c;
        _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) mid[k] = load(mean + c + k * 2 * LANES);
        for (int r = 0; r < n; r++) {
            Full g[UNROLLED], h[UNROLLED];
            _Pragma("GCC unroll 4") for (int j = 0; j < m; j++, at += rows.step)
                _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++)
            {
                int64_t here = at + k * 2 * LANES;
                if (far && rows.step > UNROLLED * 2 * LANES) {
                    __builtin_prefetch(x + here + n * m * rows.step);
                    __builtin_prefetch(gy + here + n * m * rows.step);
                }
                Full each = passed(gy, all->mask, kind, here), number = load(x + here);
                if (far)
                    keep_order(number);
                Full product = each * (number - mid[k]);
                g[k] = j ? g[k] + each : each;
                if (!j)
                    keep_order(product); /* rounded, not one of two that might be: the same bits with any mask */
                h[k] = j ? h[k] + product : product;
            }
            _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) s[k] += g[k], p[k] += h[k];
        }
        _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++)
        {
            add_wide(sums + c + k * 2 * LANES, s[k]);
            add_wide(products + c + k * 2 * LANES, p[k]);
        }
    }
    *first = c;
}

static inline __attribute__((always_inline)) void add_rows_products(const Gradient *all, int64_t kind, int far, int n,
                                                                    int m, Rows rows, const float *mean, double *sums,
                                                                    double *products)
{
    int64_t c = 0;
    add_few_products(all, kind, far, n, m, UNROLLED, &c, rows, mean, sums, products);
    add_few_products(all, kind, far, n, m, 1, &c, rows, mean, sums, products);
    for (int r = 0; r < (c < rows.width ? n * m : 0); r++)
        for (int64_t k = c; k < rows.width; k++) {
            int64_t at = rows.at + r * rows.step + k;
            double g = passed_one(all->gy, all->mask, kind, at);
            sums[k] += g;
            products[k] += g * ((double)all->x[at] - mean[k]);
        }
}

/* What remains of rows that are added eight at a time: not worth a loop of its own for each kind of mask. */
static __attribute__((noinline)) void add_last_products(const Gradient *all, Rows rows, const float *mean, double *sums,
                                                        double *products)
{
    for (; rows.m >= 4; rows.m -= 4, rows.at += 4 * rows.step)
        add_rows_products(all, all->kind, 0, 1, 4, rows, mean, sums, products);
    for (; rows.m > 0; rows.m--, rows.at += rows.step)
        add_rows_products(all, all->kind, 0, 1, 1, rows, mean, sums, products);
}

static inline __attribute__((always_inline)) void add_products_of(const Gradient *all, int64_t kind, int far,
                                                                  Rows rows, const float *mean, double *sums,
                                                                  double *products)
{
    for (; rows.m >= SOME_ROWS; rows.m -= SOME_ROWS, rows.at += SOME_ROWS * rows.step)
        add_rows_products(all, kind, far, SOME_ROWS / 4, 4, rows, mean, sums, products);
    add_last_products(all, rows, mean, sums, products);
}

static void add_products(const Gradient *all, Rows rows, const float *mean, double *sums, double *products)
{
    if (all->far && all->kind == BITS)
        add_products_of(all, BITS, 1, rows, mean, sums, products);
    else if (all->far && all->kind == NO_MASK)
        add_products_of(all, NO_MASK, 1, rows, mean, sums, products);
    else if (all->kind == BITS)
        add_products_of(all, BITS, 0, rows, mean, sums, products);
    else if (all->kind == NO_MASK)
        add_products_of(all, NO_MASK, 0, rows, mean, sums, products);
    else
        add_products_of(all, BYTES, 1, rows, mean, sums, products);
}

static void products_job(void *what, int64_t job)
{
    const Gradient *all = what;
    const Cut *cut = &all->cut;
    Share own = share_of(cut, job);
    double *sums = all->sums + own.chunk * cut->c + own.first;
    double *products = all->products + own.chunk * cut->c + own.first;
    memset(sums, 0, (size_t)own.width * sizeof *sums);
    memset(products, 0, (size_t)own.width * sizeof *products);
    Rows rows = {own.row * cut->c + own.first, own.m, cut->c, own.width};
    if (cut->joined > 1) {
        double wide[2][WIDEST] = {{0}};
        float mean[WIDEST];
        int64_t n = own.m / cut->joined, width = cut->joined * cut->c;
        repeat(all->mean, cut->c, cut->joined, mean);
        add_products(all, (Rows){rows.at, n, width, width}, mean, wide[0], wide[1]);
        fold(wide[0], cut->c, cut->joined, sums);
        fold(wide[1], cut->c, cut->joined, products);
        rows.at += n * width;
        rows.m -= n * cut->joined;
    }
    add_products(all, rows, all->mean + own.first, sums, products);
}

/* gx of m rows, of `wide` registers side by side */
static inline __attribute__((always_inline)) void few_rows_gradient(const Gradient *all, int64_t kind, int streams,
                                                                    int64_t m, int wide, int64_t *first, Rows rows,
                                                                    const float *const *vectors)
{
    const float *x = all->x, *gy = all->gy;
    float *gx = all->gx;
    int64_t c = *first, ahead = all->far && rows.step > wide * 2 * LANES ? m * rows.step : 0;
    for (; c + wide * 2 * LANES <= rows.width; c += wide * 2 * LANES) {
        Full v[4][UNROLLED];
        int64_t at = rows.at + c;
        _Pragma("GCC unroll 4") for (int n = 0; n < 4; n++)
            _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) v[n][k] = load(vectors[n] + c + k * 2 * LANES);
        for (int64_t r = 0; r < m; r++, at += rows.step)
            _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++)
            {
                int64_t here = at + k * 2 * LANES;
                if (ahead) {
                    __builtin_prefetch(x + here + ahead);
                    __builtin_prefetch(gy + here + ahead);
                }
                Full g = passed(gy, all->mask, kind, here) * v[1][k] + ((load(x + here) - v[0][k]) * v[2][k] + v[3][k]);
                if (streams)
                    stream(gx + here, g);
                else
                    store(gx + here, g);
            }
    }
    *first = c;
}

static inline __attribute__((always_inline)) void rows_gradient_of(const Gradient *all, int64_t kind, int streams,
                                                                   Rows rows, const float *const *vectors)
{
    const float *mean = vectors[0], *scale = vectors[1], *slope = vectors[2], *shift = vectors[3];
    for (int64_t r = 0, m; r < rows.m; r += m, rows.at += m * rows.step) {
        int64_t c = 0;
        m = least(4, rows.m - r);
        few_rows_gradient(all, kind, streams, m, SIDE_BY_SIDE, &c, rows, vectors);
        few_rows_gradient(all, kind, streams, m, 1, &c, rows, vectors);
        for (; c < rows.width; c++)
            for (int64_t j = 0, at = rows.at + c; j < m; j++, at += rows.step)
                all->gx[at] = passed_one(all->gy, all->mask, kind, at) * scale[c] +
                              ((all->x[at] - mean[c]) * slope[c] + shift[c]);
    }
}

static void rows_gradient(const Gradient *all, Rows rows, const float *const *vectors)
{
    if (all->kind == BITS && all->streams)
        rows_gradient_of(all, BITS, 1, rows, vectors);
    else if (all->kind == BITS)
        rows_gradient_of(all, BITS, 0, rows, vectors);
    else if (all->kind == BYTES)
        rows_gradient_of(all, BYTES, all->streams, rows, vectors);
    else if (all->streams)
        rows_gradient_of(all, NO_MASK, 1, rows, vectors);
    else
        rows_gradient_of(all, NO_MASK, 0, rows, vectors);
}

static void gradient_job(void *what, int64_t job)
{
    const Gradient *all = what;
    const Cut *cut = &all->cut;
    Share own = share_of(cut, cut->n_chunk * cut->n_block - 1 - job); /* what was read last may be in a cache yet */
    Rows rows = {own.row * cut->c + own.first, own.m, cut->c, own.width};
    const float *vectors[4] = {all->mean, all->scale, all->slope, all->shift};
    for (int k = 0; k < 4; k++)
        vectors[k] += own.first;
    if (cut->joined > 1) {
        float wide[4][WIDEST];
        const float *widened[4];
        int64_t n = own.m / cut->joined, width = cut->joined * cut->c;
        for (int k = 0; k < 4; k++) {
            widened[k] = wide[k];
            repeat(vectors[k], cut->c, cut->joined, wide[k]);
        }
        rows_gradient(all, (Rows){rows.at, n, width, width}, widened);
        rows.at += n * width;
        rows.m -= n * cut->joined;
    }
    rows_gradient(all, rows, vectors);
}

/* The gradients of some channels' parameters, and what gx is made of. */
static void finish(const Gradient *all, const double *restrict sums, const double *restrict products)
{
    const float *restrict gamma = all->gamma, *restrict var = all->var;
    float *restrict ggamma = all->ggamma, *restrict gbeta = all->gbeta;
    float *restrict scale = all->scale, *restrict slope = all->slope, *restrict shift = all->shift;
    double eps = all->eps, share = 1 / (double)all->cut.rows;
    for (int64_t c = 0; c < all->cut.c; c++) {
        double inverse = 1 / __builtin_sqrt(var[c] + eps), gain = gamma[c] * inverse;
        gbeta[c] = (float)sums[c];
        ggamma[c] = (float)(products[c] * inverse);
        scale[c] = (float)gain;
        slope[c] = (float)(-gain * inverse * inverse * products[c] * share);
        shift[c] = (float)(-gain * sums[c] * share);
    }
}

/* arrays: x, gy, gx (may be gy), gamma, mean, var, ggamma, gbeta, perhaps a mask */
KERNEL(batch_norm_grad)(const BatchNormPlan *plan, void *const *arrays, int threads)
{
    int64_t c = plan->c;
    Gradient all = {.cut = cut_of(plan->rows, c), .x = arrays[0], .gy = arrays[1], .gx = arrays[2], .gamma = arrays[3],
                    .mean = arrays[4], .var = arrays[5], .ggamma = arrays[6], .gbeta = arrays[7], .kind = plan->mask,
                    .mask = plan->mask == NO_MASK ? NULL : arrays[8], .eps = (double)plan->eps};
    int64_t n_part = all.cut.n_chunk * c, n_job = all.cut.n_chunk * all.cut.n_block;
    all.sums = malloc((size_t)(2 * n_part) * sizeof *all.sums + (size_t)(3 * c) * sizeof *all.scale);
    if (!all.sums)
        return 1;
    all.products = all.sums + n_part;
    all.scale = (float *)(all.products + n_part), all.slope = all.scale + c, all.shift = all.slope + c;
    all.far = plan->rows * c >= FAR;
    all.streams = all.far && c % (2 * LANES) == 0 && (uintptr_t)all.gx % sizeof(Full) == 0;
    threads = plan->rows * c < SMALL ? 1 : threads;
    run_jobs(products_job, &all, n_job, threads);
    for (int64_t part = c; part < n_part; part += c)
        fold(all.sums + part, c, 1, all.sums), fold(all.products + part, c, 1, all.products);
    finish(&all, all.sums, all.products);
    run_jobs(gradient_job, &all, n_job, threads);
    free(all.sums);
    return 0;
}
