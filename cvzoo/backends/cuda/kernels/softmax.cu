// Softmax, its logarithm and their gradients along one axis, read three times and kept nowhere else: the scores of one
// row stay in the cache between the passes. The numbers of a row lie `step` apart; row r of `inner` rows that lie
// between each other begins at (r / inner) * n * inner + r % inner.

// where a row begins; divisions of 64 bits are slow
__device__ __forceinline__ i64 row_begin(i64 row, int n, i64 inner) {
    return inner == 1 ? row * n : (row / inner) * n * inner + row % inner;
}

template <class T, class Team>
__device__ __forceinline__ void softmax(const T *x, T *y, i64 rows, int n, i64 inner, int logarithmic) {
    typedef typename Wide<T>::type A;
    i64 row = Team::row();
    if (row >= rows) return;
    i64 at = row_begin(row, n, inner);
    x += at;
    y += at;
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
