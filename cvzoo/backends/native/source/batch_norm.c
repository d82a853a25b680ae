/* Gradients of batch normalization of rows (N, C). */
#include "batch_norm.h"

enum {
    FAR = 1 << 21, /* numbers: more than most caches hold of three arrays */
    STREAMED = 1 << 20, /* numbers: of more gx is written past the caches, which keep x and gy for it */
    AHEAD_OF_ROWS = 1 << 11, /* numbers of wide rows between those that are read and those that are fetched */
    PIECE = 512, /* channels of wide rows in a cache that are added at a time: a level-1 cache holds rows and sums */
};

/* Those of the gradients from gy[at] on that a mask lets pass. */
static inline Full passed(const float *gy, const uint8_t *mask, int64_t kind, int64_t at)
{
    Full y = load(gy + at);
    if (kind == BITS)
        return where_bits(y, mask + (uint64_t)at / 8, (uint64_t)at % 8);
    return kind == BYTES ? where_bytes(y, mask + at) : y;
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
    int streams, far; /* streams: gx is written past the caches; far: what is read is too large for them */
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

/* A row of which whole registers are read as they lie. */
typedef struct {
    const float *x, *gy;
    const uint8_t *mask;
    float *gx;
} WideRow;

static inline WideRow wide_row(const Gradient *all, int64_t kind, int64_t at)
{
    const uint8_t *mask = kind == BITS ? all->mask + (uint64_t)at / 8 : kind == BYTES ? all->mask + at : NULL;
    return (WideRow){all->x + at, all->gy + at, mask, all->gx + at};
}

static inline void fetch_of(const WideRow *row, int64_t c)
{
    __builtin_prefetch(row->x + c);
    __builtin_prefetch(row->gy + c);
}

/* Of one row or two the sum, and that of the products. */
static inline __attribute__((always_inline)) void join_wide_rows(const WideRow *row, int m, int64_t kind, int64_t c,
                                                                 Full mid, Full *sum, Full *product)
{
    _Pragma("GCC unroll 2") for (int j = 0; j < m; j++)
    {
        Full each = passed(row[j].gy, row[j].mask, kind, c), number = load(row[j].x + c);
        keep_order(number);
        Full one = each * (number - mid);
        if (!j)
            keep_order(one); /* rounded, not one of two that might be: the same bits with any mask */
        *sum = j ? *sum + each : each;
        *product = j ? *product + one : one;
    }
}

/* Adds the first of wide rows and returns how many: two halves in float32, then both to the sums. From a cache sixteen
by twos; from memory eight, which the processor fetches ahead best if each is read to its end. Five additions deep, 3e-7
of the terms is lost at most. */
static inline __attribute__((always_inline)) int64_t add_wide_products(const Gradient *all, int64_t kind, int far,
                                                                       Rows rows, const float *mean, double *sums,
                                                                       double *products)
{
    const int m = far ? 1 : 2, half = far ? 4 : 8;
    const int64_t n = least(2 * half, rows.m / m * m), ahead = parts_of(AHEAD_OF_ROWS, rows.width) * rows.step;
    float some[2][2][BLOCK + SPACING] __attribute__((aligned(64)));
    for (int r = 0; r < n; r += m, rows.at += m * rows.step) {
        WideRow row[2];
        float(*own)[BLOCK + SPACING] = some[r >= half];
        for (int j = 0; j < m; j++)
            row[j] = wide_row(all, kind, rows.at + j * rows.step);
        for (int64_t c = 0; c < rows.width; c += 2 * LANES) {
            Full s, p;
            if (far)
                fetch_of(row, c + ahead);
            join_wide_rows(row, m, kind, c, load(mean + c), &s, &p);
            if (r % half)
                s += load(own[0] + c), p += load(own[1] + c);
            if (r + m < n) {
                store(own[0] + c, s), store(own[1] + c, p);
                continue;
            }
            if (r >= half)
                s += load(some[0][0] + c), p += load(some[0][1] + c);
            add_wide(sums + c, s), add_wide(products + c, p);
        }
    }
    return n;
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
    if (is_wide(rows.step) && rows.width % (2 * LANES) == 0)
        for (int64_t n; (n = add_wide_products(all, kind, far, rows, mean, sums, products)); rows.m -= n)
            rows.at += n * rows.step;
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
    else if (all->far)
        add_products_of(all, BYTES, 1, rows, mean, sums, products);
    else
        add_products_of(all, BYTES, 0, rows, mean, sums, products);
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
    int64_t size = is_wide(cut->c) && !all->far ? PIECE : own.width;
    for (int64_t c = 0; c < own.width; c += size) {
        Rows some = {rows.at + c, rows.m, rows.step, least(size, own.width - c)};
        add_products(all, some, all->mean + own.first + c, sums + c, products + c);
    }
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

/* gx of a wide row: the numbers of some registers are read first, since the processor fetches ahead of what is read */
static inline __attribute__((always_inline)) void wide_row_gradient(WideRow row, int64_t kind, int streams,
                                                                    int64_t width, int64_t ahead,
                                                                    const float *const *vectors)
{
    const float *mean = vectors[0], *scale = vectors[1], *slope = vectors[2], *shift = vectors[3];
    for (int64_t c = 0; c < width; c += SIDE_BY_SIDE * 2 * LANES) {
        Full x[SIDE_BY_SIDE], g[SIDE_BY_SIDE];
        for (int k = 0; k < (streams ? SIDE_BY_SIDE : 0); k++)
            fetch_of(&row, c + k * 2 * LANES + ahead);
        _Pragma("GCC unroll 4") for (int k = 0; k < SIDE_BY_SIDE; k++)
        {
            x[k] = load(row.x + c + k * 2 * LANES);
            keep_order(x[k]);
        }
        _Pragma("GCC unroll 4") for (int k = 0; k < SIDE_BY_SIDE; k++)
        {
            g[k] = passed(row.gy, row.mask, kind, c + k * 2 * LANES);
            keep_order(g[k]);
        }
        _Pragma("GCC unroll 4") for (int k = 0; k < SIDE_BY_SIDE; k++)
        {
            int64_t here = c + k * 2 * LANES;
            g[k] = g[k] * load(scale + here) + ((x[k] - load(mean + here)) * load(slope + here) + load(shift + here));
            if (streams)
                stream(row.gx + here, g[k]);
            else
                store(row.gx + here, g[k]);
        }
    }
}

static inline __attribute__((always_inline)) void rows_gradient_of(const Gradient *all, int64_t kind, int streams,
                                                                   Rows rows, const float *const *vectors)
{
    const float *mean = vectors[0], *scale = vectors[1], *slope = vectors[2], *shift = vectors[3];
    if (is_wide(rows.step) && rows.width % (SIDE_BY_SIDE * 2 * LANES) == 0) {
        int64_t ahead = parts_of(AHEAD_OF_ROWS, rows.width) * rows.step;
        for (int64_t r = 0; r < rows.m; r++)
            wide_row_gradient(wide_row(all, kind, rows.at + r * rows.step), kind, streams, rows.width, ahead, vectors);
        return;
    }
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

/* The gradients of a register of channels' parameters, and what gx is made of. */
static inline void finish_some(const Gradient *all, int64_t c)
{
    Wide sum = load_double(all->sums + c), product = load_double(all->products + c);
    double share = 1 / (double)all->cut.rows;
    Wide inverse = 1 / square_roots(load_wide(all->var + c) + all->eps), gain = load_wide(all->gamma + c) * inverse;
    store_narrow(all->gbeta + c, sum);
    store_narrow(all->ggamma + c, product * inverse);
    store_narrow(all->scale + c, gain);
    store_narrow(all->slope + c, -gain * inverse * inverse * product * share);
    store_narrow(all->shift + c, -gain * sum * share);
}

static void finish(const Gradient *all)
{
    int64_t c = 0;
    double share = 1 / (double)all->cut.rows;
    for (; c + LANES <= all->cut.c; c += LANES)
        finish_some(all, c);
    for (; c < all->cut.c; c++) {
        double sum = all->sums[c], product = all->products[c];
        double inverse = 1 / __builtin_sqrt(all->var[c] + all->eps), gain = all->gamma[c] * inverse;
        all->gbeta[c] = (float)sum;
        all->ggamma[c] = (float)(product * inverse);
        all->scale[c] = (float)gain;
        all->slope[c] = (float)(-gain * inverse * inverse * product * share);
        all->shift[c] = (float)(-gain * sum * share);
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
    int64_t room = whole_lines(n_part) + SPACING, line = whole_lines(c) + SPACING;
    all.sums = new_lines((size_t)(2 * room) * sizeof *all.sums + (size_t)(4 * line) * sizeof *all.scale);
    if (!all.sums)
        return 1;
    all.products = all.sums + room;
    all.scale = (float *)(all.products + room), all.slope = all.scale + line, all.shift = all.slope + line;
    float *mean = all.shift + line;
    all.mean = memcpy(mean, all.mean, (size_t)c * sizeof *mean);
    all.far = plan->rows * c >= FAR;
    all.streams = plan->rows * c >= STREAMED && c % (2 * LANES) == 0 && (uintptr_t)all.gx % sizeof(Full) == 0;
    threads = plan->rows * c < SMALL ? 1 : threads;
    run_jobs(products_job, &all, n_job, threads);
    for (int64_t part = c; part < n_part; part += c)
        fold(all.sums + part, c, 1, all.sums), fold(all.products + part, c, 1, all.products);
    finish(&all);
    run_jobs(gradient_job, &all, n_job, threads);
    free(all.sums);
    return 0;
}
