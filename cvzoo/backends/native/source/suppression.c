/* Non-maximum suppression: each box is compared with all that were kept before, a register of them at a time. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off") /* each operation rounds as NumPy's does, so that the same boxes are kept */
#endif
#include "native.h"


typedef struct {
    int64_t n, limit;
    float thresh;
} SuppressionPlan;

enum { Y_MIN, X_MIN, Y_MAX, X_MAX, AREA, FIELDS }; /* of the kept boxes, each in an array of its own */

static inline Full larger(Full a, Full b) { return chosen(a > b, a, b); }
static inline Full smaller(Full a, Full b) { return chosen(a < b, a, b); }
static inline float positive(float x) { return x > 0 ? x : 0; }

static inline int any(FullInt where)
{
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    return _mm512_test_epi32_mask((__m512i)where, (__m512i)where) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)where, (__m256i)where);
#else
    int32_t some = 0;
    for (int k = 0; k < WIDTH; k++)
        some |= where[k];
    return some != 0;
#endif
}

/* Whether the box overlaps any of the first `count` kept ones, which are filled up to whole registers. */
static int is_overlapped(const float *box, float area, float *const *kept, int64_t count, float thresh)
{
    const Full zero = {0};
    for (int64_t k = 0; k < count; k += WIDTH) {
        Full height = smaller(zero + box[2], load(kept[Y_MAX] + k)) - larger(zero + box[0], load(kept[Y_MIN] + k));
        Full width = smaller(zero + box[3], load(kept[X_MAX] + k)) - larger(zero + box[1], load(kept[X_MIN] + k));
        FullInt meet = (height > zero) & (width > zero);
        if (!any(meet))
            continue;
        Full inter = height * width;
        Full overlap = inter / (load(kept[AREA] + k) + area - inter);
        if (any((overlap > thresh) & meet))
            return 1;
    }
    return 0;
}

/* arrays: boxes (n, 4), best first; (n,) int64, the rows that are kept; their number, int64. At most `limit` are. */
KERNEL(suppression)(const SuppressionPlan *plan, void *const *arrays, int threads)
{
    const float *boxes = arrays[0];
    int64_t *rows = arrays[1], count = 0, room = parts_of(least(plan->n, plan->limit), WIDTH) * WIDTH;
    float *memory = malloc((size_t)(room * FIELDS) * sizeof *memory + 1), *kept[FIELDS];
    (void)threads;
    if (!memory)
        return 1;
    for (int field = 0; field < FIELDS; field++)
        kept[field] = memory + field * room;
    for (int64_t k = 0; k < room; k++) { /* a box that meets no other */
        kept[Y_MIN][k] = kept[X_MIN][k] = __builtin_inff();
        kept[Y_MAX][k] = kept[X_MAX][k] = -__builtin_inff();
        kept[AREA][k] = 0;
    }
    for (int64_t row = 0; row < plan->n && count < plan->limit; row++) {
        const float *box = boxes + 4 * row;
        float area = positive(box[2] - box[0]) * positive(box[3] - box[1]);
        if (is_overlapped(box, area, kept, count, plan->thresh))
            continue;
        for (int field = 0; field < 4; field++)
            kept[field][count] = box[field];
        kept[AREA][count] = area;
        rows[count++] = row;
    }
    *(int64_t *)arrays[2] = count;
    free(memory);
    return 0;
}
