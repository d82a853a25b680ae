/* Gradients of batch normalization of rows (N, C). */
#include "batch_norm.h"

enum { FAR = 1 << 21 };

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

/* As add_few_products of SOME_ROWS, to the same bits, row by row as they lie. */
static inline __attribute__((always_inline)) void add_wide_products(const Gradient *all, int64_t kind, Rows rows,
                                                                    const float *mean, double *sums, double *products)
{
    float some[2][BLOCK];
    for (int r = 0; r < SOME_ROWS; r += 4, rows.at += 4 * rows.step)
        for (int64_t c = 0; c < rows.width; c += 2 * LANES) {
            Full mid = load(mean + c), s = {0}, p = {0};
            _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++)
            {
                int64_t here = rows.at + c + j * rows.step;
                Full each = passed(all->gy, all->mask, kind, here), number = load(all->x + here);
                keep_order(number);
                Full product = each * (number - mid);
                s = j ? s + each : each;
                if (!j)
                    keep_order(product);
                p = j ? p + product : product;
            }
            if (r)
                s += load(some[0] + c), p += load(some[1] + c);
            if (r + 4 < SOME_ROWS)
                store(some[0] + c, s), store(some[1] + c, p);
            else
                add_wide(sums + c, s), add_wide(products + c, p);
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
        if (is_wide(rows.step) && rows.width % (2 * LANES) == 0)
            add_wide_products(all, kind, rows, mean, sums, products);
        else
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
        m = least(is_wide(rows.step) ? 1 : 4, rows.m - r);
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
