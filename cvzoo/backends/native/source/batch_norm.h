/* Rows (N, C) of a batch normalization: how they are cut among jobs. */
#ifndef CVZOO_BATCH_NORM_H
#define CVZOO_BATCH_NORM_H

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

enum {
    SIDE_BY_SIDE = LANES == 8 ? 4 : 2, /* registers whose constants fill the others */
    FEW_ROWS = 64,
    MOST_CHUNKS = 64,
    BLOCK = 1024, /* channels of a job: what belongs to them stays in a level-1 cache */
    SOME_ROWS = 8, /* a job's rows begin at a multiple */
};

/* Rows that are wide are read four at a time as they lie, where there are registers for it: the processor fetches ahead
of few that are read to their end. Of others a strip is added at once, and its sums stay in registers. */
static inline int is_wide(int64_t step) { return LANES == 8 && step >= WIDEST; }

static inline Cut cut_of(int64_t rows, int64_t c)
{
    Cut cut = {rows, c, rows_joined(c), 1, parts_of(c, BLOCK)};
    cut.n_chunk = most(least(least(rows / FEW_ROWS, rows * c / SMALL), MOST_CHUNKS), 1);
    return cut;
}

/* A job's rows, from a multiple of those that are added at once, and its channels. */
typedef struct {
    int64_t chunk, row, m, first, width;
} Share;

static inline Share share_of(const Cut *cut, int64_t job)
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
static inline void repeat(const float *values, int64_t width, int64_t joined, float *wide)
{
    for (int64_t k = 0; k < joined; k++)
        memcpy(wide + k * width, values, (size_t)width * sizeof *wide);
}

static inline void fold(const double *wide, int64_t width, int64_t joined, double *sums)
{
    for (int64_t k = 0; k < joined; k++)
        for (int64_t c = 0; c < width; c++)
            sums[c] += wide[k * width + c];
}

#endif
