/* Run-length encoded masks: COCO's strings decoded, and the pixels in which two masks differ. */
#include "native.h"

enum { ZERO = 48, MORE = 32, SIGN = 16, MOST_GROUPS = 7 /* 35 bits hold every int32 */, PAIRS = 64 };

typedef struct {
    int64_t n;
} RunsPlan;

typedef struct {
    const int32_t *counts_a, *counts_b;
    const int64_t *offsets_a, *offsets_b, *index_a, *index_b;
    int64_t n, *out;
} Differences;

/* The run that ends next adds its pixels if the masks differ there: without branches, every second of which would be
mispredicted. Both masks end at the same pixel; what one of them has left then are empty runs. */
static int64_t difference(const int32_t *a, int64_t n_a, const int32_t *b, int64_t n_b)
{
    int64_t sum = 0, position = 0, i = 0, j = 0;
    if (n_a == 0 || n_b == 0)
        return 0;
    int64_t end_a = a[0], end_b = b[0];
    for (;;) {
        int64_t next = least(end_a, end_b), is_a = end_a <= end_b, is_b = end_b <= end_a;
        sum += (next - position) & -((i ^ j) & 1);
        position = next;
        i += is_a, j += is_b;
        if (i >= n_a || j >= n_b)
            return sum;
        end_a += a[i] & -is_a;
        end_b += b[j] & -is_b;
    }
}

static void difference_job(void *what, int64_t job)
{
    const Differences *all = what;
    for (int64_t p = job * PAIRS; p < least((job + 1) * PAIRS, all->n); p++) {
        int64_t a = all->index_a[p], b = all->index_b[p];
        int64_t from_a = all->offsets_a[a], from_b = all->offsets_b[b];
        all->out[p] = difference(all->counts_a + from_a, all->offsets_a[a + 1] - from_a, all->counts_b + from_b,
                                 all->offsets_b[b + 1] - from_b);
    }
}

/* For n pairs. arrays: counts int32 and offsets int64 of the masks a, of the masks b; the pairs' indices, int64; the
numbers of pixels, int64 */
KERNEL(run_difference)(const RunsPlan *plan, void *const *arrays, int threads)
{
    Differences all = {arrays[0], arrays[2], arrays[1], arrays[3], arrays[4], arrays[5], plan->n, arrays[6]};
    run_jobs(difference_job, &all, parts_of(plan->n, PAIRS), threads);
    return 0;
}

/* For n strings. arrays: their characters, one string after another; the end of each, int64; counts, int32, as many as
characters; the end of each string's counts, int64. Returns 1 if a string is malformed. */
KERNEL(run_strings)(const RunsPlan *plan, void *const *arrays, int threads)
{
    const uint8_t *text = arrays[0];
    const int64_t *stops = arrays[1];
    int32_t *counts = arrays[2];
    int64_t *ends = arrays[3], n = 0, k = 0;
    (void)threads;
    for (int64_t r = 0; r < plan->n; r++) {
        for (int64_t first = n; k < stops[r]; n++) {
            uint64_t value = 0;
            int groups = 0;
            uint8_t group;
            do {
                group = (uint8_t)(text[k] - ZERO);
                if (group >= 2 * MORE || groups == MOST_GROUPS)
                    return 1;
                value |= (uint64_t)(group & (MORE - 1)) << (5 * groups++);
                k++;
                if ((group & MORE) && k == stops[r])
                    return 1;
            } while (group & MORE);
            if (group & SIGN)
                value |= -((uint64_t)1 << (5 * groups));
            counts[n] = (int32_t)(uint32_t)(value + (n - first > 2 ? (uint64_t)(int64_t)counts[n - 2] : 0));
        }
        ends[r] = n;
    }
    return 0;
}
