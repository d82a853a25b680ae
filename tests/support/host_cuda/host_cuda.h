// What CUDA C says, said for one thread of a host processor: force-included before a file of kernels.
//
// Blocks run one after the other. A block's threads run one after the other too, until one meets a barrier or a shuffle:
// then it sleeps on its own stack (a fiber), and the next thread runs. A kernel without barriers is a plain loop.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tuple>
#include <type_traits>
#include <utility>

#define CVZOO_HOST 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static

// ---- vectors --------------------------------------------------------------------------------------------------------
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
#define HOST_CUDA_VECTORS(T, name, a2, a4)                                                   \
    struct __align__(a2) name##2 { T x, y; };                                                \
    struct __align__(a4) name##4 { T x, y, z, w; };                                          \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                        \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
HOST_CUDA_VECTORS(float, float, 8, 16)
HOST_CUDA_VECTORS(double, double, 16, 16)
HOST_CUDA_VECTORS(int, int, 8, 16)
HOST_CUDA_VECTORS(unsigned, uint, 8, 16)
HOST_CUDA_VECTORS(unsigned char, uchar, 2, 4)
HOST_CUDA_VECTORS(short, short, 4, 8)
HOST_CUDA_VECTORS(unsigned short, ushort, 4, 8)
HOST_CUDA_VECTORS(long long, longlong, 16, 16)
HOST_CUDA_VECTORS(unsigned long long, ulonglong, 16, 16)

// ---- what a thread knows of its place -------------------------------------------------------------------------------
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

