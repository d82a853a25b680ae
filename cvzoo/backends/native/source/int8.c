/* Convolutions of int8 or uint8 images with int8 filters, channels-last, for processors without dot products of bytes.

Bytes are widened to 16 bits, strip by strip of the map; two products of them and their sum take one instruction, twice
the products of a float32 one. Sums are exact; what follows them rounds as the reference in NumPy does, but for
exponentials. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif
#include "activations.h"

enum {
    PANEL = 16, /* filters of a product, or channels of a depthwise one */
    STRIP = 1 << 16, /* widened numbers of a strip, which stay in the second cache for all panels */
};
enum { FLOATS, UNSIGNED_BYTES, SIGNED_BYTES };

typedef struct {
    int64_t b, h, w, c, o, out_h, out_w, window_h, window_w;
    int64_t step_h, step_w, dilate_h, dilate_w, top, left;
    int64_t is_depthwise, source, addend /* -1: none */, target, has_bias, activation;
    double alpha, beta;
    float add_scale, factor; /* of the addend; the inverse of the result's scale */
} Int8Plan;

typedef struct {
    const Int8Plan *plan;
    const uint8_t *x;
    const int16_t *u;
    const float *bias, *scale;
    const void *addend;
    void *y;
    float *scratch;
    int64_t rows, strips, panels, splits, jobs, workers, next; /* rows: of the result, of a strip */
    int64_t skip_h, skip_w; /* pixels of the map from one of the strip to the next: those that no window sees are left out */
    int64_t columns, channels; /* of the strip, channels filled up with zeros */
} Int8;

typedef int16_t Shorts __attribute__((vector_size(2 * PANEL)));
typedef int32_t Ints __attribute__((vector_size(2 * PANEL)));

