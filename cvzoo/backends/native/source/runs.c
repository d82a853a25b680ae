/* Run-length encoded masks: COCO's strings decoded, polygons rasterized, and the pixels in which two masks differ. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off") /* each operation of a polygon's edge rounds as pycocotools' does */
#endif
#include <math.h>
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

/* The runs of a string of n characters; their number, -1 if it is malformed or they are more than `room`. Most integers
have one or two groups, which are told apart without a branch that would be mispredicted. */
static int64_t string_runs(const uint8_t *text, int64_t length, int32_t *counts, int64_t room)
{
    uint32_t before = 0, last = 0; /* the two runs before, 0 for the first three */
    int64_t n = 0, k = 0;
    while (k < length) {
        uint32_t value, a = (uint8_t)(text[k] - ZERO), b = k + 1 < length ? (uint8_t)(text[k + 1] - ZERO) : 2 * MORE;
        if (n == room)
            return -1;
        if ((a | b) < 2 * MORE && !(a & b & MORE)) {
            uint32_t is_long = a / MORE;
            uint32_t one = (uint32_t)((int32_t)(a << 27) >> 27);
            uint32_t two = (uint32_t)((int32_t)((b << 27) | (a & (MORE - 1)) << 22) >> 22);
            value = one ^ ((one ^ two) & -is_long);
            k += 1 + is_long;
        } else {
            uint64_t bits = 0;
            int groups = 0;
            do {
                if (k == length || groups == MOST_GROUPS)
                    return -1;
                a = (uint8_t)(text[k++] - ZERO);
                if (a >= 2 * MORE)
                    return -1;
                bits |= (uint64_t)(a & (MORE - 1)) << (5 * groups++);
            } while (a & MORE);
            if (a & SIGN)
                bits |= -((uint64_t)1 << (5 * groups));
            value = (uint32_t)bits;
        }
        value += before;
        before = n > 1 ? last : 0, last = value;
        counts[n++] = (int32_t)value;
    }
    return n;
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
    for (int64_t r = 0; r < plan->n; k = stops[r++]) {
        int64_t more = string_runs(text + k, stops[r] - k, counts + n, stops[r] - k);
        if (more < 0)
            return 1;
        ends[r] = n += more;
    }
    return 0;
}

/* For n strings of a JSON text, in which \ is escaped. arrays: the text; begin, end of each string, int64; the offsets of the
strings' counts, int64, n + 1; counts, int32; room for the characters of the longest string. Returns 1 if a string is
malformed or has another number of counts. */
KERNEL(run_texts)(const RunsPlan *plan, void *const *arrays, int threads)
{
    const uint8_t *all = arrays[0];
    const int64_t *begins = arrays[1], *ends = arrays[2], *offsets = arrays[3];
    int32_t *counts = arrays[4];
    uint8_t *unescaped = arrays[5];
    (void)threads;
    for (int64_t r = 0; r < plan->n; r++) {
        const uint8_t *text = all + begins[r], *stop = all + ends[r], *escape;
        int64_t length = ends[r] - begins[r], room = offsets[r + 1] - offsets[r];
        if (memchr(text, '\\', (size_t)length)) {
            uint8_t *to = unescaped;
            while ((escape = memchr(text, '\\', (size_t)(stop - text)))) {
                memcpy(to, text, (size_t)(escape + 1 - text)); /* with the first \; the second one is left out */
                to += escape + 1 - text;
                text = escape + 2 < stop ? escape + 2 : stop;
            }
            memcpy(to, text, (size_t)(stop - text));
            length = to + (stop - text) - unescaped, text = unescaped;
        }
        if (string_runs(text, length, counts + offsets[r], room) != room)
            return 1;
    }
    return 0;
}

/* For n masks. arrays: counts, int32; offsets, int64, n + 1; the sum of each mask's runs, and of every second one, int64 */
KERNEL(run_sums)(const RunsPlan *plan, void *const *arrays, int threads)
{
    const int32_t *counts = arrays[0];
    const int64_t *offsets = arrays[1];
    int64_t *totals = arrays[2], *areas = arrays[3];
    (void)threads;
    for (int64_t r = 0; r < plan->n; r++) {
        int64_t k = offsets[r], stop = offsets[r + 1], even = 0, odd = 0;
        for (; k + 1 < stop; k += 2)
            even += counts[k], odd += counts[k + 1];
        even += k < stop ? counts[k] : 0;
        totals[r] = even + odd, areas[r] = odd;
    }
    return 0;
}

/* ---- polygons, by the rules that geometry/polygons_to_rle.py tells ---- */

enum { GRID = 5, MANY = 32 /* changes in a column: from then on they are sorted by qsort */ };

typedef struct {
    int32_t x, y, long_side, wide, first, n; /* the start; steps; whether along x; the columns that are crossed */
    double slope;
} Edge;

static Edge edge_between(int32_t x, int32_t y, int32_t x_to, int32_t y_to, int32_t width)
{
    Edge edge;
    int32_t low = x < x_to ? x : x_to, high = x < x_to ? x_to : x;
    edge.wide = high - low >= (y < y_to ? y_to - y : y - y_to);
    if (edge.wide ? x > x_to : y > y_to) {
        int32_t swapped = x;
        x = x_to, x_to = swapped;
        swapped = y, y = y_to, y_to = swapped;
    }
    edge.x = x, edge.y = y;
    edge.long_side = edge.wide ? x_to - x : y_to - y;
    edge.slope = (double)(edge.wide ? y_to - y : x_to - x) / (edge.long_side > 1 ? edge.long_side : 1);
    edge.first = low <= GRID / 2 ? 0 : (low - GRID / 2 + GRID - 1) / GRID;
    int32_t last = high <= GRID / 2 ? -1 : (high - GRID / 2 - 1) / GRID;
    last = last < width ? last : width - 1;
    edge.n = last >= edge.first ? last + 1 - edge.first : 0;
    return edge;
}

