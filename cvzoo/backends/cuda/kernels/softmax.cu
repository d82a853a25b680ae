// Softmax, its logarithm and their gradients along one axis. Long rows are read three times instead of
// being stored: a row stays in the cache between the passes. Elements of a row have the stride `step`; row r of `inner`
// interleaved rows begins at (r / inner) * n * inner + r % inner.

// the begin of a row; 64-bit divisions are slow
__device__ __forceinline__ i64 row_begin(i64 row, int n, i64 inner) {
    return inner == 1 ? row * n : (row / inner) * n * inner + row % inner;
}

// A warp keeps a row of up to 32 * HELD values in registers: each is read once, with one exponential.
#define HELD 8
template <class Team>
struct Holds {
    static const bool value = false;
};
template <class A>
struct Holds<WarpTeam<A>> {
    static const bool value = true;
};

template <class T>
__device__ __forceinline__ void softmax_held(const T *x, T *y, int n, int logarithmic) {
    typedef typename Wide<T>::type A;
    int lane = threadIdx.x % 32;
    A v[HELD], top = -infinity<A>(), sum = 0;
#pragma unroll
    for (int k = 0; k < HELD; k++)
        if (lane + 32 * k < n) {
            v[k] = wide(x[lane + 32 * k]);
            top = larger_or_nan(top, v[k]);
        }
    top = warp_max(top);
#pragma unroll
    for (int k = 0; k < HELD; k++)
        if (lane + 32 * k < n) {
            v[k] -= top;
            A e = exponential(v[k]);
            sum += e;
            if (!logarithmic) v[k] = e;
        }
    sum = warp_sum(sum);
    A log_sum = logarithm(sum);
#pragma unroll
    for (int k = 0; k < HELD; k++)
        if (lane + 32 * k < n) y[lane + 32 * k] = narrow<T>(logarithmic ? v[k] - log_sum : v[k] / sum);
}

template <class T>
__device__ __forceinline__ void softmax_grad_held(const T *gy, const T *y, T *gx, int n, int logarithmic) {
    typedef typename Wide<T>::type A;
    int lane = threadIdx.x % 32;
    A g[HELD], v[HELD], sum = 0;
#pragma unroll
    for (int k = 0; k < HELD; k++)
        if (lane + 32 * k < n) {
            g[k] = wide(gy[lane + 32 * k]);
            v[k] = wide(y[lane + 32 * k]);
            sum += logarithmic ? g[k] : g[k] * v[k];
        }
    sum = warp_sum(sum);
#pragma unroll
    for (int k = 0; k < HELD; k++)
        if (lane + 32 * k < n)
            gx[lane + 32 * k] = narrow<T>(logarithmic ? g[k] - exponential(v[k]) * sum : (g[k] - sum) * v[k]);
}

template <class T, class Team>
__device__ __forceinline__ void softmax(const T *x, T *y, i64 rows, int n, i64 inner, int logarithmic) {
    typedef typename Wide<T>::type A;
    i64 row = Team::row();
    if (row >= rows) return;
    i64 at = row_begin(row, n, inner);
    x += at;
    y += at;
    if (Holds<Team>::value && n <= 32 * HELD) return softmax_held(x, y, n, logarithmic);
    A top = -infinity<A>();
    for (i64 i = Team::lane(); i < n; i += Team::lanes()) top = larger_or_nan(top, wide(x[i * inner]));
    top = Team::max(top);
    A sum = 0;
    for (i64 i = Team::lane(); i < n; i += Team::lanes()) sum += exponential(wide(x[i * inner]) - top);
    sum = Team::sum(sum);
    A log_sum = logarithm(sum);
    for (i64 i = Team::lane(); i < n; i += Team::lanes()) {
        A centred = wide(x[i * inner]) - top;
        y[i * inner] = narrow<T>(logarithmic ? centred - log_sum : exponential(centred) / sum);
    }
}

template <class T, class Team>
__device__ __forceinline__ void softmax_grad(
    const T *gy, const T *y, T *gx, i64 rows, int n, i64 inner, int logarithmic) {
    typedef typename Wide<T>::type A;
    i64 row = Team::row();
    if (row >= rows) return;
    i64 at = row_begin(row, n, inner);
    gy += at;
    y += at;
    gx += at;
    if (Holds<Team>::value && n <= 32 * HELD) return softmax_grad_held(gy, y, gx, n, logarithmic);
    A sum = 0;
    for (i64 i = Team::lane(); i < n; i += Team::lanes())
        sum += logarithmic ? wide(gy[i * inner]) : wide(gy[i * inner]) * wide(y[i * inner]);
    sum = Team::sum(sum);
    for (i64 i = Team::lane(); i < n; i += Team::lanes()) {
        A g = wide(gy[i * inner]), v = wide(y[i * inner]);
        gx[i * inner] = narrow<T>(logarithmic ? g - exponential(v) * sum : (g - sum) * v);
    }
}

#define SOFTMAX(team, Team, suffix, T)                                                                            \
    extern "C" __global__ void softmax_##team##_##suffix(                                                         \
        const T *x, T *y, i64 rows, int n, i64 inner, int logarithmic) {                                          \
        softmax<T, Team<typename Wide<T>::type>>(x, y, rows, n, inner, logarithmic);                              \
    }                                                                                                             \
    extern "C" __global__ void softmax_grad_##team##_##suffix(                                                    \
        const T *gy, const T *y, T *gx, i64 rows, int n, i64 inner, int logarithmic) {                            \
        softmax_grad<T, Team<typename Wide<T>::type>>(gy, y, gx, rows, n, inner, logarithmic);                    \
    }
#define SOFTMAX_TEAMS(suffix, T)        \
    SOFTMAX(warp, WarpTeam, suffix, T)  \
    SOFTMAX(block, BlockTeam, suffix, T) \
    SOFTMAX(thread, ThreadTeam, suffix, T)
FOR_FLOATS(SOFTMAX_TEAMS)
