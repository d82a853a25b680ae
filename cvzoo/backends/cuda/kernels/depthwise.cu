// Depthwise convolution, `multiplier` filters per channel: any kernel size, stride, dilation and padding.
// Images are NHWC, filters (kh, kw, channels of y). A thread computes eight adjacent channels, in a fixed order of sums.

struct Sliding {
    int h, w, oh, ow, kh, kw, sh, sw, dh, dw, top, left, multiplier;
};
#define SLIDING                                                                                                       \
    int h, int w, int oh, int ow, int kh, int kw, int sh, int sw, int dh, int dw, int top, int left, int multiplier
#define THE_SLIDING (Sliding{h, w, oh, ow, kh, kw, sh, sw, dh, dw, top, left, multiplier})

// the channels of x of which eight channels of y, from `first` on, are computed
template <class T>
__device__ __forceinline__ void load_seen(const T *pixel, int first, int count, int multiplier, int whole,
                                          typename Wide<T>::type *v) {
    if (multiplier == 1) {
        load_eight(pixel + first, count, whole, v);
    } else {
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = k < count ? wide(pixel[(first + k) / multiplier]) : 0;
    }
}

template <class T>
__device__ __forceinline__ void forward(const T *__restrict__ x, const T *__restrict__ filters,
                                        const T *__restrict__ bias, const T *__restrict__ add, T *__restrict__ y,
                                        i64 n, int c, Sliding s, int kind, double alpha, double beta, int whole) {
    typedef typename Wide<T>::type A;
    int channels = c * s.multiplier;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int group, column, row;
        i64 image = divide(divide(divide(i, (channels + 7) / 8, &group), s.ow, &column), s.oh, &row);
        int first = group * 8, count = channels - first;
        A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int ky = 0; ky < s.kh; ky++) {
            int iy = row * s.sh + ky * s.dh - s.top;
            if (iy < 0 || iy >= s.h) continue;
            for (int kx = 0; kx < s.kw; kx++) {
                int ix = column * s.sw + kx * s.dw - s.left;
                if (ix < 0 || ix >= s.w) continue;
                A v[8], f[8];
                load_seen(x + ((image * s.h + iy) * s.w + ix) * c, first, count, s.multiplier, whole, v);
                load_eight(filters + (i64)(ky * s.kw + kx) * channels + first, count, whole, f);
#pragma unroll
                for (int k = 0; k < 8; k++) sum[k] += v[k] * f[k];
            }
        }
        finish(sum, bias, add, y, ((image * s.oh + row) * s.ow + column) * channels, first, count, kind, (A)alpha,
               (A)beta, whole);
    }
}

template <class T>
__device__ __forceinline__ void input_gradient(const T *__restrict__ gy, const T *__restrict__ filters,
                                               const T *__restrict__ add, T *__restrict__ gx, i64 n, int c, Sliding s,
                                               int whole) {
    typedef typename Wide<T>::type A;
    int channels = c * s.multiplier;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int group, column, row;
        i64 image = divide(divide(divide(i, (c + 7) / 8, &group), s.w, &column), s.h, &row);
        int first = group * 8, count = c - first;
        A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int ky = 0; ky < s.kh; ky++) {
            int oy = row + s.top - ky * s.dh;
            if (oy < 0 || oy % s.sh != 0 || (oy /= s.sh) >= s.oh) continue;
            for (int kx = 0; kx < s.kw; kx++) {
                int ox = column + s.left - kx * s.dw;
                if (ox < 0 || ox % s.sw != 0 || (ox /= s.sw) >= s.ow) continue;
                const T *g = gy + ((image * s.oh + oy) * s.ow + ox) * channels;
                const T *f = filters + (i64)(ky * s.kw + kx) * channels;
                if (s.multiplier == 1) {
                    A v[8], t[8];
                    load_eight(g + first, count, whole, v);
                    load_eight(f + first, count, whole, t);
#pragma unroll
                    for (int k = 0; k < 8; k++) sum[k] += v[k] * t[k];
                } else {
#pragma unroll
                    for (int k = 0; k < 8; k++)
                        if (k < count)
                            for (int j = 0; j < s.multiplier; j++) {
                                int channel = (first + k) * s.multiplier + j;
                                sum[k] += wide(g[channel]) * wide(f[channel]);
                            }
                }
            }
        }
        finish(sum, (const T *)0, add, gx, ((image * s.h + row) * s.w + column) * c, first, count, 0, (A)0, (A)0,
               whole);
    }
}

