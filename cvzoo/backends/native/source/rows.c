/* Products of rows with a matrix: linear layers, and 1x1 convolutions of single pixels.

Often it is one row, and the time is that of reading the matrix: it lies in the order in which it is read, and is read
once. A row's sums are added in one order, whatever other rows there are. */
#include "activations.h"

enum {
    IN_A_ROW = 256, /* products that are summed before they are added to other sums */
    AHEAD = 1024, /* numbers of the matrix that are fetched ahead */
    BESIDE = 4, /* panels read at once for a single row: one after the other they come at two thirds of memory's speed */
    FEWEST = 48, /* rows of a block, if there are so many: each block reads the matrix */
    BLOCK = 1 << 16, /* numbers of a block of rows, which stay in the second cache for all COLUMNS of the matrix */
};

typedef struct {
    int64_t rows, c, o, step, step_c; /* of x, in numbers: from a row to the next one, and within it */
    int64_t has_bias, has_addend, activation;
    double alpha, beta;
} RowsPlan;

typedef struct {
    int64_t o, c, step_o, step_c;
} RowsMatrixPlan;

typedef struct {
    const RowsMatrixPlan *plan;
    const float *w;
    float *u;
} Matrix;

/* u[panel][c][COLUMNS] of COLUMNS rows of w, and zeros for those that are not there. */
static void matrix_job(void *what, int64_t panel)
{
    const Matrix *matrix = what;
    const RowsMatrixPlan *plan = matrix->plan;
    float *u = matrix->u + panel * plan->c * COLUMNS;
    for (int64_t done = 0; done < plan->c; done += 16) /* a cache line of each row of w */
        for (int64_t k = 0; k < COLUMNS; k++) {
            int64_t o = panel * COLUMNS + k;
            for (int64_t c = done; c < least(done + 16, plan->c); c++)
                u[c * COLUMNS + k] = o < plan->o ? matrix->w[o * plan->step_o + c * plan->step_c] : 0;
        }
}

/* arrays: w (O, C); the same in the order in which `rows` reads it, C * O numbers with O rounded up to COLUMNS. */
KERNEL(rows_matrix)(const RowsMatrixPlan *plan, void *const *arrays, int threads)
{
    Matrix matrix = {plan, arrays[0], arrays[1]};
    run_jobs(matrix_job, &matrix, parts_of(plan->o, COLUMNS), plan->o * plan->c < SMALL ? 1 : threads);
    return 0;
}

typedef struct {
    const RowsPlan *plan;
    const float *x, *u, *bias, *addend;
    float *y, *scratch;
    int64_t block, panels, splits, jobs, workers, next;
} Rows;

/* m[row][0..panels * COLUMNS) = sums of x[0..c)[row] * u[panel][0..c)[0..COLUMNS) */
static inline __attribute__((always_inline)) void sums_of_rows(const int rows, const int panels, int64_t c,
                                                               const float *x, const float *u, float *m)
{
    for (int64_t done = 0; done < c; done += IN_A_ROW) {
        Full sums[ROWS][2] = {{{0}}};
        int64_t some = least(IN_A_ROW, c - done);
        for (int64_t k = 0; k < some; k++, u += COLUMNS, x += rows)
            _Pragma("GCC unroll 4") for (int p = 0; p < panels; p++)
            {
                const float *own = u + p * c * COLUMNS;
                Full left = load(own), right = load(own + WIDTH);
                __builtin_prefetch(own + AHEAD / panels);
                if (COLUMNS > 16)
                    __builtin_prefetch(own + AHEAD / panels + 16);
                _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
                {
                    Full v = all(x[r]);
                    sums[p * rows + r][0] += v * left;
                    sums[p * rows + r][1] += v * right;
                }
            }
        _Pragma("GCC unroll 12") for (int i = 0; i < rows * panels; i++)
        {
            float *to = m + (i % rows * panels + i / rows) * COLUMNS;
            store(to, done ? load(to) + sums[i][0] : sums[i][0]);
            store(to + WIDTH, done ? load(to + WIDTH) + sums[i][1] : sums[i][1]);
        }
    }
}

static __attribute__((noinline)) void sums_of_panels(int64_t c, const float *x, const float *u, float *m)
{
    sums_of_rows(1, BESIDE, c, x, u, m);
}

typedef void Sums(int64_t c, const float *x, const float *u, float *m);
#define SUMS(rows) \
    static __attribute__((noinline)) void sums_of_##rows(int64_t c, const float *x, const float *u, float *m) \
    { \
        sums_of_rows(rows, 1, c, x, u, m); \
    }
SUMS(1) SUMS(2) SUMS(3) SUMS(4) SUMS(5) SUMS(6)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
SUMS(7) SUMS(8) SUMS(9) SUMS(10) SUMS(11) SUMS(12)
#endif
static Sums *const sums_of[ROWS] = {
    sums_of_1, sums_of_2, sums_of_3, sums_of_4,  sums_of_5,  sums_of_6,
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    sums_of_7, sums_of_8, sums_of_9, sums_of_10, sums_of_11, sums_of_12,
#endif
};

