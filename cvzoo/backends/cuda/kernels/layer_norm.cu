// Layer normalization of rows (n, length) in C order. Statistics, gamma, beta and their gradients are float32 or float64.

// y = (x - mean) / sqrt(var + eps) * gamma + beta; mean, var: (n,), of each row
template <class T, class Team>
__device__ __forceinline__ void forward(const T *__restrict__ x, const typename Wide<T>::type *__restrict__ gamma,
                                        const typename Wide<T>::type *__restrict__ beta, T *__restrict__ y,
                                        typename Wide<T>::type *__restrict__ means,
                                        typename Wide<T>::type *__restrict__ vars, double eps, i64 n, int length,
                                        int whole) {
    typedef typename Wide<T>::type A;
    i64 row = Team::row();
    if (row >= n) return;
    x += row * length;
    y += row * length;
    A v[8], w[8], sum = 0, square = 0;
    for (int i = Team::lane() * 8; i < length; i += Team::lanes() * 8) {
        load_eight(x + i, length - i, whole, v);
#pragma unroll
        for (int k = 0; k < 8; k++) sum += v[k];
    }
    A mean = Team::sum(sum) / (A)length;
    for (int i = Team::lane() * 8; i < length; i += Team::lanes() * 8) {
        load_eight(x + i, length - i, whole, v);
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (i + k < length) square += (v[k] - mean) * (v[k] - mean);
    }
    A var = Team::sum(square) / (A)length;
    A inverse = inverse_root(var + (A)eps);
    for (int i = Team::lane() * 8; i < length; i += Team::lanes() * 8) {
        load_eight(x + i, length - i, whole, v);
        load_eight(gamma + i, length - i, whole, w);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = (v[k] - mean) * inverse * w[k];
        load_eight(beta + i, length - i, whole, w);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] += w[k];
        store_eight(y + i, length - i, whole, v);
    }
    if (Team::lane() == 0) {
        means[row] = mean;
        vars[row] = var;
    }
}

// gx = (g - mean(g) - h * mean(g * h)) / std, g = gy * gamma and h the normalized x
template <class T, class Team>
__device__ __forceinline__ void gradient(const T *__restrict__ gy, const T *__restrict__ x,
                                         const typename Wide<T>::type *__restrict__ gamma,
                                         const typename Wide<T>::type *__restrict__ means,
                                         const typename Wide<T>::type *__restrict__ vars, T *__restrict__ gx,
                                         double eps, i64 n, int length, int whole) {
    typedef typename Wide<T>::type A;
    i64 row = Team::row();
    if (row >= n) return;
    x += row * length;
    gy += row * length;
    gx += row * length;
    A v[8], g[8], w[8], sum = 0, along = 0, mean = means[row], inverse = inverse_root(vars[row] + (A)eps);
    for (int i = Team::lane() * 8; i < length; i += Team::lanes() * 8) {
        load_eight(x + i, length - i, whole, v);
        load_eight(gy + i, length - i, whole, g);
        load_eight(gamma + i, length - i, whole, w);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            A part = g[k] * w[k];  // 0 past the end of the row
            sum += part;
            along += part * ((v[k] - mean) * inverse);
        }
    }
    sum = Team::sum(sum) / (A)length;
    along = Team::sum(along) / (A)length;
    for (int i = Team::lane() * 8; i < length; i += Team::lanes() * 8) {
        load_eight(x + i, length - i, whole, v);
        load_eight(gy + i, length - i, whole, g);
        load_eight(gamma + i, length - i, whole, w);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = (g[k] * w[k] - sum - (v[k] - mean) * inverse * along) * inverse;
        store_eight(gx + i, length - i, whole, v);
    }
}

