/* Means and variances of the columns of rows (N, C), in one pass over memory. */
#include "batch_norm.h"

enum {
    FOURS = 4, /* of rows, whose moments are added in float32: 4.8e-7 of a variance is lost at most, 1e-7 in practice */
    GUESSED = 8, /* rows */
    FAR_OFF = 4, /* times the variance: a square of the mean that is more would cost it digits */
};

/* Adds n * 4 rows: four to one another in float32, n such sums likewise, and what that gives to the sums. */
static inline __attribute__((always_inline)) void add_few_moments(const float *x, int n, int64_t step, int wide,
                                                                  int64_t *first, int64_t width, const float *middle,
                                                                  double *sums, double *squares)
{
    for (; *first + wide * 2 * LANES <= width; *first += wide * 2 * LANES) {
        Full s[UNROLLED] = {{0}}, q[UNROLLED] = {{0}}, mid[UNROLLED];
        const float *row = x + *first;
        int64_t ahead = most(4 * n * step, AHEAD);
        _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) mid[k] = load(middle + *first + k * 2 * LANES);
        for (int r = 0; r < n; r++) {
            Full g[UNROLLED], h[UNROLLED];
            _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++, row += step)
            {
                keep_pointer(row);
                _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++)
                {
                    Full number = load(row + k * 2 * LANES);
                    if (k * 2 * LANES % 16 == 0)
                        __builtin_prefetch(row + k * 2 * LANES + ahead);
                    keep_order(number);
                    Full d = number - mid[k];
                    g[k] = j ? g[k] + d : d;
                    h[k] = j ? h[k] + d * d : d * d;
                }
            }
            _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++) s[k] += g[k], q[k] += h[k];
        }
        _Pragma("GCC unroll 4") for (int k = 0; k < wide; k++)
        {
            add_wide(sums + *first + k * 2 * LANES, s[k]);
            add_wide(squares + *first + k * 2 * LANES, q[k]);
        }
    }
}

/* As add_few_moments, to the same bits, row by row as they lie. */
static void add_wide_moments(const float *x, int64_t step, int64_t width, const float *middle, double *sums,
                             double *squares)
{
    float some[2][BLOCK];
    for (int r = 0; r < FOURS; r++, x += 4 * step)
        for (int64_t c = 0; c < width; c += 2 * LANES) {
            Full mid = load(middle + c), s = {0}, q = {0};
            _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++)
            {
                Full number = load(x + c + j * step);
                keep_order(number);
                Full d = number - mid;
                s = j ? s + d : d;
                q = j ? q + d * d : d * d;
            }
            if (r)
                s += load(some[0] + c), q += load(some[1] + c);
            if (r < FOURS - 1)
                store(some[0] + c, s), store(some[1] + c, q);
            else
                add_wide(sums + c, s), add_wide(squares + c, q);
        }
}

static inline __attribute__((always_inline)) void add_rows_moments(const float *x, int n, int64_t step, int64_t width,
                                                                   const float *middle, double *sums, double *squares)
{
    int64_t c = 0;
    if (n > 0) {
        add_few_moments(x, n, step, SIDE_BY_SIDE, &c, width, middle, sums, squares);
        add_few_moments(x, n, step, 1, &c, width, middle, sums, squares);
    }
    for (int r = 0; r < (c < width ? most(4 * n, 1) : 0); r++)
        for (int64_t k = c; k < width; k++) {
            double d = (double)x[r * step + k] - middle[k];
            sums[k] += d;
            squares[k] += d * d;
        }
}

static void add_moments(const float *x, int64_t m, int64_t step, int64_t width, const float *middle, double *sums,
                        double *squares)
{
    for (; m >= 4 * FOURS; m -= 4 * FOURS, x += 4 * FOURS * step)
        if (is_wide(step) && width % (2 * LANES) == 0)
            add_wide_moments(x, step, width, middle, sums, squares);
        else
            add_rows_moments(x, FOURS, step, width, middle, sums, squares);
    for (; m >= 4; m -= 4, x += 4 * step)
        add_rows_moments(x, 1, step, width, middle, sums, squares);
    for (; m > 0; m--, x += step)
        add_rows_moments(x, 0, step, width, middle, sums, squares);
}