/* y = activation(m + bias + addend) for n rows, of the columns k ... k + COLUMNS */
static void write_rows(const Rows *rows, int64_t first, int64_t n, int64_t k, const float *m)
{
    const RowsPlan *plan = rows->plan;
    for (int64_t r = 0; r < n; r++, m += COLUMNS)
        for (int64_t half = 0; half < COLUMNS && k + half < plan->o; half += WIDTH) {
            int64_t some = least(WIDTH, plan->o - k - half), at = (first + r) * plan->o + k + half;
            Full result = load(m + half);
            if (plan->has_bias)
                result += some == WIDTH ? load(rows->bias + k + half) : load_some(rows->bias + k + half, some);
            if (plan->has_addend)
                result += some == WIDTH ? load(rows->addend + at) : load_some(rows->addend + at, some);
            result = finished(plan->activation, plan->alpha, plan->beta, result);
            if (some == WIDTH)
                store(rows->y + at, result);
            else
                memcpy(rows->y + at, &result, (size_t)some * sizeof(float));
        }
}

/* x[group of rows][c][row of the group] of n rows: rows of a power of two numbers would share sets of the cache. */
static void interleave(const RowsPlan *plan, const float *x, int64_t n, float *to)
{
    for (int64_t r = 0, turns = parts_of(n, ROWS); turns > 0; turns--) {
        int64_t taken = parts_of(n - r, turns);
        for (int64_t done = 0; done < plan->c; done += 16) /* a cache line of each row */
            for (int64_t k = 0; k < taken; k++)
                for (int64_t c = done; c < least(done + 16, plan->c); c++)
                    to[c * taken + k] = x[(r + k) * plan->step + c * plan->step_c];
        to += taken * plan->c;
        r += taken;
    }
}

/* A block of rows, and of the matrix a part. */
static void rows_job(const Rows *rows, int64_t job, float *scratch)
{
    const RowsPlan *plan = rows->plan;
    int64_t start = job / rows->splits * rows->block, split = job % rows->splits;
    int64_t n = least(rows->block, plan->rows - start), last = (split + 1) * rows->panels / rows->splits;
    interleave(plan, rows->x + start * plan->step, n, scratch);
    int64_t panel = split * rows->panels / rows->splits;
    for (; n == 1 && panel + BESIDE <= last; panel += BESIDE) {
        float m[BESIDE * COLUMNS];
        sums_of_panels(plan->c, scratch, rows->u + panel * plan->c * COLUMNS, m);
        for (int64_t p = 0; p < BESIDE; p++)
            write_rows(rows, start, 1, (panel + p) * COLUMNS, m + p * COLUMNS);
    }
    for (; panel < last; panel++) {
        const float *u = rows->u + panel * plan->c * COLUMNS;
        for (int64_t r = 0, turns = parts_of(n, ROWS); turns > 0; turns--) {
            int64_t taken = parts_of(n - r, turns);
            float m[ROWS * COLUMNS];
            sums_of[taken - 1](plan->c, scratch + r * plan->c, u, m);
            write_rows(rows, start + r, taken, panel * COLUMNS, m);
            r += taken;
        }
    }
}

static int64_t scratch_of_worker(const Rows *rows) { return whole_lines(rows->block * rows->plan->c); }

/* What one thread does, in scratch memory of its own: jobs, until there are none left. */
static void rows_worker(void *what, int64_t worker)
{
    Rows *rows = what;
    for (;;) {
        int64_t job = __atomic_fetch_add(&rows->next, 1, __ATOMIC_RELAXED);
        if (job >= rows->jobs)
            return;
        rows_job(rows, job, rows->scratch + worker * scratch_of_worker(rows));
    }
}

/* How the work is cut for so many threads. */
static Rows cut(const RowsPlan *plan, int threads)
{
    Rows rows = {.plan = plan, .splits = 1, .panels = parts_of(plan->o, COLUMNS)};
    threads = plan->c * plan->o < SMALL ? 1 : threads;
    rows.block = least(plan->rows, parts_of(most(FEWEST, BLOCK / plan->c), ROWS) * ROWS);
    int64_t blocks = parts_of(plan->rows, rows.block);
    if (blocks < threads)
        rows.splits = least(rows.panels, parts_of(threads, blocks));
    rows.jobs = blocks * rows.splits;
    rows.workers = least(rows.jobs, threads);
    return rows;
}

/* Bytes of scratch memory that the product needs, at a multiple of 64. */
SIZE(rows_scratch)(const RowsPlan *plan, int threads)
{
    Rows rows = cut(plan, threads);
    return rows.workers * scratch_of_worker(&rows) * (int64_t)sizeof(float);
}

/* arrays: x (ROWS, C); the matrix of `rows_matrix`; y (ROWS, O); then, if there are any, the bias (O,) and an addend like
y; then the scratch memory. y = activation(x w^T + bias + addend). */
KERNEL(rows)(const RowsPlan *plan, void *const *arrays, int threads)
{
    Rows rows = cut(plan, threads);
    rows.x = arrays[0], rows.u = arrays[1], rows.y = arrays[2];
    rows.bias = plan->has_bias ? arrays[3] : NULL;
    rows.addend = plan->has_addend ? arrays[3 + plan->has_bias] : NULL;
    rows.scratch = arrays[3 + plan->has_bias + plan->has_addend];
    run_jobs(rows_worker, &rows, rows.workers, threads);
    return 0;
}