// ---- fibers ---------------------------------------------------------------------------------------------------------
namespace host_cuda {

#if defined(__x86_64__)
// saves what a called function must keep on the running stack, and goes on where `to` was left
extern "C" void host_cuda_swap(void **from, void *to) __attribute__((visibility("hidden")));
asm(R"(
    .text
    .hidden host_cuda_swap
    .globl host_cuda_swap
    .type host_cuda_swap, @function
host_cuda_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
    .size host_cuda_swap, .-host_cuda_swap
)");
typedef void *Context;
static inline void swap(Context *from, Context *to) { host_cuda_swap(from, *to); }
static inline void prepare(Context *context, char *stack, size_t size, void (*entry)()) {
    void **top = (void **)(stack + size);
    *--top = nullptr;          // keeps the alignment that a called function finds
    *--top = (void *)entry;    // what `ret` goes to
    for (int k = 0; k < 6; k++) *--top = nullptr;
    *context = top;
}
#else
}
#include <ucontext.h>
namespace host_cuda {
typedef ucontext_t Context;
static inline void swap(Context *from, Context *to) { swapcontext(from, to); }
static inline void prepare(Context *context, char *stack, size_t size, void (*entry)()) {
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = size;
    context->uc_link = nullptr;
    makecontext(context, entry, 0);
}
#endif

enum State : unsigned char { NEW, READY, AT_BARRIER, IN_WARP, DONE };
enum Fault { FINE, LEFT_BEFORE_BARRIER, DEADLOCK, TRAPPED, OUT_OF_MEMORY };

const int MOST = 1024;
const size_t STACK = (128 << 10) + 9 * 64;  // not a power of two: their tops would share a few lines of the cache

struct Thread {
    State state;
    int fiber;          // which stack it sleeps on
    unsigned mask;      // with which lanes it meets
    unsigned source;    // whose value it wants
    uint64_t value;     // what it gives, then what it gets
};

static Thread threads[MOST];
static Context contexts[MOST + 1], scheduler;
static char *stacks;
static int free_fibers[MOST + 1], n_free, n_made;
static int order[MOST], n_threads, next_new;    // threads are taken in this order; those from next_new on are NEW
static int current, current_fiber, barrier_waiters, n_alive;
static Fault fault;
static void (*body)();
static unsigned char *dynamic_shared;
static size_t dynamic_size;
static uint64_t random_state;
static int how;    // 0 forward, 1 reverse, 2 shuffled

static inline uint64_t random_bits() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint3 places[MOST];

static inline void place(int t) {
    current = t;
    threadIdx = places[t];
}

// A fiber runs new threads one after the other. If one sleeps, this fiber is its own until it wakes.
static void fiber_main() {
    for (;;) {
        while (next_new < n_threads && !fault) {
            int t = order[next_new++];
            place(t);
            body();
            threads[current].state = DONE;
            n_alive--;
        }
        free_fibers[n_free++] = current_fiber;
        swap(&contexts[current_fiber], &scheduler);
    }
}

static void sleep_here() {
    int t = current;
    threads[t].fiber = current_fiber;
    swap(&contexts[current_fiber], &scheduler);
    place(t);
}

static void resume(int fiber) {
    current_fiber = fiber;
    swap(&scheduler, &contexts[fiber]);
}

static void fresh_fiber() {
    if (!n_free) {
        if (!stacks) {
            void *got = mmap(nullptr, (MOST + 1) * STACK, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (got == MAP_FAILED) {
                fault = OUT_OF_MEMORY;
                return;
            }
            stacks = (char *)got;
        }
        prepare(&contexts[n_made], stacks + n_made * STACK, STACK, fiber_main);
        free_fibers[n_free++] = n_made++;
    }
    resume(free_fibers[--n_free]);
}

static void arrange() {
    for (int t = 0; t < n_threads; t++) order[t] = how == 1 ? n_threads - 1 - t : t;
    if (how == 2)
        for (int t = n_threads - 1; t > 0; t--) std::swap(order[t], order[random_bits() % (t + 1)]);
}

static void run_block() {
    n_alive = n_threads;
    barrier_waiters = 0;
    next_new = 0;
    for (int t = 0; t < n_threads; t++) threads[t].state = NEW;
    if (dynamic_size) memset(dynamic_shared, 0xff, dynamic_size);
    if (how == 2) arrange();
    while (n_alive && !fault) {
        bool moved = false;
        while (next_new < n_threads && !fault) {
            fresh_fiber();
            moved = true;
        }
        for (int k = 0; k < n_threads && !fault; k++) {
            int t = order[k];
            if (threads[t].state != READY) continue;
            moved = true;
            resume(threads[t].fiber);
        }
        if (moved || fault || !n_alive) continue;
        if (barrier_waiters == n_threads) {
            barrier_waiters = 0;
            for (int t = 0; t < n_threads; t++) threads[t].state = READY;
            if (how == 2) arrange();
        } else {
            fault = barrier_waiters == n_alive ? LEFT_BEFORE_BARRIER : DEADLOCK;
        }
    }
    if (fault) {    // sleeping stacks are given up as they are
        n_free = n_made = 0;
    }
}

// every lane of the mask gives a value; who comes last hands each what it wants, and goes on
template <class F>
static inline uint64_t meet(unsigned mask, uint64_t value, unsigned source, F deliver) {
    int t = current, warp = t & ~31;
    unsigned lanes = n_threads - warp >= 32 ? 0xffffffffu : (1u << (n_threads - warp)) - 1;
    mask &= lanes;
    if (!(mask >> (t & 31) & 1)) {
        fault = DEADLOCK;    // who calls must be in the mask
        sleep_here();
    }
    Thread &self = threads[t];
    self.value = value;
    self.source = source;
    self.mask = mask;
    self.state = IN_WARP;
    for (unsigned m = mask; m; m &= m - 1) {
        const Thread &other = threads[warp + __builtin_ctz(m)];
        if (other.state != IN_WARP || other.mask != mask) {
            sleep_here();
            return threads[t].value;
        }
    }
    uint64_t given[32] = {0};
    for (unsigned m = mask; m; m &= m - 1) given[__builtin_ctz(m)] = threads[warp + __builtin_ctz(m)].value;
    for (unsigned m = mask; m; m &= m - 1) {
        Thread &other = threads[warp + __builtin_ctz(m)];
        other.value = deliver(given, mask, __builtin_ctz(m), other.source);
        other.state = READY;
    }
    return self.value;
}

static inline uint64_t shuffled(const uint64_t *given, unsigned mask, int lane, unsigned source) {
    // a lane outside the mask has no defined value: NaN's bits show that somebody used it
    return source < 32 && (mask >> source & 1) ? given[source] : ~0ull;
}

template <class T>
static inline T exchange(unsigned mask, T v, unsigned source) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof(T));
    bits = meet(mask, bits, source, shuffled);
    memcpy(&v, &bits, sizeof(T));
    return v;
}