static inline Shorts load_shorts(const int16_t *p)
{
    Shorts v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Each two numbers side by side multiplied, and added. */
static inline Ints pair_sums(Shorts a, Shorts b)
{
#if defined(__AVX2__)
    return (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    Ints sums;
    for (int k = 0; k < PANEL / 2; k++)
        sums[k] = a[2 * k] * b[2 * k] + a[2 * k + 1] * b[2 * k + 1];
    return sums;
#endif
}

/* PANEL numbers; the last ones do not matter if there are fewer. */
typedef struct {
    Full part[PANEL / WIDTH];
} Numbers;
#define PARTS(i) _Pragma("GCC unroll 4") for (int i = 0; i < PANEL / WIDTH; i++)

static inline Numbers from_ints(const int32_t *p)
{
    Numbers v;
    PARTS(i)
    {
        FullInt few;
        memcpy(&few, p + i * WIDTH, sizeof few);
        v.part[i] = __builtin_convertvector(few, Full);
    }
    return v;
}

static inline __attribute__((always_inline)) Numbers from_floats(const float *p, int64_t n)
{
    float few[PANEL] = {0};
    Numbers v;
    if (n < PANEL)
        p = memcpy(few, p, (size_t)n * sizeof *p);
    PARTS(i) v.part[i] = load(p + i * WIDTH); /* whole registers: what was stored in parts comes late */
    return v;
}

static inline __attribute__((always_inline)) Numbers from_bytes(const uint8_t *p, int64_t n, int is_signed)
{
    uint8_t few[PANEL] = {0};
    memcpy(few, p, (size_t)n);
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    __m128i bytes = _mm_loadu_si128((const __m128i *)few);
    __m512i ints = is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
    return (Numbers){{(Full)_mm512_cvtepi32_ps(ints)}};
#elif defined(__AVX2__)
    __m128i bytes = _mm_loadu_si128((const __m128i *)few), more = _mm_srli_si128(bytes, WIDTH);
    __m256i first = is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
    __m256i second = is_signed ? _mm256_cvtepi8_epi32(more) : _mm256_cvtepu8_epi32(more);
    return (Numbers){{(Full)_mm256_cvtepi32_ps(first), (Full)_mm256_cvtepi32_ps(second)}};
#else
    int32_t ints[PANEL];
    for (int k = 0; k < PANEL; k++)
        ints[k] = is_signed ? (int8_t)few[k] : few[k];
    return from_ints(ints);
#endif
}

/* The nearest bytes, halves to the even one, some byte for NaN. */
static inline __attribute__((always_inline)) void store_bytes(uint8_t *to, Numbers v, int64_t n, int is_signed)
{
    const Full high = all(is_signed ? 127.0f : 255.0f), low = all(is_signed ? -128.0f : 0.0f);
    uint8_t few[PANEL];
    PARTS(i) v.part[i] = smaller(larger(v.part[i], low), high);
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    _mm_storeu_si128((__m128i *)few, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32((__m512)v.part[0])));
#elif defined(__AVX2__)
    __m256i ints = _mm256_packs_epi32(_mm256_cvtps_epi32((__m256)v.part[0]), _mm256_cvtps_epi32((__m256)v.part[1]));
    __m128i first = _mm256_castsi256_si128(ints), second = _mm256_extracti128_si256(ints, 1); /* 0-3 8-11, 4-7 12-15 */
    __m128i bytes = is_signed ? _mm_packs_epi16(first, second) : _mm_packus_epi16(first, second);
    _mm_storeu_si128((__m128i *)few, _mm_shuffle_epi32(bytes, 0xd8));
#else
    PARTS(i)
    for (int k = 0; k < WIDTH; k++)
        few[i * WIDTH + k] = (uint8_t)((FullInt)(v.part[i] + 0x1.8p23f))[k]; /* which rounds; the last byte of the bits */
#endif
    memcpy(to, few, (size_t)n);
}

/* y = activation(scale * m + bias + addend) of `n` filters from k on, of so many pixels. */
static inline __attribute__((always_inline)) void write_numbers(const Int8 *own, int64_t pixel, int64_t pixels, int64_t k,
                                                                int64_t n, const int32_t *m, int64_t addend,
                                                                int64_t target, int64_t activation)
{
    const Int8Plan *plan = own->plan;
    Numbers scale = from_floats(own->scale + k, n), bias = {{{0}}};
    if (plan->has_bias)
        bias = from_floats(own->bias + k, n);
    for (int64_t r = 0, at = pixel * plan->o + k; r < pixels; r++, at += plan->o, m += PANEL) {
        Numbers v = from_ints(m);
        PARTS(i) v.part[i] = v.part[i] * scale.part[i] + bias.part[i];
        if (addend == FLOATS) {
            Numbers more = from_floats((const float *)own->addend + at, n);
            PARTS(i) v.part[i] += more.part[i];
        } else if (addend > FLOATS) {
            Numbers more = from_bytes((const uint8_t *)own->addend + at, n, addend == SIGNED_BYTES);
            PARTS(i) v.part[i] += more.part[i] * plan->add_scale;
        }
        PARTS(i) v.part[i] = finished(activation, plan->alpha, plan->beta, v.part[i]);
        if (target == FLOATS) {
            memcpy((float *)own->y + at, &v, (size_t)n * sizeof(float));
            continue;
        }
        PARTS(i) v.part[i] *= plan->factor;
        store_bytes((uint8_t *)own->y + at, v, n, target == SIGNED_BYTES);
    }
}

/* The cases that most of a network's time goes to are compiled by themselves. */
static void write_sums(const Int8 *own, int64_t pixel, int64_t pixels, int64_t k, int64_t n, const int32_t *m)
{
    const Int8Plan *plan = own->plan;
    int is_usual = n == PANEL && plan->activation == LINEAR;
    if (is_usual && plan->target != FLOATS && plan->addend < 0)
        write_numbers(own, pixel, pixels, k, PANEL, m, -1, most(plan->target, UNSIGNED_BYTES), LINEAR);
    else if (is_usual && plan->target != FLOATS && plan->addend != FLOATS)
        write_numbers(own, pixel, pixels, k, PANEL, m, most(plan->addend, UNSIGNED_BYTES),
                      most(plan->target, UNSIGNED_BYTES), LINEAR);
    else if (is_usual && plan->target == FLOATS && plan->addend < 0)
        write_numbers(own, pixel, pixels, k, PANEL, m, -1, FLOATS, LINEAR);
    else
        write_numbers(own, pixel, pixels, k, n, m, plan->addend, plan->target, plan->activation);
}

/* ---- the strip ---- */

static inline void widen(int64_t n, const uint8_t *x, int is_signed, int16_t *to)
{
    if (is_signed)
        for (int64_t k = 0; k < n; k++)
            to[k] = (int8_t)x[k];
    else
        for (int64_t k = 0; k < n; k++)
            to[k] = x[k];
}

/* Rows of the strip that so many rows of the result see. */
static int64_t rows_seen(const Int8 *own, int64_t rows)
{
    const Int8Plan *plan = own->plan;
    return (rows - 1) * (plan->step_h / own->skip_h) + plan->dilate_h * (plan->window_h - 1) + 1;
}

/* The pixels that the rows `first` ... `first` + n - 1 of the result see. */
static void widen_strip(const Int8 *own, int64_t image, int64_t first, int64_t n, int16_t *strip)
{
    const Int8Plan *plan = own->plan;
    int64_t c = plan->c, channels = own->channels, size = own->columns * channels;
    int64_t rows = rows_seen(own, n);
    int is_signed = plan->source == SIGNED_BYTES;
    for (int64_t r = 0; r < rows; r++, strip += size) {
        int64_t row = first * plan->step_h - plan->top + r * own->skip_h;
        if (row < 0 || row >= plan->h) {
            memset(strip, 0, (size_t)size * sizeof *strip);
            continue;
        }
        const uint8_t *x = own->x + (image * plan->h + row) * plan->w * c;
        /* columns of the strip that are pixels of the map */
        int64_t from = least(plan->left > 0 ? parts_of(plan->left, own->skip_w) : 0, own->columns);
        int64_t end = parts_of(most(plan->w + plan->left, 0), own->skip_w);
        end = most(least(end, own->columns), from);
        memset(strip, 0, (size_t)(from * channels) * sizeof *strip);
        memset(strip + end * channels, 0, (size_t)((own->columns - end) * channels) * sizeof *strip);
        x += (from * own->skip_w - plan->left) * c;
        if (own->skip_w == 1 && channels == c) {
            widen((end - from) * c, x, is_signed, strip + from * c);
            continue;
        }
        for (int64_t j = from; j < end; j++, x += own->skip_w * c) {
            widen(c, x, is_signed, strip + j * channels);
            memset(strip + j * channels + c, 0, (size_t)(channels - c) * sizeof *strip);
        }
    }
}

/* ---- products ---- */

/* m[row][filter] = the sums of what the window at x[row] sees with a panel's filters, u [tap][channel / 2][filter][2] */
static inline __attribute__((always_inline)) void bytes_product(const int rows, const Int8 *own, const int16_t *const *x,
                                                                const int16_t *u, int32_t *m)
{
    const Int8Plan *plan = own->plan;
    Ints sums[ROWS][2]; /* a loop: the compiler would clear an array in memory first */
    _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = (Ints){0};
    for (int64_t i = 0; i < plan->window_h; i++)
        for (int64_t j = 0; j < plan->window_w; j++) {
            int64_t at = (i * plan->dilate_h * own->columns + j * plan->dilate_w) * own->channels;
            for (int64_t end = at + own->channels; at < end; at += 2, u += 2 * PANEL) {
                Shorts left = load_shorts(u), right = load_shorts(u + PANEL);
                _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
                {
                    int32_t two;
                    memcpy(&two, x[r] + at, sizeof two);
                    Shorts pixel = (Shorts)(two - (Ints){0});
                    sums[r][0] += pair_sums(pixel, left);
                    sums[r][1] += pair_sums(pixel, right);
                }
            }
        }
    _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++) memcpy(m + r * PANEL, sums[r], sizeof sums[r]);
}

