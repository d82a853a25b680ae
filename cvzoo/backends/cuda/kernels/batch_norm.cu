// Batch normalization over rows of channels (NHWC: a row is a pixel), with an optional addend and ReLU.
//
// The order of sums does not depend on the GPU. A mask has one bit per value, (c + 7) / 8 bytes per row.

// Mean and sum of squared deviations of each block's `step` rows: Welford's algorithm over a thread's rows, then merged.
// partial: (2, gridDim.y, c)
template <class T>
__device__ __forceinline__ void statistics(const T *__restrict__ x, typename Wide<T>::type *__restrict__ partial,
                                           i64 rows, int c, i64 step, int lanes, int whole) {
    typedef typename Wide<T>::type A;
    __shared__ A means[ROWS_BLOCK * 8], squares[ROWS_BLOCK * 8];
    __shared__ int counts[ROWS_BLOCK];
    RowsPlace p = rows_place(c, lanes, blockIdx.x);
    i64 begin = blockIdx.y * step, end = smaller(begin + step, rows);
    A mean[8] = {0, 0, 0, 0, 0, 0, 0, 0}, square[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int n = 0;
    if (p.count > 0) {
#pragma unroll 2
        for (i64 r = begin + p.high; r < end; r += p.height) {
            A v[8];
            load_eight(x + r * c + p.first, p.count, whole, v);
            A part = 1 / (A)++n;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                A d = v[k] - mean[k];
                mean[k] += d * part;
                square[k] += d * (v[k] - mean[k]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        means[threadIdx.x * 8 + k] = mean[k];
        squares[threadIdx.x * 8 + k] = square[k];
    }
    if ((threadIdx.x & (lanes - 1)) == 0) counts[p.high] = n;
    __syncthreads();
    int channel = blockIdx.x * lanes * 8 + threadIdx.x;
    if (threadIdx.x < lanes * 8 && channel < c) {
        A sum = 0, total = 0;
        for (int h = 0; h < p.height; h++) sum += counts[h] * means[h * lanes * 8 + threadIdx.x];
        A middle = sum / (A)(end - begin);
        for (int h = 0; h < p.height; h++) {
            A d = means[h * lanes * 8 + threadIdx.x] - middle;
            total += squares[h * lanes * 8 + threadIdx.x] + counts[h] * d * d;
        }
        partial[(i64)blockIdx.y * c + channel] = middle;
        partial[((i64)gridDim.y + blockIdx.y) * c + channel] = total;
    }
}

template <class A>
__device__ __forceinline__ void merge(const A *__restrict__ partial, A *__restrict__ mean, A *__restrict__ var,
                                      i64 rows, int c, i64 step, int parts) {
    __shared__ A scratch[8][33];
    int channel = blockIdx.x * 32 + threadIdx.x;
    bool here = channel < c;
    A sum = 0;
    if (here)
        for (int g = threadIdx.y; g < parts; g += 8)
            sum += (A)smaller(step, rows - g * step) * partial[(i64)g * c + channel];
    A middle = sum_of_eight(sum, scratch) / (A)rows;
    A square = 0;
    if (here)
        for (int g = threadIdx.y; g < parts; g += 8) {
            A d = partial[(i64)g * c + channel] - middle;
            square += partial[((i64)parts + g) * c + channel] + (A)smaller(step, rows - g * step) * d * d;
        }
    square = sum_of_eight(square, scratch);
    if (here && threadIdx.y == 0) {
        mean[channel] = middle;
        var[channel] = square / (A)rows;
    }
}

// y = (x - mean) / sqrt(var + eps) * gamma + beta, plus `add` (or null); with `relu` ReLU of that (NaN stays NaN);
// mask (or null): where y > 0. A block has `step` rows. Rounded to T before the sum and the mask, as if they were separate
// kernels: with other bits, values near 0 could change their sign.
template <class T>
__device__ __forceinline__ void apply(const T *__restrict__ x, const T *__restrict__ add, T *__restrict__ y,
                                      u8 *__restrict__ mask, const typename Wide<T>::type *__restrict__ gamma,
                                      const typename Wide<T>::type *__restrict__ beta,
                                      const typename Wide<T>::type *__restrict__ mean,
                                      const typename Wide<T>::type *__restrict__ var, double eps, i64 rows, int c,
                                      i64 step, int lanes, int whole, int relu) {
    typedef typename Wide<T>::type A;
    RowsPlace p = rows_place(c, lanes, blockIdx.y);
    if (p.count <= 0) return;
    A scale[8], middle[8], shift[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int channel = smaller(p.first + k, c - 1);
        scale[k] = gamma[channel] * inverse_root(var[channel] + (A)eps);
        middle[k] = mean[channel];
        shift[k] = beta[channel];
    }
    i64 begin = blockIdx.x * step, end = smaller(begin + step, rows);
    int wide_row = (c + 7) / 8;
#pragma unroll 2
    for (i64 r = begin + p.high; r < end; r += p.height) {
        i64 at = r * c + p.first;
        A v[8];
        load_eight(x + at, p.count, whole, v);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = wide(narrow<T>((v[k] - middle[k]) * scale[k] + shift[k]));
        if (add) {
            A more[8];
            load_eight(add + at, p.count, whole, more);
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] += more[k];
        }
        if (relu) {
            u32 bits = 0;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                bits |= (u32)(v[k] > 0) << k;
                v[k] = v[k] < 0 ? 0 : v[k];
            }
            if (mask) mask[r * wide_row + p.first / 8] = (u8)bits;
        }
        store_eight(y + at, p.count, whole, v);
    }
}

template <class A>
__device__ __forceinline__ void masked(A *g, const u8 *__restrict__ mask, i64 at) {
    u32 bits = mask[at];
#pragma unroll
    for (int k = 0; k < 8; k++)
        if (!(bits >> k & 1)) g[k] = 0;
}

// The sums of gy and of gy * (x - mean) over each block's `step` rows, gy masked by mask (or null).
// partial: (2, gridDim.y, c)
template <class T>
__device__ __forceinline__ void gradient_sums(const T *__restrict__ gy, const T *__restrict__ x,
                                              const u8 *__restrict__ mask,
                                              const typename Wide<T>::type *__restrict__ mean,
                                              typename Wide<T>::type *__restrict__ partial, i64 rows, int c, i64 step,
                                              int lanes, int whole) {
    typedef typename Wide<T>::type A;
    __shared__ A sums[ROWS_BLOCK * 8], products[ROWS_BLOCK * 8];
    RowsPlace p = rows_place(c, lanes, blockIdx.x);
    i64 begin = blockIdx.y * step, end = smaller(begin + step, rows);
    A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, product[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (p.count > 0) {
        A middle[8];
#pragma unroll
        for (int k = 0; k < 8; k++) middle[k] = mean[smaller(p.first + k, c - 1)];
        int wide_row = (c + 7) / 8;
#pragma unroll 2
        for (i64 r = begin + p.high; r < end; r += p.height) {
            A v[8], g[8];
            load_eight(x + r * c + p.first, p.count, whole, v);
            load_eight(gy + r * c + p.first, p.count, whole, g);
            if (mask) masked(g, mask, r * wide_row + p.first / 8);
#pragma unroll
            for (int k = 0; k < 8; k++) {
                sum[k] += g[k];
                product[k] += g[k] * (v[k] - middle[k]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sums[threadIdx.x * 8 + k] = sum[k];
        products[threadIdx.x * 8 + k] = product[k];
    }
    __syncthreads();
    int channel = blockIdx.x * lanes * 8 + threadIdx.x;
    if (threadIdx.x < lanes * 8 && channel < c) {
        A s = 0, q = 0;
        for (int h = 0; h < p.height; h++) {
            s += sums[h * lanes * 8 + threadIdx.x];
            q += products[h * lanes * 8 + threadIdx.x];
        }
        partial[(i64)blockIdx.y * c + channel] = s;
        partial[((i64)gridDim.y + blockIdx.y) * c + channel] = q;
    }
}

template <class A>
__device__ __forceinline__ void gradient_merge(const A *__restrict__ partial, const A *__restrict__ var,
                                               A *__restrict__ ggamma, A *__restrict__ gbeta, double eps, int c,
                                               int parts) {
    __shared__ A scratch[8][33];
    int channel = blockIdx.x * 32 + threadIdx.x;
    bool here = channel < c;
    A sum = 0, product = 0;
    if (here)
        for (int g = threadIdx.y; g < parts; g += 8) {
            sum += partial[(i64)g * c + channel];
            product += partial[((i64)parts + g) * c + channel];
        }
    sum = sum_of_eight(sum, scratch);
    product = sum_of_eight(product, scratch);
    if (here && threadIdx.y == 0) {
        gbeta[channel] = sum;
        ggamma[channel] = product * inverse_root(var[channel] + (A)eps);
    }
}

// gx = gamma / std * (g - mean(g) - h * mean(g * h)), g: the masked gy; h: the normalized x; gadd (or null): g.
template <class T>
__device__ __forceinline__ void gradient_apply(
    const T *__restrict__ gy, const T *__restrict__ x, const u8 *__restrict__ mask, T *__restrict__ gx,
    T *__restrict__ gadd, const typename Wide<T>::type *__restrict__ gamma,
    const typename Wide<T>::type *__restrict__ mean, const typename Wide<T>::type *__restrict__ var,
    const typename Wide<T>::type *__restrict__ ggamma, const typename Wide<T>::type *__restrict__ gbeta, double eps,
    i64 rows, int c, i64 step, int lanes, int whole) {
    typedef typename Wide<T>::type A;
    RowsPlace p = rows_place(c, lanes, blockIdx.y);
    if (p.count <= 0) return;
    A scale[8], middle[8], along[8], offset[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int channel = smaller(p.first + k, c - 1);
        A inverse = inverse_root(var[channel] + (A)eps);
        scale[k] = gamma[channel] * inverse;
        middle[k] = mean[channel];
        along[k] = ggamma[channel] * inverse / (A)rows;
        offset[k] = gbeta[channel] / (A)rows;
    }
    i64 begin = blockIdx.x * step, end = smaller(begin + step, rows);
    int wide_row = (c + 7) / 8;
#pragma unroll 2
    for (i64 r = begin + p.high; r < end; r += p.height) {
        i64 at = r * c + p.first;
        A v[8], g[8];
        load_eight(x + at, p.count, whole, v);
        load_eight(gy + at, p.count, whole, g);
        if (mask) masked(g, mask, r * wide_row + p.first / 8);
        if (gadd) store_eight(gadd + at, p.count, whole, g);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = scale[k] * (g[k] - offset[k] - (v[k] - middle[k]) * along[k]);
        store_eight(gx + at, p.count, whole, v);
    }
}

#define KERNELS(s, T)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        bn_statistics_##s(const T *__restrict__ x, Wide<T>::type *__restrict__ partial, i64 rows, int c, i64 step,    \
                          int lanes, int whole) {                                                                     \
        statistics<T>(x, partial, rows, c, step, lanes, whole);                                                       \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        bn_apply_##s(const T *__restrict__ x, const T *__restrict__ add, T *__restrict__ y, u8 *__restrict__ mask,    \
                     const Wide<T>::type *__restrict__ gamma, const Wide<T>::type *__restrict__ beta,                 \
                     const Wide<T>::type *__restrict__ mean, const Wide<T>::type *__restrict__ var, double eps,       \
                     i64 rows, int c, i64 step, int lanes, int whole, int relu) {                                     \
        apply<T>(x, add, y, mask, gamma, beta, mean, var, eps, rows, c, step, lanes, whole, relu);                    \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        bn_gradient_sums_##s(const T *__restrict__ gy, const T *__restrict__ x, const u8 *__restrict__ mask,          \
                             const Wide<T>::type *__restrict__ mean, Wide<T>::type *__restrict__ partial, i64 rows,   \
                             int c, i64 step, int lanes, int whole) {                                                 \
        gradient_sums<T>(gy, x, mask, mean, partial, rows, c, step, lanes, whole);                                    \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        bn_gradient_apply_##s(const T *__restrict__ gy, const T *__restrict__ x, const u8 *__restrict__ mask,         \
                              T *__restrict__ gx, T *__restrict__ gadd, const Wide<T>::type *__restrict__ gamma,      \
                              const Wide<T>::type *__restrict__ mean, const Wide<T>::type *__restrict__ var,          \
                              const Wide<T>::type *__restrict__ ggamma, const Wide<T>::type *__restrict__ gbeta,      \
                              double eps, i64 rows, int c, i64 step, int lanes, int whole) {                          \
        gradient_apply<T>(gy, x, mask, gx, gadd, gamma, mean, var, ggamma, gbeta, eps, rows, c, step, lanes, whole);  \
    }
FOR_FLOATS(KERNELS)

#define MERGES(s, A)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        bn_merge_##s(const A *__restrict__ partial, A *__restrict__ mean, A *__restrict__ var, i64 rows, int c,       \
                     i64 step, int parts) {                                                                           \
        merge<A>(partial, mean, var, rows, c, step, parts);                                                           \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        bn_gradient_merge_##s(const A *__restrict__ partial, const A *__restrict__ var, A *__restrict__ ggamma,       \
                              A *__restrict__ gbeta, double eps, int c, int parts) {                                  \
        gradient_merge<A>(partial, var, ggamma, gbeta, eps, c, parts);                                                \
    }
MERGES(f32, float)
MERGES(f64, double)