static inline unsigned lane() { return current & 31; }

}  // namespace host_cuda

// ---- barriers and shuffles ------------------------------------------------------------------------------------------
static inline void __syncthreads() {
    host_cuda::threads[host_cuda::current].state = host_cuda::AT_BARRIER;
    host_cuda::barrier_waiters++;
    host_cuda::sleep_here();
}
static inline int __syncthreads_count(int v) {
    static int count;
    __syncthreads();
    count = 0;
    __syncthreads();
    count += v != 0;
    __syncthreads();
    return count;
}
static inline int __syncthreads_or(int v) { return __syncthreads_count(v) != 0; }
static inline int __syncthreads_and(int v) { return __syncthreads_count(v) == host_cuda::n_threads; }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { host_cuda::exchange(mask, 0, host_cuda::lane()); }
template <class T> static inline T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
    unsigned l = host_cuda::lane();
    return host_cuda::exchange(mask, v, (l & ~(width - 1)) | (source & (width - 1)));
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int d, int width = 32) {
    unsigned l = host_cuda::lane(), s = l ^ d;
    return host_cuda::exchange(mask, v, (s & ~(width - 1)) <= (l & ~(width - 1)) ? s : l);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned d, int width = 32) {
    unsigned l = host_cuda::lane();
    return host_cuda::exchange(mask, v, (l & (width - 1)) + d < (unsigned)width ? l + d : l);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned d, int width = 32) {
    unsigned l = host_cuda::lane();
    return host_cuda::exchange(mask, v, (l & (width - 1)) >= d ? l - d : l);
}
static inline unsigned __ballot_sync(unsigned mask, int v) {
    return (unsigned)host_cuda::meet(mask, v != 0, 0, [](const uint64_t *given, unsigned m, int, unsigned) {
        uint64_t bits = 0;
        for (; m; m &= m - 1) bits |= given[__builtin_ctz(m)] << __builtin_ctz(m);
        return bits;
    });
}
static inline int __any_sync(unsigned mask, int v) { return __ballot_sync(mask, v) != 0; }
static inline int __all_sync(unsigned mask, int v) { return __ballot_sync(mask, !v) == 0; }
static inline unsigned __activemask() { return 0xffffffffu; }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) {}
static inline void __trap() {
    host_cuda::fault = host_cuda::TRAPPED;
    host_cuda::sleep_here();
}

// ---- atomics: one thread runs at a time, so none is needed ------------------------------------------------------------
template <class T> struct HostCudaSame { typedef T type; };
#define HOST_CUDA_ATOMIC(name, expression)                                                        \
    template <class T> static inline T name(T *p, typename HostCudaSame<T>::type v) {             \
        T old = *p;                                                                               \
        *p = expression;                                                                          \
        return old;                                                                               \
    }
HOST_CUDA_ATOMIC(atomicAdd, old + v)
HOST_CUDA_ATOMIC(atomicSub, old - v)
HOST_CUDA_ATOMIC(atomicExch, v)
HOST_CUDA_ATOMIC(atomicMin, v < old ? v : old)
HOST_CUDA_ATOMIC(atomicMax, v > old ? v : old)
HOST_CUDA_ATOMIC(atomicAnd, old & v)
HOST_CUDA_ATOMIC(atomicOr, old | v)
HOST_CUDA_ATOMIC(atomicXor, old ^ v)
HOST_CUDA_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
HOST_CUDA_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
template <class T>
static inline T atomicCAS(T *p, typename HostCudaSame<T>::type compare, typename HostCudaSame<T>::type v) {
    T old = *p;
    if (old == compare) *p = v;
    return old;
}

