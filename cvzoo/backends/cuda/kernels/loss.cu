// Losses and their gradients. A label that is out of range and not ignored makes the loss and the gradient of its row NaN;
// nothing is read out of bounds.

// ---- softmax cross entropy ------------------------------------------------------------------------------------------
// x: logits, in the layout of softmax.cu; t: (rows,); share: (n,) the classes' weights where `shared`
// loss: (rows,) -share[t] * log(softmax(x)[t]), 0 where ignored; log_sum: (rows,) log(sum(exp(x)))
template <class T, class Label, class Team>
__device__ __forceinline__ void softmax_cross_entropy(
    const T *x, const Label *t, const T *share, int shared, T *loss, typename Wide<T>::type *log_sum, i64 rows, int n,
    i64 inner, i64 ignored) {
    typedef typename Wide<T>::type A;
    i64 row = Team::row();
    if (row >= rows) return;
    i64 label = (i64)t[row];
    bool counts = label != ignored;
    if (label < 0 || label >= n || !counts) {
        if (Team::lane() == 0) {
            loss[row] = narrow<T>(counts ? infinity<A>() - infinity<A>() : A(0));
            log_sum[row] = A(0);
        }
        return;
    }
    x += inner == 1 ? row * n : (row / inner) * n * inner + row % inner;  // 64-bit divisions are slow
    A top = -infinity<A>();
    for (i64 i = Team::lane(); i < n; i += Team::lanes()) top = larger_or_nan(top, wide(x[i * inner]));
    top = Team::max(top);
    A sum = 0;
    for (i64 i = Team::lane(); i < n; i += Team::lanes()) sum += exponential(wide(x[i * inner]) - top);
    sum = Team::sum(sum);
    if (Team::lane() == 0) {
        A weight = shared ? wide(share[label]) : A(1);
        A log_s = logarithm(sum);
        loss[row] = narrow<T>(weight == A(0) ? A(0) : (log_s - (wide(x[label * inner]) - top)) * weight);
        log_sum[row] = log_s + top;
    }
}

// gx: share[t] * gy * (softmax(x) - onehot(t)); gy_step: 1, or 0 where all rows share one gy
template <class T, class Label>
__device__ __forceinline__ void softmax_cross_entropy_grad(
    const T *gy, i64 gy_step, const T *x, const Label *t, const T *share, int shared,
    const typename Wide<T>::type *log_sum, T *gx, i64 count, int n, int inner, i64 ignored) {
    typedef typename Wide<T>::type A;
    i64 i = first_index();
    if (i >= count) return;
    int at, kind;
    i64 outer = divide(divide(i, inner, &at), n, &kind);
    i64 row = outer * inner + at;
    i64 label = (i64)t[row];
    if (label == ignored) {
        gx[i] = narrow<T>(A(0));
        return;
    }
    if (label < 0 || label >= n) {
        gx[i] = narrow<T>(infinity<A>() - infinity<A>());
        return;
    }
    A weight = shared ? wide(share[label]) : A(1);
    A p = exponential(wide(x[i]) - log_sum[row]);
    A slope = kind == label ? p - A(1) : p;
    gx[i] = narrow<T>(weight == A(0) ? A(0) : slope * weight * wide(gy[row * gy_step]));
}

#define CROSS_ENTROPY(team, Team, suffix, T, label, Label)                                                             \
    extern "C" __global__ void softmax_cross_entropy_##team##_##label##_##suffix(                                      \
        const T *x, const Label *t, const T *share, int shared, T *loss, typename Wide<T>::type *log_sum, i64 rows,    \
        int n, i64 inner, i64 ignored) {                                                                               \
        softmax_cross_entropy<T, Label, Team<typename Wide<T>::type>>(x, t, share, shared, loss, log_sum, rows, n,     \
                                                                      inner, ignored);                                 \
    }
#define CROSS_ENTROPY_GRAD(suffix, T, label, Label)                                                                    \
    extern "C" __global__ void softmax_cross_entropy_grad_##label##_##suffix(                                          \
        const T *gy, i64 gy_step, const T *x, const Label *t, const T *share, int shared,                              \
        const typename Wide<T>::type *log_sum, T *gx, i64 count, int n, int inner, i64 ignored) {                      \
        softmax_cross_entropy_grad<T, Label>(gy, gy_step, x, t, share, shared, log_sum, gx, count, n, inner, ignored); \
    }
#define CROSS_ENTROPIES(suffix, T)                            \
    CROSS_ENTROPY(warp, WarpTeam, suffix, T, i32, int)        \
    CROSS_ENTROPY(block, BlockTeam, suffix, T, i32, int)      \
    CROSS_ENTROPY(thread, ThreadTeam, suffix, T, i32, int)    \
    CROSS_ENTROPY(warp, WarpTeam, suffix, T, i64, i64)        \
    CROSS_ENTROPY(block, BlockTeam, suffix, T, i64, i64)      \
    CROSS_ENTROPY(thread, ThreadTeam, suffix, T, i64, i64)    \
    CROSS_ENTROPY_GRAD(suffix, T, i32, int)                   \
    CROSS_ENTROPY_GRAD(suffix, T, i64, i64)
