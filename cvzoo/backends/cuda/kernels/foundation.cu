// The prelude of every family of kernels. It includes no header, so that NVRTC compiles it, and with CVZOO_HOST defined a
// host compiler, for tests of the kernels' logic.

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// ---- 16-bit floats, for storage; computation is in float32 -----------------------------------------------------------
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};

// the type of computations with a stored type
template <class T>
struct Wide {
    typedef float type;
};
template <>
struct Wide<double> {
    typedef double type;
};

template <>
struct Wide<i64> {
    typedef i64 type;
};

__device__ __forceinline__ float wide(float v) { return v; }
__device__ __forceinline__ i64 wide(i64 v) { return v; }
__device__ __forceinline__ double wide(double v) { return v; }
__device__ __forceinline__ float wide(bf16 v) { return __uint_as_float((u32)v.bits << 16); }
__device__ __forceinline__ float wide(f16 v) {
#ifdef CVZOO_HOST
    return host_cuda_half_to_float(v.bits);
#else
    float wider;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wider) : "h"(v.bits));
    return wider;
#endif
}

// narrow<T>(v): v rounded to T, half to even
template <class T>
struct Narrow;
template <>
struct Narrow<float> {
    static __device__ __forceinline__ float of(float v) { return v; }
};
template <>
struct Narrow<double> {
    static __device__ __forceinline__ double of(double v) { return v; }
};
template <>
struct Narrow<i64> {
    static __device__ __forceinline__ i64 of(i64 v) { return v; }
};
template <>
struct Narrow<bf16> {
    static __device__ __forceinline__ bf16 of(float v) {
        bf16 y;
#if !defined(CVZOO_HOST) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(v));
#else
        u32 u = __float_as_uint(v);
        y.bits = (u & 0x7fffffffu) > 0x7f800000u ? (u16)0x7fff : (u16)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
#endif
        return y;
    }
};
template <>
struct Narrow<f16> {
    static __device__ __forceinline__ f16 of(float v) {
        f16 y;
#ifdef CVZOO_HOST
        y.bits = host_cuda_float_to_half(v);
#else
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(v));
#endif
        return y;
    }
};
template <class T>
__device__ __forceinline__ T narrow(typename Wide<T>::type v) {
    return Narrow<T>::of(v);
}

// M(suffix, type) for each floating type of a kernel: exported names end in _f32 _f64 _f16 _bf16
#define FOR_FLOATS(M) M(f32, float) M(f64, double) M(f16, f16) M(bf16, bf16)

// ---- vector loads and stores ----------------------------------------------------------------------------------------
// N values of T, aligned to their total size; loaded and stored by accesses of up to 16 bytes
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
    T at[N];
};
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load(const T *p) {
    return *(const Pack<T, N> *)p;
}
template <int N, class T>
__device__ __forceinline__ void store(T *p, const Pack<T, N> &v) {
    *(Pack<T, N> *)p = v;
}

// ---- mathematical functions -----------------------------------------------------------------------------------------
template <class T>
__device__ __forceinline__ constexpr T smaller(T a, T b) {
    return b < a ? b : a;
}
template <class T>
__device__ __forceinline__ constexpr T larger(T a, T b) {
    return a < b ? b : a;
}
template <class T>
__device__ __forceinline__ bool is_nan(T v) {
    return v != v;
}
// maximum; NaN if either is NaN
template <class T>
__device__ __forceinline__ T larger_or_nan(T a, T b) {
    return b > a || b != b ? b : a;
}
template <class T>
__device__ __forceinline__ T infinity();
template <>
__device__ __forceinline__ float infinity<float>() {
    return __uint_as_float(0x7f800000u);
}
template <>
__device__ __forceinline__ double infinity<double>() {
    return __longlong_as_double(0x7ff0000000000000ll);
}
__device__ __forceinline__ float root(float v) { return sqrtf(v); }
__device__ __forceinline__ double root(double v) { return sqrt(v); }
__device__ __forceinline__ float inverse_root(float v) { return rsqrtf(v); }
__device__ __forceinline__ double inverse_root(double v) { return rsqrt(v); }
__device__ __forceinline__ float exponential(float v) { return expf(v); }
__device__ __forceinline__ double exponential(double v) { return exp(v); }
__device__ __forceinline__ float logarithm(float v) { return logf(v); }
__device__ __forceinline__ double logarithm(double v) { return log(v); }
__device__ __forceinline__ float power(float v, float e) { return powf(v, e); }
__device__ __forceinline__ double power(double v, double e) { return pow(v, e); }