typedef void BytesProduct(const Int8 *own, const int16_t *const *x, const int16_t *u, int32_t *m);
#define PRODUCT(rows) \
    static __attribute__((noinline)) void bytes_of_##rows(const Int8 *own, const int16_t *const *x, const int16_t *u, \
                                                          int32_t *m) \
    { \
        bytes_product(rows, own, x, u, m); \
    }
PRODUCT(1) PRODUCT(2) PRODUCT(3) PRODUCT(4) PRODUCT(5) PRODUCT(6)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
PRODUCT(7) PRODUCT(8) PRODUCT(9) PRODUCT(10) PRODUCT(11) PRODUCT(12)
#endif
static BytesProduct *const products[ROWS] = {
    bytes_of_1, bytes_of_2, bytes_of_3, bytes_of_4,  bytes_of_5,  bytes_of_6,
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    bytes_of_7, bytes_of_8, bytes_of_9, bytes_of_10, bytes_of_11, bytes_of_12,
#endif
};

/* Where in the strip the windows of its results begin. */
static void place_windows(const Int8 *own, int64_t n, int32_t *windows)
{
    const Int8Plan *plan = own->plan;
    int64_t down = plan->step_h / own->skip_h * own->columns, right = plan->step_w / own->skip_w;
    for (int64_t row = 0; row < n; row++)
        for (int64_t column = 0; column < plan->out_w; column++)
            *windows++ = (int32_t)((row * down + column * right) * own->channels);
}

