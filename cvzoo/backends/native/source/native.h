/* What all kernels share: lanes of vectors, jobs for threads, names of the builds.

Every kernel is int KERNEL(name)(const Plan *plan, void *const *arrays, int threads): sizes and strides (in numbers, not
bytes), the arrays' addresses, how many threads at most. It returns 0, or 1 if there was no memory. A kernel's result
does not depend on the number of threads: jobs are cut by the plan alone, and what they give is joined in order. */
#ifndef CVZOO_NATIVE_H
#define CVZOO_NATIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define KERNEL(name) __attribute__((visibility("default"))) int JOIN(name, INSTRUCTIONS)
#define SIZE(name) __attribute__((visibility("default"))) int64_t JOIN(name, INSTRUCTIONS) /* of memory for a kernel */

/* LANES doubles fill a register, as twice as many float32 do. The compiler's own conversions are slow. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
enum { LANES = 8 };
#define widened(v) ((Wide)_mm512_cvtps_pd((__m256)(v)))
#define low_half(v) ((Float)_mm512_castps512_ps256((__m512)(v)))
#define high_half(v) ((Float)_mm512_extractf32x8_ps((__m512)(v), 1))
#define stream(p, v) _mm512_stream_ps(p, (__m512)(v))
#define narrowed(v) ((Float)_mm512_cvtpd_ps((__m512d)(v)))
#define square_roots(v) ((Wide)_mm512_sqrt_pd((__m512d)(v)))
#elif defined(__AVX2__)
#include <immintrin.h>
enum { LANES = 4 };
#define widened(v) ((Wide)_mm256_cvtps_pd((__m128)(v)))
#define low_half(v) ((Float)_mm256_castps256_ps128((__m256)(v)))
#define high_half(v) ((Float)_mm256_extractf128_ps((__m256)(v), 1))
#define stream(p, v) _mm256_stream_ps(p, (__m256)(v))
#define narrowed(v) ((Float)_mm256_cvtpd_ps((__m256d)(v)))
#define square_roots(v) ((Wide)_mm256_sqrt_pd((__m256d)(v)))
#else
enum { LANES = 2 };
#define widened(v) __builtin_convertvector(v, Wide)
#define low_half(v) ((Float){(v)[0], (v)[1]})
#define high_half(v) ((Float){(v)[2], (v)[3]})
#define stream(p, v) store(p, v)
#define narrowed(v) __builtin_convertvector(v, Float)
#define square_roots(v) ((Wide){__builtin_sqrt((v)[0]), __builtin_sqrt((v)[1])})
#endif
typedef float Full __attribute__((vector_size(LANES * 8)));
typedef int32_t FullInt __attribute__((vector_size(LANES * 8)));
typedef float Float __attribute__((vector_size(LANES * 4)));
typedef double Wide __attribute__((vector_size(LANES * 8)));

enum {
    UNROLLED = 4, /* registers of sums: additions one after the other would wait for each other */
    TILE = UNROLLED * LANES,
    WIDTH = 2 * LANES, /* float32 in a register */
};
#define HALVES(k) _Pragma("GCC unroll 2") for (int k = 0; k < UNROLLED / 2; k++)
#define EACH(k) _Pragma("GCC unroll 4") for (int k = 0; k < UNROLLED; k++)

static inline void prefetch_tile(const float *p)
{
    for (int k = 0; k < TILE; k += 16)
        __builtin_prefetch(p + k);
}

/* The number is loaded here, and not where the compiler likes: the processor fetches ahead of what is read in order. */
#if defined(__x86_64__)
#define keep_order(v) __asm__ volatile("" : "+v"(v))
#else
#define keep_order(v) (void)0
#endif

/* The pointer is added to here: else the compiler keeps all that are made of it in more registers than there are. */
#define keep_pointer(p) __asm__("" : "+r"(p))

static inline Full load(const float *p)
{
    Full v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(float *p, Full v) { memcpy(p, &v, sizeof v); }

static inline Full chosen(FullInt where, Full a, Full b) { return (Full)((where & (FullInt)a) | (~where & (FullInt)b)); }

static inline Wide load_wide(const float *p)
{
    Float v;
    memcpy(&v, p, sizeof v);
    return widened(v);
}

static inline Wide load_double(const double *p)
{
    Wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_double(double *p, Wide v) { memcpy(p, &v, sizeof v); }

static inline void store_narrow(float *p, Wide v)
{
    Float few = narrowed(v);
    memcpy(p, &few, sizeof few);
}

/* p[k] += v[k] */
static inline void add_wide(double *p, Full v)
{
    store_double(p, load_double(p) + widened(low_half(v)));
    store_double(p + LANES, load_double(p + LANES) + widened(high_half(v)));
}

/* The numbers whose bit is set, from bit `first` of the first byte on, or whose byte is not 0; 0 for the others. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
static inline Full where_bits(Full v, const uint8_t *bits, int64_t first)
{
    uint16_t some;
    memcpy(&some, bits, sizeof some);
    (void)first;
    keep_order(v); /* loaded whole: of what is loaded by a mask the processor does not see what comes next */
    v = (Full)_mm512_maskz_mov_ps(some, (__m512)v);
    keep_order(v); /* and masked before it is multiplied: the bits are those of numbers without a mask */
    return v;
}

static inline Full where_bytes(Full v, const uint8_t *bytes)
{
    __m128i some = _mm_loadu_si128((const __m128i *)bytes);
    keep_order(v);
    v = (Full)_mm512_maskz_mov_ps(_mm_test_epi8_mask(some, some), (__m512)v);
    keep_order(v);
    return v;
}
#else
static inline Full where_bits(Full v, const uint8_t *bits, int64_t first)
{
    FullInt each;
    _Pragma("GCC unroll 8") for (int k = 0; k < 2 * LANES; k++) each[k] = 1 << k;
    return (Full)((FullInt)v & ((each & (bits[0] >> first)) != 0));
}

static inline Full where_bytes(Full v, const uint8_t *bytes)
{
    FullInt each;
#if defined(__AVX2__)
    each = (FullInt)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes));
#else
    for (int k = 0; k < 2 * LANES; k++)
        each[k] = bytes[k];
#endif
    return (Full)((FullInt)v & (each != 0));
}
#endif

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

enum { SPACING = 272 }; /* numbers between arrays that are read side by side: a level-1 cache has sets for both */

/* So many numbers or more, of whole cache lines. */
static inline int64_t whole_lines(int64_t n) { return parts_of(n, 16) * 16; }

/* Memory that begins with a cache line: of an address between two, loads and stores of whole registers take twice as
long. */
static inline void *new_lines(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64); }

/* Calls job(what, k) for each k below n, in any order, in at most so many threads. */
void run_jobs(void (*job)(void *what, int64_t k), void *what, int64_t n, int threads);

enum { SMALL = 1 << 15 }; /* numbers: of fewer a thread more costs more than it saves */

#endif
