/* Elementwise programs over many arrays in one pass over memory. A few registers full of each array pass through all
operations, the result of one staying in registers for the next. Every operation rounds as NumPy's does. */
#include <math.h>

#include "native.h"

enum {
    PIECE = 64, /* numbers of a place */
    HELD = PIECE / WIDTH, /* registers of an operation's result */
    AHEAD = 8, /* pieces: by itself the CPU fetches four arrays in time or too late, depending on their addresses */
    JOB = 1 << 15,
    MOST_PLACES = 40, /* arrays, constants and temporaries */
    FIELDS = 4,
    NONE = -1,
};

enum {
    KEEP,
    ADD,
    SUBTRACT,
    SUBTRACT_FROM, /* the second operand minus the first one */
    MULTIPLY,
    DIVIDE,
    DIVIDE_INTO, /* the second operand by the first one */
    MAXIMUM,
    MINIMUM,
    SQRT,
    ABSOLUTE,
    NEGATIVE,
    SIGN,
    FLUSH, /* 0 where it is smaller than the second operand */
};

typedef struct {
    int64_t n_operation, n_array, n_constant, n_segment;
} ElementwisePlan;

typedef struct {
    const ElementwisePlan *plan;
    const int32_t *operations; /* (n_operation, FIELDS): which; where the first operand is, NONE: it is the result before;
                                  where the second one is; where the result is stored, NONE: nowhere */
    const float *constants;
    float *const *addresses; /* (n_segment, n_array) */
    const int64_t *starts;   /* (n_segment + 1,): of segments, as if they were one array */
} Elementwise;

#define EACH_HELD _Pragma("GCC unroll 16") for (int k = 0; k < HELD; k++)

static inline Full magnitude(Full v) { return (Full)((FullInt)v & 0x7fffffff); }

static inline Full root(Full v)
{
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    return (Full)_mm512_sqrt_ps((__m512)v);
#elif defined(__AVX2__)
    return (Full)_mm256_sqrt_ps((__m256)v);
#else
    for (int k = 0; k < WIDTH; k++)
        v[k] = sqrtf(v[k]);
    return v;
#endif
}

#define OPERATION(which, result)                                                                                       \
    case which:                                                                                                        \
        EACH_HELD                                                                                                      \
        {                                                                                                              \
            Full a = held[k], b = load(other + k * WIDTH);                                                             \
            (void)b;                                                                                                   \
            held[k] = result;                                                                                          \
        }                                                                                                              \
        break;

/* The program on PIECE numbers of each place. */
static void run_piece(const Elementwise *all, float *const *places)
{
    const Full zero = {0}, one = zero + 1;
    Full held[HELD];
    EACH_HELD held[k] = zero;
    const int32_t *operation = all->operations, *end = operation + all->plan->n_operation * FIELDS;
    for (; operation < end; operation += FIELDS) {
        if (operation[1] != NONE) {
            const float *from = places[operation[1]];
            EACH_HELD held[k] = load(from + k * WIDTH);
        }
        const float *other = places[operation[2]];
        switch (operation[0]) {
            OPERATION(ADD, a + b)
            OPERATION(SUBTRACT, a - b)
            OPERATION(SUBTRACT_FROM, b - a)
            OPERATION(MULTIPLY, a * b)
            OPERATION(DIVIDE, a / b)
            OPERATION(DIVIDE_INTO, b / a)
            OPERATION(MAXIMUM, chosen((a > b) | (a != a), a, b)) /* NaN if one of them is */
            OPERATION(MINIMUM, chosen((a < b) | (a != a), a, b))
            OPERATION(SQRT, root(a))
            OPERATION(ABSOLUTE, magnitude(a))
            OPERATION(NEGATIVE, -a)
            OPERATION(SIGN, chosen(a > 0, one, chosen(a < 0, -one, chosen(a == 0, zero, a))))
            OPERATION(FLUSH, chosen(magnitude(a) < b, zero, a))
        }
        if (operation[3] != NONE) {
            float *to = places[operation[3]];
            EACH_HELD store(to + k * WIDTH, held[k]);
        }
    }
}

/* The program on n numbers of a segment; own: memory for MOST_PLACES pieces, with the constants in it. Arrays that do not
change are not written: they may be read-only, or others that do. */
static void run_segment(const Elementwise *all, float *const *arrays, int64_t first, int64_t n, float *own)
{
    int64_t n_array = all->plan->n_array, at = 0;
    float *places[MOST_PLACES];
    for (int64_t k = 0; k < MOST_PLACES; k++)
        places[k] = k < n_array ? arrays[k] + first : own + k * PIECE;
    for (; at + PIECE <= n; at += PIECE) {
        for (int64_t k = 0; n_array > 2 && k < n_array; k++)
            for (int i = 0; i < PIECE; i += 16)
                __builtin_prefetch(places[k] + AHEAD * PIECE + i);
        run_piece(all, places);
        for (int64_t k = 0; k < n_array; k++)
            places[k] += PIECE;
    }
    if (at == n)
        return;
    size_t size = (size_t)(n - at) * sizeof *own;
    for (int64_t k = 0; k < n_array; k++) {
        places[k] = own + k * PIECE;
        memcpy(places[k], arrays[k] + first + at, size);
    }
    run_piece(all, places);
    const int32_t *operation = all->operations, *end = operation + all->plan->n_operation * FIELDS;
    for (; operation < end; operation += FIELDS)
        if (operation[3] != NONE && operation[3] < n_array)
            memcpy(arrays[operation[3]] + first + at, places[operation[3]], size);
}

static void elementwise_job(void *what, int64_t job)
{
    const Elementwise *all = what;
    const ElementwisePlan *plan = all->plan;
    float own[MOST_PLACES * PIECE] __attribute__((aligned(64)));
    memset(own, 0, (size_t)plan->n_array * PIECE * sizeof *own); /* what a short piece does not fill */
    for (int64_t k = 0; k < plan->n_constant * PIECE; k++)
        own[plan->n_array * PIECE + k] = all->constants[k / PIECE];
    int64_t first = job * JOB, end = least(first + JOB, all->starts[plan->n_segment]), low = 0;
    for (int64_t high = plan->n_segment; high - low > 1;) { /* the segment of the job's first number */
        int64_t middle = (low + high) / 2;
        if (all->starts[middle] <= first)
            low = middle;
        else
            high = middle;
    }
    for (; first < end; low++) {
        int64_t n = least(end, all->starts[low + 1]) - first;
        run_segment(all, all->addresses + low * plan->n_array, first - all->starts[low], n, own);
        first += n;
    }
}

/* arrays: the operations, the constants, the addresses of the segments' arrays, the segments' starts, see Elementwise.
Places are the arrays, then the constants, then temporaries. Results do not depend on how the work is cut. */
KERNEL(elementwise)(const ElementwisePlan *plan, void *const *arrays, int threads)
{
    Elementwise own = {plan, arrays[0], arrays[1], arrays[2], arrays[3]};
    int64_t n = own.starts[plan->n_segment];
    run_jobs(elementwise_job, &own, parts_of(n, JOB), n < 2 * JOB ? 1 : threads);
    return 0;
}
