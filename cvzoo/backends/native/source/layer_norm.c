/* Gradients of layer normalization: of rows (N, C), each with a mean and a variance of its own. */
#include "columns.h"

typedef struct {
    int64_t rows, c;
    float eps;
} LayerNormPlan;

enum {
    TOGETHER = 4,
    MOST_CHUNKS = 64,
    FAR = 1 << 21, /* numbers: more than most caches hold of three arrays */
    STREAMED = 1 << 20, /* numbers: of more the result is written past the caches */
    NEAR = 1 << 10, /* numbers of a row: from memory the next rows are fetched, if a level-1 cache has room for them */
};

typedef struct {
    const LayerNormPlan *plan;
    const float *x, *gy, *mean, *var, *gamma;
    float *gx;
    double *sums, *products; /* of each chunk: of gy, and of gy times the normalized x */
    int64_t n_chunk;
    int far, streams;
} LayerNorm;

typedef struct {
    const float *x, *gy;
    float *gx;
    float mean, inverse, share, slope; /* gx = inverse * (gamma * gy - share - slope * normalized x) */
} Row;

static inline void add_full(Wide *sum, Full v) { *sum += widened(low_half(v)) + widened(high_half(v)); }

static inline double total(Wide v)
{
    double sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += v[lane];
    return sum;
}

/* What lies between the gradients of m rows and their sums. */
static inline __attribute__((always_inline)) void add_rows(Row *rows, int m, int far, int64_t n, const float *gamma,
                                                           double *sums, double *products)
{
    Wide by_gamma[TOGETHER] = {{0}}, by_both[TOGETHER] = {{0}};
    double end_by_gamma[TOGETHER] = {0}, end_by_both[TOGETHER] = {0};
    int64_t c = 0;
    for (; c + 2 * LANES <= n; c += 2 * LANES) {
        Full gain = load(gamma + c), sum = {0}, product = {0};
        for (int r = 0; r < m; r++) {
            if (far && n <= NEAR) {
                __builtin_prefetch(rows[r].x + c + m * n);
                __builtin_prefetch(rows[r].gy + c + m * n);
            }
            Full g = load(rows[r].gy + c), x_hat = (load(rows[r].x + c) - rows[r].mean) * rows[r].inverse;
            add_full(by_gamma + r, g * gain);
            add_full(by_both + r, g * gain * x_hat);
            sum += g;
            product += g * x_hat;
        }
        store_double(sums + c, load_double(sums + c) + widened(low_half(sum)));
        store_double(sums + c + LANES, load_double(sums + c + LANES) + widened(high_half(sum)));
        store_double(products + c, load_double(products + c) + widened(low_half(product)));
        store_double(products + c + LANES, load_double(products + c + LANES) + widened(high_half(product)));
    }
    for (; c < n; c++)
        for (int r = 0; r < m; r++) {
            double g = rows[r].gy[c], x_hat = (rows[r].x[c] - rows[r].mean) * rows[r].inverse;
            end_by_gamma[r] += g * gamma[c], end_by_both[r] += g * gamma[c] * x_hat;
            sums[c] += g, products[c] += g * x_hat;
        }
    for (int r = 0; r < m; r++) {
        rows[r].share = (float)((total(by_gamma[r]) + end_by_gamma[r]) / (double)n);
        rows[r].slope = (float)((total(by_both[r]) + end_by_both[r]) / (double)n);
    }
}

static inline __attribute__((always_inline)) void row_gradient(const Row *row, int64_t n, const float *gamma,
                                                               int streams)
{
    int64_t c = 0;
    for (; c + 2 * LANES <= n; c += 2 * LANES) {
        Full x_hat = (load(row->x + c) - row->mean) * row->inverse;
        Full g = (load(row->gy + c) * load(gamma + c) - row->share - x_hat * row->slope) * row->inverse;
        if (streams)
            stream(row->gx + c, g);
        else
            store(row->gx + c, g);
    }
    for (; c < n; c++) {
        float x_hat = (row->x[c] - row->mean) * row->inverse;
        row->gx[c] = (row->gy[c] * gamma[c] - row->share - x_hat * row->slope) * row->inverse;
    }
}

static void rows_job(void *what, int64_t chunk)
{
    const LayerNorm *all = what;
    int64_t n = all->plan->c, r = all->plan->rows * chunk / all->n_chunk;
    int64_t end = all->plan->rows * (chunk + 1) / all->n_chunk;
    double *sums = all->sums + chunk * n, *products = all->products + chunk * n;
    memset(sums, 0, (size_t)n * sizeof *sums);
    memset(products, 0, (size_t)n * sizeof *products);
    for (; r < end; r += TOGETHER) {
        int m = (int)least(TOGETHER, end - r);
        Row rows[TOGETHER];
        for (int k = 0; k < m; k++) {
            double inverse = 1 / __builtin_sqrt((double)all->var[r + k] + (double)all->plan->eps);
            rows[k] = (Row){all->x + (r + k) * n, all->gy + (r + k) * n, all->gx + (r + k) * n, all->mean[r + k],
                            (float)inverse, 0, 0};
        }
        if (m == TOGETHER && all->far)
            add_rows(rows, TOGETHER, 1, n, all->gamma, sums, products);
        else if (m == TOGETHER)
            add_rows(rows, TOGETHER, 0, n, all->gamma, sums, products);
        else
            for (int k = 0; k < m; k++)
                add_rows(rows + k, 1, 0, n, all->gamma, sums, products);
        for (int k = 0; k < m; k++)
            if (all->streams)
                row_gradient(rows + k, n, all->gamma, 1);
            else
                row_gradient(rows + k, n, all->gamma, 0);
    }
}

/* arrays: x, gy, gx (may be gy), mean, var, gamma, beta (not read), ggamma, gbeta */
KERNEL(layer_norm_grad)(const LayerNormPlan *plan, void *const *arrays, int threads)
{
    LayerNorm all = {plan, arrays[0], arrays[1], arrays[3], arrays[4], arrays[5], arrays[2], NULL, NULL, 1, 0, 0};
    float *ggamma = arrays[7], *gbeta = arrays[8];
    int64_t c = plan->c, size = plan->rows * c;
    all.n_chunk = most(least(least(plan->rows / 64, size / SMALL), MOST_CHUNKS), 1);
    all.far = size >= FAR;
    all.streams = size >= STREAMED && c % (2 * LANES) == 0 && (uintptr_t)all.gx % sizeof(Full) == 0;
    int64_t room = whole_lines(all.n_chunk * c) + SPACING;
    all.sums = new_lines((size_t)(2 * room) * sizeof *all.sums + (size_t)c * sizeof *all.gamma);
    if (!all.sums)
        return 1;
    all.products = all.sums + room;
    all.gamma = memcpy(all.products + room, all.gamma, (size_t)c * sizeof *all.gamma);
    run_jobs(rows_job, &all, all.n_chunk, size < SMALL ? 1 : threads);
    for (int64_t k = 0; k < c; k++) {
        double sum = 0, product = 0;
        for (int64_t chunk = 0; chunk < all.n_chunk; chunk++)
            sum += all.sums[chunk * c + k], product += all.products[chunk * c + k];
        gbeta[k] = (float)sum, ggamma[k] = (float)product;
    }
    free(all.sums);
    return 0;
}