typedef struct {
    Cut cut;
    const float *x;
    float *middle;
    double *sums, *squares; /* of each chunk */
} Moments;

static void moments_job(void *what, int64_t job)
{
    const Moments *all = what;
    const Cut *cut = &all->cut;
    Share own = share_of(cut, job);
    const float *x = all->x + own.row * cut->c + own.first, *middle = all->middle + own.first;
    double *sums = all->sums + own.chunk * cut->c + own.first;
    double *squares = all->squares + own.chunk * cut->c + own.first;
    memset(sums, 0, (size_t)own.width * sizeof *sums);
    memset(squares, 0, (size_t)own.width * sizeof *squares);
    if (cut->joined > 1) {
        double wide[2][WIDEST] = {{0}};
        float wide_middle[WIDEST];
        int64_t n = own.m / cut->joined, width = cut->joined * cut->c;
        repeat(middle, cut->c, cut->joined, wide_middle);
        add_moments(x, n, width, width, wide_middle, wide[0], wide[1]);
        fold(wide[0], cut->c, cut->joined, sums);
        fold(wide[1], cut->c, cut->joined, squares);
        x += n * width;
        own.m -= n * cut->joined;
    }
    add_moments(x, own.m, cut->c, own.width, middle, sums, squares);
}

/* What lies near the means: those of a few rows here and there. Where a column's numbers are equal, they. */
static void guess_middle(const Moments *all)
{
    int64_t c = all->cut.c;
    double *restrict sums = all->sums;
    float *restrict middle = all->middle;
    memset(sums, 0, (size_t)c * sizeof *sums);
    for (uint32_t k = 0; k < GUESSED; k++) {
        const float *row = all->x + (int64_t)((uint64_t)(k * 2654435769u) * (uint64_t)all->cut.rows >> 32) * c;
        for (int64_t j = 0; j < c; j++)
            sums[j] += row[j];
    }
    for (int64_t j = 0; j < c; j++)
        middle[j] = (float)(sums[j] * (1.0 / GUESSED));
}

/* The moments of all chunks; whether a mean is so far from what was guessed that digits of its variance are lost. */
static int finish_moments(const Moments *all, float *restrict mean, float *restrict var)
{
    double *restrict sums = all->sums, *restrict squares = all->squares, share = 1 / (double)all->cut.rows;
    float *restrict middle = all->middle;
    int64_t c = all->cut.c, far = 0;
    for (int64_t part = 1; part < all->cut.n_chunk; part++)
        for (int64_t k = 0; k < c; k++)
            sums[k] += sums[part * c + k], squares[k] += squares[part * c + k];
    for (int64_t k = 0; k < c; k++) {
        double shift = sums[k] * share, square = squares[k] * share - shift * shift;
        square = square < 0 ? 0 : square;
        mean[k] = (float)(middle[k] + shift);
        var[k] = (float)square;
        middle[k] = mean[k];
        far |= shift * shift > FAR_OFF * square;
    }
    return far != 0;
}

/* arrays: x, mean, var */
KERNEL(batch_statistics)(const BatchNormPlan *plan, void *const *arrays, int threads)
{
    Moments all = {.cut = cut_of(plan->rows, plan->c), .x = arrays[0]};
    int64_t c = plan->c, n_part = all.cut.n_chunk * c;
    all.sums = malloc((size_t)(2 * n_part) * sizeof *all.sums + (size_t)c * sizeof *all.middle);
    if (!all.sums)
        return 1;
    all.squares = all.sums + n_part;
    all.middle = (float *)(all.squares + n_part);
    threads = plan->rows * c < SMALL ? 1 : threads;
    guess_middle(&all);
    for (int k = 0, again = 1; again && k < 2; k++) {
        run_jobs(moments_job, &all, all.cut.n_chunk * all.cut.n_block, threads);
        again = finish_moments(&all, arrays[1], arrays[2]);
    }
    free(all.sums);
    return 0;
}