// ---- bits and conversions -------------------------------------------------------------------------------------------
template <class To, class From> static inline To host_cuda_bits(From v) {
    static_assert(sizeof(To) == sizeof(From), "");
    To y;
    memcpy(&y, &v, sizeof y);
    return y;
}
static inline float __uint_as_float(unsigned v) { return host_cuda_bits<float>(v); }
static inline float __int_as_float(int v) { return host_cuda_bits<float>(v); }
static inline unsigned __float_as_uint(float v) { return host_cuda_bits<unsigned>(v); }
static inline int __float_as_int(float v) { return host_cuda_bits<int>(v); }
static inline double __longlong_as_double(long long v) { return host_cuda_bits<double>(v); }
static inline long long __double_as_longlong(double v) { return host_cuda_bits<long long>(v); }
static inline float host_cuda_half_to_float(unsigned short v) { return (float)host_cuda_bits<_Float16>(v); }
static inline unsigned short host_cuda_float_to_half(float v) { return host_cuda_bits<unsigned short>((_Float16)v); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
static inline unsigned __brev(unsigned v) {
    unsigned y = 0;
    for (int k = 0; k < 32; k++) y |= (v >> k & 1) << (31 - k);
    return y;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline int __mul24(int a, int b) { return a * b; }
static inline int __dp4a(int a, int b, int c) {
    for (int k = 0; k < 4; k++) c += (signed char)(a >> 8 * k) * (signed char)(b >> 8 * k);
    return c;
}
// out of range: the nearest there is; NaN: 0 (as the device does)
template <class I, class F> static inline I host_cuda_to(F v, F lowest, F beyond) {
    if (v != v) return 0;
    if (v < lowest) return (I)lowest;
    if (v >= beyond) return (I)~((I)1 << (sizeof(I) * 8 - 1));
    return (I)v;
}
static inline int __float2int_rn(float v) { return host_cuda_to<int>(rintf(v), -2147483648.f, 2147483648.f); }
static inline int __float2int_rz(float v) { return host_cuda_to<int>(truncf(v), -2147483648.f, 2147483648.f); }
static inline int __float2int_rd(float v) { return host_cuda_to<int>(floorf(v), -2147483648.f, 2147483648.f); }
static inline int __float2int_ru(float v) { return host_cuda_to<int>(ceilf(v), -2147483648.f, 2147483648.f); }
static inline int __double2int_rn(double v) { return host_cuda_to<int>(rint(v), -2147483648., 2147483648.); }
static inline unsigned __float2uint_rn(float v) { return v != v || v < 0 ? 0 : v >= 4294967296.f ? ~0u : (unsigned)rintf(v); }
static inline float __int2float_rn(int v) { return (float)v; }
static inline float __uint2float_rn(unsigned v) { return (float)v; }

// ---- arithmetic -----------------------------------------------------------------------------------------------------
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float v) { return sqrtf(v); }
static inline float __frcp_rn(float v) { return 1 / v; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double v) { return sqrt(v); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float fdividef(float a, float b) { return a / b; }
#define __expf expf  // glibc has a hidden function of that name
#define __logf logf
#define __log2f log2f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
static inline float __saturatef(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }
static inline float rsqrtf(float v) { return 1 / sqrtf(v); }
static inline double rsqrt(double v) { return 1 / sqrt(v); }
static inline float rcbrtf(float v) { return 1 / cbrtf(v); }
static inline void sincospif(float v, float *s, float *c) { *s = sinf(v * 3.14159265358979f), *c = cosf(v * 3.14159265358979f); }
static inline float cospif(float v) { return cosf(v * 3.14159265358979f); }
static inline float sinpif(float v) { return sinf(v * 3.14159265358979f); }
static inline float normcdff(float v) { return .5f * erfcf(-v * .70710678118655f); }
template <class A, class B> static inline std::common_type_t<A, B> min(A a, B b) {
    typedef std::common_type_t<A, B> T;
    if constexpr (std::is_floating_point_v<T>) return (T)fmin((T)a, (T)b);
    else return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B> static inline std::common_type_t<A, B> max(A a, B b) {
    typedef std::common_type_t<A, B> T;
    if constexpr (std::is_floating_point_v<T>) return (T)fmax((T)a, (T)b);
    else return (T)a < (T)b ? (T)b : (T)a;
}
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }

// ---- launching ------------------------------------------------------------------------------------------------------
namespace host_cuda {

template <class T> static void describe(char *&p) {
    typedef std::remove_cv_t<std::remove_reference_t<T>> V;
    char kind = std::is_pointer_v<V> ? 'p' : std::is_same_v<V, bool> ? 'b' : std::is_floating_point_v<V> ? 'f'
        : std::is_integral_v<V> ? (std::is_signed_v<V> ? 'i' : 'u') : 'V';
    p += sprintf(p, "%c%d ", kind, (int)sizeof(V));
}

template <class... A> static void signature(void (*)(A...), char *out) {
    *out = 0;
    (describe<A>(out), ...);
}

template <auto F, class... A, size_t... I>
static int launch(void (*)(A...), std::index_sequence<I...>, const unsigned *grid, const unsigned *block, void **args,
                  unsigned shared, int order_kind, uint64_t seed) {
    static std::tuple<std::remove_cv_t<A>...> *values;
    std::tuple<std::remove_cv_t<A>...> here(*(std::remove_cv_t<A> *)args[I]...);
    values = &here;
    body = [] { F(std::get<I>(*values)...); };
    gridDim = {grid[0], grid[1], grid[2]};
    int wanted = block[0] * block[1] * block[2];
    if (wanted != n_threads || order_kind != how || block[0] != blockDim.x || block[1] != blockDim.y) {
        n_threads = wanted;
        how = order_kind;
        blockDim = {block[0], block[1], block[2]};
        for (unsigned t = 0; t < (unsigned)n_threads; t++)
            places[t] = {t % block[0], t / block[0] % block[1], t / (block[0] * block[1])};
        arrange();
    }
    random_state = seed | 1;
    fault = FINE;
    if (shared > dynamic_size) {
        free(dynamic_shared);
        dynamic_shared = (unsigned char *)aligned_alloc(128, (shared + 127) / 128 * 128);
    }
    dynamic_size = shared;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    for (uint64_t k = 0; k < blocks && !fault; k++) {
        uint64_t b = how ? blocks - 1 - k : k;
        blockIdx = {(unsigned)(b % grid[0]), (unsigned)(b / grid[0] % grid[1]), (unsigned)(b / grid[0] / grid[1])};
        run_block();
    }
    return fault;
}

}  // namespace host_cuda

// arguments have names that no kernel has
#define HOST_CUDA_KERNEL(name)                                                                                        \
    template <class... A>                                                                                             \
    static int host_cuda_launch_of_##name(void (*f_)(A...), const unsigned *grid_, const unsigned *block_, void **args_,\
                                          unsigned shared_, int order_, uint64_t seed_) {                             \
        return host_cuda::launch<&name>(f_, std::index_sequence_for<A...>(), grid_, block_, args_, shared_, order_,   \
                                        seed_);                                                                       \
    }                                                                                                                 \
    extern "C" int host_cuda_launch_##name(const unsigned *grid_, const unsigned *block_, void **args_,               \
                                           unsigned shared_, int order_, uint64_t seed_) {                            \
        return host_cuda_launch_of_##name(&name, grid_, block_, args_, shared_, order_, seed_);                       \
    }                                                                                                                 \
    extern "C" void host_cuda_signature_##name(char *out_) { host_cuda::signature(&name, out_); }