// rounded separately, never contracted to a fused multiply-add, where results must equal the CPU's to the bit
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float over(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double over(double a, double b) { return __ddiv_rn(a, b); }

// ---- indices --------------------------------------------------------------------------------------------------------
// for (i64 i = first_index(); i < n; i += index_step()): every element once, for any one-dimensional grid
__device__ __forceinline__ i64 first_index() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 index_step() { return (i64)gridDim.x * blockDim.x; }

// i / d and i % d of i >= 0; in 32 bits where i fits, since 64-bit divisions are slow
__device__ __forceinline__ i64 divide(i64 i, int d, int *rest) {
    if (((u64)i >> 32) == 0) {
        u32 q = (u32)i / (u32)d;
        *rest = (int)((u32)i - q * (u32)d);
        return q;
    }
    i64 q = i / d;
    *rest = (int)(i - q * d);
    return q;
}

// ---- deterministic reductions ---------------------------------------------------------------------------------------
// the same bits in all lanes of a full warp
template <class T>
__device__ __forceinline__ T warp_sum(T v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}
template <class T>
__device__ __forceinline__ T warp_max(T v) {
    for (int d = 16; d > 0; d >>= 1) v = larger_or_nan(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

// the same bits in all threads of a one-dimensional block of whole warps; scratch: 32 elements of shared memory
template <class T>
__device__ __forceinline__ T block_sum(T v, T *scratch) {
    v = warp_sum(v);
    int warps = (blockDim.x + 31) / 32;
    if (warps == 1) return v;
    __syncthreads();  // a previous call may still read scratch
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    T sum = scratch[0];
    for (int k = 1; k < warps; k++) sum += scratch[k];
    return sum;
}
template <class T>
__device__ __forceinline__ T block_max(T v, T *scratch) {
    v = warp_max(v);
    int warps = (blockDim.x + 31) / 32;
    if (warps == 1) return v;
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    T most = scratch[0];
    for (int k = 1; k < warps; k++) most = larger_or_nan(most, scratch[k]);
    return most;
}

// ---- teams of threads that reduce a row -------------------------------------------------------------------------------
// a warp, a block of whole warps, or one thread (adjacent threads, adjacent rows); A: type of sums
template <class A>
struct WarpTeam {
    static __device__ __forceinline__ i64 row() { return first_index() / 32; }
    static __device__ __forceinline__ int lane() { return threadIdx.x % 32; }
    static __device__ __forceinline__ int lanes() { return 32; }
    static __device__ __forceinline__ A sum(A v) { return warp_sum(v); }
    static __device__ __forceinline__ A max(A v) { return warp_max(v); }
};
template <class A>
struct BlockTeam {
    static __device__ __forceinline__ i64 row() { return blockIdx.x; }
    static __device__ __forceinline__ int lane() { return threadIdx.x; }
    static __device__ __forceinline__ int lanes() { return blockDim.x; }
    static __device__ __forceinline__ A sum(A v) {
        __shared__ A scratch[32];
        return block_sum(v, scratch);
    }
    static __device__ __forceinline__ A max(A v) {
        __shared__ A scratch[32];
        return block_max(v, scratch);
    }
};
template <class A>
struct ThreadTeam {
    static __device__ __forceinline__ i64 row() { return first_index(); }
    static __device__ __forceinline__ int lane() { return 0; }
    static __device__ __forceinline__ int lanes() { return 1; }
    static __device__ __forceinline__ A sum(A v) { return v; }
    static __device__ __forceinline__ A max(A v) { return v; }
};

// ---- rows of channels (NHWC: a row is a pixel) ----------------------------------------------------------------------
// A thread computes eight adjacent channels of several rows; a block of ROWS_BLOCK threads is `lanes` (a power of two) wide
// and ROWS_BLOCK / lanes high. `whole`: the number of channels is a multiple of 8 and every pointer is aligned to 16 bytes,
// so that vector loads are possible.
#define ROWS_BLOCK 256

template <class T>
__device__ __forceinline__ void load_eight(const T *p, int count, int whole, typename Wide<T>::type *v) {
    const int N = 16 / sizeof(T);
    if (whole) {
#pragma unroll
        for (int k = 0; k < 8 / N; k++) {
            Pack<T, N> q = load<N>(p + k * N);
#pragma unroll
            for (int j = 0; j < N; j++) v[k * N + j] = wide(q.at[j]);
        }
    } else {
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = k < count ? wide(p[k]) : 0;
    }
}

template <class T>
__device__ __forceinline__ void store_eight(T *p, int count, int whole, const typename Wide<T>::type *v) {
    const int N = 16 / sizeof(T);
    if (whole) {
#pragma unroll
        for (int k = 0; k < 8 / N; k++) {
            Pack<T, N> q;
#pragma unroll
            for (int j = 0; j < N; j++) q.at[j] = narrow<T>(v[k * N + j]);
            store<N>(p + k * N, q);
        }
    } else {
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (k < count) p[k] = narrow<T>(v[k]);
    }
}

// A thread's first channel, the number of its eight channels that exist, its row in the block.
struct RowsPlace {
    int first, count, high, height;
};
__device__ __forceinline__ RowsPlace rows_place(int c, int lanes, int group) {
    RowsPlace p;
    int lane = threadIdx.x & (lanes - 1);
    p.first = (group * lanes + lane) * 8;
    p.count = c - p.first;
    p.high = threadIdx.x / lanes;
    p.height = ROWS_BLOCK / lanes;
    return p;
}

// Eight threads per channel sum the blocks' partial results; all get the total.
template <class A>
__device__ __forceinline__ A sum_of_eight(A v, A (*scratch)[33]) {
    __syncthreads();
    scratch[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    A sum = 0;
    for (int k = 0; k < 8; k++) sum += scratch[k][threadIdx.x];
    return sum;
}

// ---- epilogue of convolutions: bias, addend, activation ---------------------------------------------------------------
enum { LINEAR, RELU, LEAKY_RELU, CLIP, SWISH, HARD_SWISH, SIGMOID };
template <class A>
__device__ __forceinline__ A activated(A v, int kind, A alpha, A beta) {
    switch (kind) {
        case RELU: return v < 0 ? 0 : v;
        case LEAKY_RELU: return v > 0 ? v : alpha * v;
        case CLIP: return v < alpha ? alpha : v > beta ? beta : v;
        case SWISH: return v / (1 + exponential(-alpha * v));
        case HARD_SWISH: return v * smaller(larger(alpha * v + beta, (A)0), (A)1);
        case SIGMOID: return 1 / (1 + exponential(-v));
        default: return v;
    }
}

// y[at + first ...] = activation(sum + bias + add), eight channels of one pixel; bias (channels) and add (like y) or null
template <class T, class A>
__device__ __forceinline__ void finish(A *sum, const T *bias, const T *add, T *y, i64 at, int first, int count, int kind,
                                       A alpha, A beta, int whole) {
    A v[8];
    if (bias) {
        load_eight(bias + first, count, whole, v);
#pragma unroll
        for (int k = 0; k < 8; k++) sum[k] += v[k];
    }
    if (add) {
        load_eight(add + at + first, count, whole, v);
#pragma unroll
        for (int k = 0; k < 8; k++) sum[k] += v[k];
    }
    if (kind != LINEAR) {
#pragma unroll
        for (int k = 0; k < 8; k++) sum[k] = activated(sum[k], kind, alpha, beta);
    }
    store_eight(y + at + first, count, whole, sum);
}