FOR_FLOATS(CROSS_ENTROPIES)

// ---- focal loss -----------------------------------------------------------------------------------------------------
// of a logit x: z is x for positives, else -x; q = sigmoid(-z), the probability of the wrong answer
template <class A>
__device__ __forceinline__ A softplus(A x) {
    return (x < A(0) ? A(0) : x) + log1p(exponential(-fabs(x)));
}
template <class A>
__device__ __forceinline__ A focal(A z, A gamma) {
    A cost = softplus(-z);
    return exponential(-gamma * softplus(z)) * cost;
}
// -d focal / dz
template <class A>
__device__ __forceinline__ A focal_slope(A z, A gamma) {
    A log_q = -softplus(z);
    A cost = softplus(-z);
    return exponential(gamma * log_q) * (gamma * exponential(-cost) * cost + exponential(log_q));
}

const i64 IGNORED = -2;  // background is -1

// x: (rows, n); t: (rows,) the class, -1 for background, or IGNORED; partial: (gridDim.x,) the blocks' sums
template <class T, class Label>
__device__ __forceinline__ void focal_loss(
    const T *x, const Label *t, typename Wide<T>::type *partial, i64 count, int n, typename Wide<T>::type yes,
    typename Wide<T>::type no, typename Wide<T>::type gamma) {
    typedef typename Wide<T>::type A;
    __shared__ A scratch[32];
    A total = 0;
    for (i64 i = first_index(); i < count; i += index_step()) {
        int kind;
        i64 label = (i64)t[divide(i, n, &kind)];
        if (label == IGNORED) continue;
        if (label < IGNORED || label >= n) total = infinity<A>() - infinity<A>();
        A v = wide(x[i]);
        total += kind == label ? yes * focal(v, gamma) : no * focal(-v, gamma);
    }
    total = block_sum(total, scratch);
    if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

// one block: y = the sum of partial (n,)
template <class T>
__device__ __forceinline__ void sum_of_partial(const typename Wide<T>::type *partial, T *y, int n) {
    typedef typename Wide<T>::type A;
    __shared__ A scratch[32];
    A total = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) total += partial[i];
    total = block_sum(total, scratch);
    if (threadIdx.x == 0) *y = narrow<T>(total);
}

// gy: ()
template <class T, class Label>
__device__ __forceinline__ void focal_loss_grad(
    const T *gy, const T *x, const Label *t, T *gx, i64 count, int n, typename Wide<T>::type yes,
    typename Wide<T>::type no, typename Wide<T>::type gamma) {
    typedef typename Wide<T>::type A;
    i64 i = first_index();
    if (i >= count) return;
    int kind;
    i64 label = (i64)t[divide(i, n, &kind)];
    A v = wide(x[i]), slope;
    if (label == IGNORED)
        slope = 0;
    else if (label < IGNORED || label >= n)
        slope = infinity<A>() - infinity<A>();
    else
        slope = wide(*gy) * (kind == label ? -yes * focal_slope(v, gamma) : no * focal_slope(-v, gamma));
    gx[i] = narrow<T>(slope);
}

#define FOCAL(suffix, T, label, Label)                                                                             \
    extern "C" __global__ void focal_loss_##label##_##suffix(                                                      \
        const T *x, const Label *t, typename Wide<T>::type *partial, i64 count, int n, typename Wide<T>::type yes, \
        typename Wide<T>::type no, typename Wide<T>::type gamma) {                                                 \
        focal_loss<T, Label>(x, t, partial, count, n, yes, no, gamma);                                             \
    }                                                                                                              \
    extern "C" __global__ void focal_loss_grad_##label##_##suffix(                                                 \
        const T *gy, const T *x, const Label *t, T *gx, i64 count, int n, typename Wide<T>::type yes,              \
        typename Wide<T>::type no, typename Wide<T>::type gamma) {                                                 \
        focal_loss_grad<T, Label>(gy, x, t, gx, count, n, yes, no, gamma);                                         \
    }
#define FOCALS(suffix, T)                                                                                         \
    FOCAL(suffix, T, i32, int)                                                                                    \
    FOCAL(suffix, T, i64, i64)                                                                                    \
    extern "C" __global__ void sum_of_partial_##suffix(const typename Wide<T>::type *partial, T *y, int n) {      \
        sum_of_partial<T>(partial, y, n);                                                                         \
    }
FOR_FLOATS(FOCALS)