static void multiply_panel(const Int8 *own, const int16_t *strip, const int32_t *windows, int64_t n, int64_t panel,
                           int64_t first)
{
    const Int8Plan *plan = own->plan;
    const int16_t *u = own->u + panel * plan->window_h * plan->window_w * own->channels * PANEL;
    int64_t filters = least(PANEL, plan->o - panel * PANEL);
    for (int64_t p = 0, turns = parts_of(n, ROWS); turns > 0; turns--) {
        int64_t taken = parts_of(n - p, turns);
        const int16_t *x[ROWS];
        int32_t m[ROWS * PANEL];
        for (int64_t r = 0; r < taken; r++)
            x[r] = strip + windows[p + r];
        products[taken - 1](own, x, u, m);
        write_sums(own, first + p, taken, panel * PANEL, filters, m);
        p += taken;
    }
}

/* The pairs of a and b in order, as they are multiplied: of a register's first halves, then of its second ones. */
static inline void add_two_taps(Shorts a, Shorts b, const int16_t *u, Ints *sums)
{
#if defined(__AVX2__)
    sums[0] += pair_sums((Shorts)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b), load_shorts(u));
    sums[1] += pair_sums((Shorts)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b), load_shorts(u + PANEL));
#else
    for (int k = 0; k < PANEL; k++) {
        int place = k % 8 / 4, at = k / 8 * 4 + k % 4;
        const int16_t *w = u + place * PANEL + 2 * at;
        sums[place][at] += a[k] * w[0] + b[k] * w[1];
    }
#endif
}

/* u [panel][two taps][channels 0-3 and 8-11; 4-7 and 12-15][4 channels and 4][tap] */
static inline __attribute__((always_inline)) void multiply_channels(const Int8 *own, int64_t window_h, int64_t window_w,
                                                                    const int16_t *strip, const int32_t *windows,
                                                                    int64_t n, int64_t panel, int64_t first)
{
    const Int8Plan *plan = own->plan;
    int64_t taps = window_h * window_w, channels = least(PANEL, plan->c - panel * PANEL);
    int64_t down = plan->dilate_h * own->columns * own->channels, right = plan->dilate_w * own->channels;
    const int16_t *panel_u = own->u + panel * parts_of(taps, 2) * 2 * PANEL;
    for (int64_t p = 0; p < n; p += ROWS) {
        int64_t taken = least(ROWS, n - p);
        int32_t m[ROWS * PANEL];
        for (int64_t r = 0; r < taken; r++) {
            const int16_t *x = strip + windows[p + r] + panel * PANEL, *u = panel_u;
            Ints sums[2] = {{0}};
            Shorts before = {0};
            _Pragma("GCC unroll 5") for (int64_t i = 0; i < window_h; i++)
            _Pragma("GCC unroll 5") for (int64_t j = 0; j < window_w; j++)
            {
                Shorts pixel = load_shorts(x + i * down + j * right);
                if ((i * window_w + j) % 2) {
                    add_two_taps(before, pixel, u, sums);
                    u += 2 * PANEL;
                }
                before = pixel;
            }
            if (taps % 2)
                add_two_taps(before, (Shorts){0}, u, sums);
            char *to = (char *)(m + r * PANEL);
            memcpy(to, &sums[0], 16), memcpy(to + 16, &sums[1], 16);
            memcpy(to + 32, (char *)&sums[0] + 16, 16), memcpy(to + 48, (char *)&sums[1] + 16, 16);
        }
        write_sums(own, first + p, taken, panel * PANEL, channels, m);
    }
}

/* ---- jobs ---- */

/* Numbers of scratch memory that a worker needs: a strip, two of whose numbers take the place of one, and windows. */
static int64_t scratch_of_strip(const Int8 *own)
{
    return whole_lines(parts_of(rows_seen(own, own->rows) * own->columns * own->channels, 2));
}