// The sums of gy and of gy * h down each block's `step` rows. partial: (2, gridDim.y, length)
template <class T>
__device__ __forceinline__ void gradient_sums(const T *__restrict__ gy, const T *__restrict__ x,
                                              const typename Wide<T>::type *__restrict__ means,
                                              const typename Wide<T>::type *__restrict__ vars,
                                              typename Wide<T>::type *__restrict__ partial, double eps, i64 n,
                                              int length, i64 step, int lanes, int whole) {
    typedef typename Wide<T>::type A;
    __shared__ A sums[ROWS_BLOCK * 8], products[ROWS_BLOCK * 8];
    RowsPlace p = rows_place(length, lanes, blockIdx.x);
    i64 begin = blockIdx.y * step, end = smaller(begin + step, n);
    A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, product[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (p.count > 0)
        for (i64 r = begin + p.high; r < end; r += p.height) {
            A v[8], g[8], mean = means[r], inverse = inverse_root(vars[r] + (A)eps);
            load_eight(x + r * length + p.first, p.count, whole, v);
            load_eight(gy + r * length + p.first, p.count, whole, g);
#pragma unroll
            for (int k = 0; k < 8; k++) {
                sum[k] += g[k];
                product[k] += g[k] * ((v[k] - mean) * inverse);
            }
        }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sums[threadIdx.x * 8 + k] = sum[k];
        products[threadIdx.x * 8 + k] = product[k];
    }
    __syncthreads();
    int i = blockIdx.x * lanes * 8 + threadIdx.x;
    if (threadIdx.x < lanes * 8 && i < length) {
        A s = 0, q = 0;
        for (int h = 0; h < p.height; h++) {
            s += sums[h * lanes * 8 + threadIdx.x];
            q += products[h * lanes * 8 + threadIdx.x];
        }
        partial[(i64)blockIdx.y * length + i] = s;
        partial[((i64)gridDim.y + blockIdx.y) * length + i] = q;
    }
}

template <class A>
__device__ __forceinline__ void gradient_merge(const A *__restrict__ partial, A *__restrict__ ggamma,
                                               A *__restrict__ gbeta, int length, int parts) {
    __shared__ A scratch[8][33];
    int i = blockIdx.x * 32 + threadIdx.x;
    A sum = 0, product = 0;
    if (i < length)
        for (int g = threadIdx.y; g < parts; g += 8) {
            sum += partial[(i64)g * length + i];
            product += partial[((i64)parts + g) * length + i];
        }
    sum = sum_of_eight(sum, scratch);
    product = sum_of_eight(product, scratch);
    if (i < length && threadIdx.y == 0) {
        gbeta[i] = sum;
        ggamma[i] = product;
    }
}

#define TEAM(s, T, team, Team)                                                                                        \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        ln_forward_##team##_##s(const T *__restrict__ x, const Wide<T>::type *__restrict__ gamma,                     \
                                const Wide<T>::type *__restrict__ beta, T *__restrict__ y,                            \
                                Wide<T>::type *__restrict__ mean, Wide<T>::type *__restrict__ var, double eps,        \
                                i64 n, int length, int whole) {                                                       \
        forward<T, Team<Wide<T>::type>>(x, gamma, beta, y, mean, var, eps, n, length, whole);                         \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        ln_gradient_##team##_##s(const T *__restrict__ gy, const T *__restrict__ x,                                   \
                                 const Wide<T>::type *__restrict__ gamma, const Wide<T>::type *__restrict__ mean,     \
                                 const Wide<T>::type *__restrict__ var, T *__restrict__ gx, double eps, i64 n,        \
                                 int length, int whole) {                                                             \
        gradient<T, Team<Wide<T>::type>>(gy, x, gamma, mean, var, gx, eps, n, length, whole);                         \
    }
#define KERNELS(s, T)                                                                                                 \
    TEAM(s, T, warp, WarpTeam)                                                                                        \
    TEAM(s, T, block, BlockTeam)                                                                                      \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK)                                                          \
        ln_gradient_sums_##s(const T *__restrict__ gy, const T *__restrict__ x,                                       \
                             const Wide<T>::type *__restrict__ mean, const Wide<T>::type *__restrict__ var,           \
                             Wide<T>::type *__restrict__ partial, double eps, i64 n, int length, i64 step,            \
                             int lanes, int whole) {                                                                  \
        gradient_sums<T>(gy, x, mean, var, partial, eps, n, length, step, lanes, whole);                              \
    }
FOR_FLOATS(KERNELS)

#define MERGES(s, A)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                 \
        ln_gradient_merge_##s(const A *__restrict__ partial, A *__restrict__ ggamma, A *__restrict__ gbeta,           \
                              int length, int parts) {                                                                \
        gradient_merge<A>(partial, ggamma, gbeta, length, parts);                                                     \
    }
MERGES(f32, float)
MERGES(f64, double)