// TAPS values of a filter's row at a time; each block sums `step` pixels of gy. partial: (gridDim.y, kh, kw, channels)
template <class T, int TAPS>
__device__ __forceinline__ void weight_gradient(const T *__restrict__ x, const T *__restrict__ gy,
                                                typename Wide<T>::type *__restrict__ partial, i64 pixels, int c,
                                                Sliding s, i64 step, int lanes, int whole) {
    typedef typename Wide<T>::type A;
    __shared__ A sums[ROWS_BLOCK * 8];
    int channels = c * s.multiplier;
    RowsPlace p = rows_place(channels, lanes, blockIdx.x);
    int pieces = (s.kw + TAPS - 1) / TAPS;
    int ky = blockIdx.z / pieces, kx = blockIdx.z % pieces * TAPS;
    i64 end = smaller((blockIdx.y + 1) * step, pixels);
    A sum[TAPS][8];
#pragma unroll
    for (int t = 0; t < TAPS; t++)
#pragma unroll
        for (int k = 0; k < 8; k++) sum[t][k] = 0;
    if (p.count > 0)
        for (i64 r = blockIdx.y * step + p.high; r < end; r += p.height) {
            int column, row;
            i64 image = divide(divide(r, s.ow, &column), s.oh, &row);
            int iy = row * s.sh + ky * s.dh - s.top;
            if (iy < 0 || iy >= s.h) continue;
            A g[8];
            load_eight(gy + r * channels + p.first, p.count, whole, g);
            const T *line = x + (image * s.h + iy) * s.w * c;
            int ix = column * s.sw + kx * s.dw - s.left;
#pragma unroll
            for (int t = 0; t < TAPS; t++, ix += s.dw) {
                if (kx + t >= s.kw || ix < 0 || ix >= s.w) continue;
                A v[8];
                load_seen(line + (i64)ix * c, p.first, p.count, s.multiplier, whole, v);
#pragma unroll
                for (int k = 0; k < 8; k++) sum[t][k] += g[k] * v[k];
            }
        }
    int channel = blockIdx.x * lanes * 8 + threadIdx.x;
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) sums[threadIdx.x * 8 + k] = sum[t][k];
        __syncthreads();
        if (threadIdx.x < lanes * 8 && channel < channels && kx + t < s.kw) {
            A total = 0;
            for (int h = 0; h < p.height; h++) total += sums[h * lanes * 8 + threadIdx.x];
            partial[(((i64)blockIdx.y * s.kh + ky) * s.kw + kx + t) * channels + channel] = total;
        }
    }
}

// gw (channels, taps) of partial (parts, taps, channels)
template <class T>
__device__ __forceinline__ void weight_merge(const typename Wide<T>::type *__restrict__ partial, T *__restrict__ gw,
                                             int channels, int taps, int parts) {
    i64 n = (i64)channels * taps;
    for (i64 i = first_index(); i < n; i += index_step()) {
        typename Wide<T>::type sum = 0;
        for (int p = 0; p < parts; p++) sum += partial[p * n + i];
        int channel;
        i64 tap = divide(i, channels, &channel);
        gw[(i64)channel * taps + tap] = narrow<T>(sum);
    }
}

#define WEIGHT_GRADIENT(s, T, TAPS)                                                                                   \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 1)                                                       \
        depthwise_weight_gradient_##TAPS##_##s(const T *__restrict__ x, const T *__restrict__ gy,                     \
                                               Wide<T>::type *__restrict__ partial, i64 pixels, int c, SLIDING,       \
                                               i64 step, int lanes, int whole) {                                      \
        weight_gradient<T, TAPS>(x, gy, partial, pixels, c, THE_SLIDING, step, lanes, whole);                         \
    }
#define KERNELS(s, T)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        depthwise_forward_##s(const T *__restrict__ x, const T *__restrict__ filters, const T *__restrict__ bias,     \
                              const T *__restrict__ add, T *__restrict__ y, i64 n, int c, SLIDING, int kind,          \
                              double alpha, double beta, int whole) {                                                 \
        forward<T>(x, filters, bias, add, y, n, c, THE_SLIDING, kind, alpha, beta, whole);                            \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        depthwise_input_gradient_##s(const T *__restrict__ gy, const T *__restrict__ filters,                         \
                                     const T *__restrict__ add, T *__restrict__ gx, i64 n, int c, SLIDING,            \
                                     int whole) {                                                                     \
        input_gradient<T>(gy, filters, add, gx, n, c, THE_SLIDING, whole);                                            \
    }                                                                                                                 \
    WEIGHT_GRADIENT(s, T, 3)                                                                                          \
    WEIGHT_GRADIENT(s, T, 5)                                                                                          \
    WEIGHT_GRADIENT(s, T, 7)                                                                                          \
    extern "C" __global__ void __launch_bounds__(256)                                                                 \
        depthwise_weight_merge_##s(const Wide<T>::type *__restrict__ partial, T *__restrict__ gw, int channels,       \
                                   int taps, int parts) {                                                             \
        weight_merge<T>(partial, gw, channels, taps, parts);                                                          \
    }
FOR_FLOATS(KERNELS)