static int64_t scratch_of_worker(const Int8 *own)
{
    return scratch_of_strip(own) + whole_lines(own->rows * own->plan->out_w);
}

/* A strip of an image, and of the panels a part. */
static void int8_job(const Int8 *own, int64_t job, float *scratch)
{
    const Int8Plan *plan = own->plan;
    int64_t split = job % own->splits, image = job / own->splits / own->strips;
    int64_t row = job / own->splits % own->strips * own->rows, rows = least(own->rows, plan->out_h - row);
    int16_t *strip = (int16_t *)scratch;
    int32_t *windows = (int32_t *)(scratch + scratch_of_strip(own));
    widen_strip(own, image, row, rows, strip);
    place_windows(own, rows, windows);
    int64_t last = (split + 1) * own->panels / own->splits;
    int64_t first = (image * plan->out_h + row) * plan->out_w, n = rows * plan->out_w;
    for (int64_t panel = split * own->panels / own->splits; panel < last; panel++)
        if (!plan->is_depthwise)
            multiply_panel(own, strip, windows, n, panel, first);
        else if (plan->window_h == 3 && plan->window_w == 3)
            multiply_channels(own, 3, 3, strip, windows, n, panel, first);
        else if (plan->window_h == 5 && plan->window_w == 5)
            multiply_channels(own, 5, 5, strip, windows, n, panel, first);
        else
            multiply_channels(own, plan->window_h, plan->window_w, strip, windows, n, panel, first);
}

/* What one thread does, in scratch memory of its own: jobs, until there are none left. */
static void int8_worker(void *what, int64_t worker)
{
    Int8 *own = what;
    for (;;) {
        int64_t job = __atomic_fetch_add(&own->next, 1, __ATOMIC_RELAXED);
        if (job >= own->jobs)
            return;
        int8_job(own, job, own->scratch + worker * scratch_of_worker(own));
    }
}

/* How the work is cut for so many threads. */
static Int8 cut(const Int8Plan *plan, int threads)
{
    Int8 own = {.plan = plan, .splits = 1};
    own.skip_h = plan->window_h == 1 ? plan->step_h : 1, own.skip_w = plan->window_w == 1 ? plan->step_w : 1;
    own.columns = (plan->out_w - 1) * (plan->step_w / own.skip_w) + plan->dilate_w * (plan->window_w - 1) + 1;
    own.channels = plan->is_depthwise ? parts_of(plan->c, PANEL) * PANEL : parts_of(plan->c, 2) * 2;
    own.panels = parts_of(plan->o, PANEL);
    own.rows = plan->out_h;
    while (own.rows > 1 && rows_seen(&own, own.rows) * own.columns * own.channels > STRIP)
        own.rows = parts_of(own.rows, 2);
    own.strips = parts_of(plan->out_h, own.rows);
    if (plan->b * own.strips < threads && !plan->is_depthwise)
        own.splits = least(own.panels, parts_of(threads, plan->b * own.strips));
    else if (plan->b * own.strips < threads) /* each sees all channels of its rows */
        own.strips = least(plan->out_h, parts_of(threads, plan->b));
    own.rows = parts_of(plan->out_h, own.strips), own.strips = parts_of(plan->out_h, own.rows);
    own.jobs = plan->b * own.strips * own.splits;
    own.workers = least(own.jobs, threads);
    return own;
}

/* Bytes of scratch memory that the convolution needs, at a multiple of 64. */
SIZE(int8_convolution_scratch)(const Int8Plan *plan, int threads)
{
    Int8 own = cut(plan, threads);
    return own.workers * scratch_of_worker(&own) * (int64_t)sizeof(float);
}

/* arrays: x (B, H, W, C) bytes; the filters; y (B, OUT_H, OUT_W, O) float32 or bytes; then, if there are any, the bias
(O,) and an addend like y, float32 or bytes; the scales (O,); the scratch memory. */
KERNEL(int8_convolution)(const Int8Plan *plan, void *const *arrays, int threads)
{
    Int8 own = cut(plan, threads);
    int next = 3;
    own.x = arrays[0], own.u = arrays[1], own.y = arrays[2];
    if (plan->has_bias)
        own.bias = arrays[next++];
    if (plan->addend >= 0)
        own.addend = arrays[next++];
    own.scale = arrays[next], own.scratch = arrays[next + 1];
    run_jobs(int8_worker, &own, own.workers, threads);
    return 0;
}