static inline int is_on_start_side(const Edge *edge, int32_t step, int32_t center)
{
    int is_past = trunc(edge->x + edge->slope * step + 0.5) > center;
    return edge->slope > 0 ? !is_past : is_past;
}

/* A quotient estimates the step up to rounding; the expression that pycocotools evaluates at each step decides. */
static int32_t steps_before(const Edge *edge, int32_t center)
{
    double estimate = edge->slope == 0 ? 0 : floor((center + 0.5 - edge->x) / edge->slope);
    if (!isfinite(estimate))
        estimate = 0;
    int32_t step = estimate < 0 ? 0 : estimate > edge->long_side ? edge->long_side : (int32_t)estimate;
    while (step < edge->long_side && is_on_start_side(edge, step + 1, center))
        step++;
    while (step > 0 && !is_on_start_side(edge, step, center))
        step--;
    return step;
}

static int32_t row_of(const Edge *edge, int32_t column, int32_t height)
{
    int32_t center = GRID * column + GRID / 2, y;
    if (edge->wide)
        y = (int32_t)trunc(edge->y + edge->slope * (center - edge->x + (edge->slope < 0)) + 0.5);
    else
        y = edge->y + steps_before(edge, center);
    double row = (y + 0.5) / GRID - 0.5;
    return (int32_t)ceil(row < 0 ? 0 : row > height ? height : row);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_few(int64_t *x, int64_t n)
{
    if (n > MANY) {
        qsort(x, (size_t)n, sizeof *x, compare_numbers);
        return;
    }
    for (int64_t k = 1; k < n; k++) {
        int64_t one = x[k], j = k;
        for (; j > 0 && x[j - 1] > one; j--)
            x[j] = x[j - 1];
        x[j] = one;
    }
}

typedef struct {
    int64_t n, most_changes, most_columns; /* rings; scratch: changes of a ring, columns of a mask and one more */
} PolygonsPlan;

/* How often each ring crosses columns. arrays: x and y of the vertices, int32; the end of each ring's, int64; (H, W) of
each ring's mask, int32; the numbers, int64 */
KERNEL(polygon_changes)(const PolygonsPlan *plan, void *const *arrays, int threads)
{
    const int32_t *x = arrays[0], *y = arrays[1], *size = arrays[3];
    const int64_t *ends = arrays[2];
    int64_t *numbers = arrays[4];
    (void)threads;
    for (int64_t ring = 0, first = 0; ring < plan->n; first = ends[ring++]) {
        numbers[ring] = 0;
        for (int64_t k = first; k < ends[ring]; k++) {
            int64_t to = k + 1 < ends[ring] ? k + 1 : first;
            numbers[ring] += edge_between(x[k], y[k], x[to], y[to], size[2 * ring + 1]).n;
        }
    }
    return 0;
}

/* The masks of rings. arrays: as of polygon_changes; the counts of all masks, int32, as many as changes and rings; the end
of each mask's, int64 */
KERNEL(polygon_runs)(const PolygonsPlan *plan, void *const *arrays, int threads)
{
    const int32_t *x = arrays[0], *y = arrays[1], *size = arrays[3];
    const int64_t *ends = arrays[2];
    int32_t *counts = arrays[4];
    int64_t *count_ends = arrays[5], n = 0;
    size_t room = (size_t)plan->most_changes;
    int64_t *positions = malloc((2 * room + (size_t)plan->most_columns) * sizeof *positions + 1);
    (void)threads;
    if (!positions)
        return 1;
    int64_t *sorted = positions + room, *starts = sorted + room;
    for (int64_t ring = 0, first = 0; ring < plan->n; first = ends[ring++]) {
        int64_t height = size[2 * ring], width = size[2 * ring + 1], m = 0, position = 0;
        /* by columns, of which each has a few; a position at a column's end is the next one's first */
        memset(starts, 0, (size_t)(width + 2) * sizeof *starts);
        for (int64_t k = first; k < ends[ring]; k++) {
            int64_t to = k + 1 < ends[ring] ? k + 1 : first;
            Edge edge = edge_between(x[k], y[k], x[to], y[to], (int32_t)width);
            for (int64_t column = edge.first; column < edge.first + edge.n; column++) {
                int64_t row = row_of(&edge, (int32_t)column, (int32_t)height), owner = column + (row == height);
                positions[m++] = owner << 32 | (column * height + row);
                starts[owner + 1]++;
            }
        }
        for (int64_t column = 0; column < width + 1; column++)
            starts[column + 1] += starts[column];
        for (int64_t k = 0; k < m; k++)
            sorted[starts[positions[k] >> 32]++] = positions[k] & UINT32_MAX; /* without its column */
        for (int64_t column = 0, from = 0; column < width + 1; from = starts[column++])
            sort_few(sorted + from, starts[column] - from);
        for (int64_t k = 0; k < m && sorted[k] < height * width;) {
            int64_t same = k;
            while (k < m && sorted[k] == sorted[same])
                k++;
            if ((k - same) % 2) { /* two changes at one position cancel out */
                counts[n++] = (int32_t)(sorted[same] - position);
                position = sorted[same];
            }
        }
        counts[n++] = (int32_t)(height * width - position);
        count_ends[ring] = n;
    }
    free(positions);
    return 0;
}
