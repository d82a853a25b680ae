// Max and average pooling of NHWC. A thread computes eight adjacent channels of a pixel; gradients are gathered from the
// windows that contain a pixel, in a fixed order. Padding is ignored.

template <class A>
__device__ __forceinline__ A lowest() {
    return -infinity<A>();
}
template <>
__device__ __forceinline__ i64 lowest<i64>() {
    return (i64)(1ull << 63);
}

struct Windows {
    int h, w, oh, ow, kh, kw, sh, sw, top, left;
};
#define WINDOWS int h, int w, int oh, int ow, int kh, int kw, int sh, int sw, int top, int left
#define THE_WINDOWS (Windows{h, w, oh, ow, kh, kw, sh, sw, top, left})

// the i-th group of eight channels: its first channel, row, column and image
struct Pixel {
    int first, count, row, column;
    i64 image;
};
__device__ __forceinline__ Pixel pixel(i64 i, int c, int height, int width) {
    Pixel p;
    int group;
    i = divide(i, (c + 7) / 8, &group);
    i = divide(i, width, &p.column);
    p.image = divide(i, height, &p.row);
    p.first = group * 8;
    p.count = c - p.first;
    return p;
}

// begin and end of the rows (or columns) of a window inside the image
__device__ __forceinline__ int inside_from(int at) { return larger(-at, 0); }
__device__ __forceinline__ int inside_to(int at, int k, int size) { return smaller(k, size - at); }

// the first and the last window that contains the pixel `at`
__device__ __forceinline__ int window_from(int at, int k, int stride) {
    return at < k ? 0 : (at - k) / stride + 1;
}
__device__ __forceinline__ int window_to(int at, int stride, int windows) {
    return smaller(at / stride, windows - 1);
}

template <class I>
__device__ __forceinline__ void store_where(I *p, int count, int whole, const int *v) {
    const int N = sizeof(I) < 4 ? 8 : 4;
    if (whole) {
#pragma unroll
        for (int k = 0; k < 8 / N; k++) {
            Pack<I, N> q;
#pragma unroll
            for (int j = 0; j < N; j++) q.at[j] = (I)v[k * N + j];
            store<N>(p + k * N, q);
        }
    } else {
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (k < count) p[k] = (I)v[k];
    }
}
template <class I>
__device__ __forceinline__ void load_where(const I *p, int count, int whole, int *v) {
    const int N = sizeof(I) < 4 ? 8 : 4;
    if (whole) {
#pragma unroll
        for (int k = 0; k < 8 / N; k++) {
            Pack<I, N> q = load<N>(p + k * N);
#pragma unroll
            for (int j = 0; j < N; j++) v[k * N + j] = q.at[j];
        }
    } else {
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = k < count ? p[k] : -1;
    }
}

// The maximum of each window and its index in the window: the first of equals, the first NaN, -1 where a window has only
// padding.
template <class T>
__device__ __forceinline__ void first_maximum(const T *__restrict__ x, Pixel p, Windows s, int c, int whole,
                                              typename Wide<T>::type *best, int *where) {
    typedef typename Wide<T>::type A;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        best[k] = lowest<A>();
        where[k] = -1;
    }
    int row = p.row * s.sh - s.top, column = p.column * s.sw - s.left;
    for (int i = inside_from(row); i < inside_to(row, s.kh, s.h); i++)
        for (int j = inside_from(column); j < inside_to(column, s.kw, s.w); j++) {
            A v[8];
            load_eight(x + ((p.image * s.h + row + i) * s.w + column + j) * c + p.first, p.count, whole, v);
#pragma unroll
            for (int k = 0; k < 8; k++)
                if (v[k] > best[k] || where[k] < 0 || (is_nan(v[k]) && !is_nan(best[k]))) {
                    best[k] = v[k];
                    where[k] = i * s.kw + j;
                }
        }
}

template <class T, class I>
__device__ __forceinline__ void max_pool(const T *__restrict__ x, T *__restrict__ y, I *__restrict__ kept, i64 n, int c,
                                         Windows s, int whole) {
    typedef typename Wide<T>::type A;
    for (i64 i = first_index(); i < n; i += index_step()) {
        Pixel p = pixel(i, c, s.oh, s.ow);
        A best[8];
        int where[8];
        first_maximum(x, p, s, c, whole, best, where);
        i64 at = ((p.image * s.oh + p.row) * s.ow + p.column) * c + p.first;
        store_eight(y + at, p.count, whole, best);
        if (kept) store_where(kept + at, p.count, whole, where);
    }
}

template <class T>
__device__ __forceinline__ void max_pool_indices(const T *__restrict__ x, i64 *__restrict__ y, i64 n, int c, Windows s,
                                                 int whole) {
    typedef typename Wide<T>::type A;
    for (i64 i = first_index(); i < n; i += index_step()) {
        Pixel p = pixel(i, c, s.oh, s.ow);
        A best[8];
        int where[8];
        first_maximum(x, p, s, c, whole, best, where);
        i64 at = ((p.image * s.oh + p.row) * s.ow + p.column) * c + p.first;
        int row = p.row * s.sh - s.top, column = p.column * s.sw - s.left;
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (k < p.count)
                y[at + k] = where[k] < 0 ? 0 : (i64)(row + where[k] / s.kw) * s.w + column + where[k] % s.kw;
    }
}

template <class T, class I>
__device__ __forceinline__ void max_pool_gradient(const T *__restrict__ gy, const I *__restrict__ kept,
                                                  T *__restrict__ gx, i64 n, int c, Windows s, int whole) {
    typedef typename Wide<T>::type A;
    for (i64 i = first_index(); i < n; i += index_step()) {
        Pixel p = pixel(i, c, s.h, s.w);
        A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        int row = p.row + s.top, column = p.column + s.left;
        int right = window_to(column, s.sw, s.ow), low = window_to(row, s.sh, s.oh);
        for (int oy = window_from(row, s.kh, s.sh); oy <= low; oy++)
            for (int ox = window_from(column, s.kw, s.sw); ox <= right; ox++) {
                i64 at = ((p.image * s.oh + oy) * s.ow + ox) * c + p.first;
                int here = (row - oy * s.sh) * s.kw + column - ox * s.sw, where[8];
                A g[8];
                load_where(kept + at, p.count, whole, where);
                load_eight(gy + at, p.count, whole, g);
#pragma unroll
                for (int k = 0; k < 8; k++)
                    if (where[k] == here) sum[k] += g[k];
            }
        store_eight(gx + ((p.image * s.h + p.row) * s.w + p.column) * c + p.first, p.count, whole, sum);
    }
}

// the divisor of the window in that row and column
__device__ __forceinline__ int divisor(int oy, int ox, Windows s, int count_pad) {
    if (count_pad) return s.kh * s.kw;
    int row = oy * s.sh - s.top, column = ox * s.sw - s.left;
    int rows = larger(inside_to(row, s.kh, s.h) - inside_from(row), 0);
    return larger(rows * larger(inside_to(column, s.kw, s.w) - inside_from(column), 0), 1);
}

template <class T>
__device__ __forceinline__ void average_pool(const T *__restrict__ x, T *__restrict__ y, i64 n, int c, Windows s,
                                             int count_pad, int whole) {
    typedef typename Wide<T>::type A;
    for (i64 i = first_index(); i < n; i += index_step()) {
        Pixel p = pixel(i, c, s.oh, s.ow);
        A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        int row = p.row * s.sh - s.top, column = p.column * s.sw - s.left;
        for (int ky = inside_from(row); ky < inside_to(row, s.kh, s.h); ky++)
            for (int kx = inside_from(column); kx < inside_to(column, s.kw, s.w); kx++) {
                A v[8];
                load_eight(x + ((p.image * s.h + row + ky) * s.w + column + kx) * c + p.first, p.count, whole, v);
#pragma unroll
                for (int k = 0; k < 8; k++) sum[k] += v[k];
            }
        A count = (A)divisor(p.row, p.column, s, count_pad);
#pragma unroll
        for (int k = 0; k < 8; k++) sum[k] /= count;
        store_eight(y + ((p.image * s.oh + p.row) * s.ow + p.column) * c + p.first, p.count, whole, sum);
    }
}

// Global average pooling of (images, pixels, c): a block computes lanes * 8 channels of one image.
template <class T>
__device__ __forceinline__ void average_map(const T *__restrict__ x, T *__restrict__ y, i64 pixels, int c, int lanes,
                                              int whole) {
    typedef typename Wide<T>::type A;
    __shared__ A sums[ROWS_BLOCK * 8];
    RowsPlace p = rows_place(c, lanes, blockIdx.x);
    x += blockIdx.y * pixels * c;
    A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (p.count > 0)
        for (i64 r = p.high; r < pixels; r += p.height) {
            A v[8];
            load_eight(x + r * c + p.first, p.count, whole, v);
#pragma unroll
            for (int k = 0; k < 8; k++) sum[k] += v[k];
        }
#pragma unroll
    for (int k = 0; k < 8; k++) sums[threadIdx.x * 8 + k] = sum[k];
    __syncthreads();
    int channel = blockIdx.x * lanes * 8 + threadIdx.x;
    if (threadIdx.x < lanes * 8 && channel < c) {
        A s = 0;
        for (int h = 0; h < p.height; h++) s += sums[h * lanes * 8 + threadIdx.x];
        y[(i64)blockIdx.y * c + channel] = narrow<T>(s / (A)pixels);
    }
}

template <class T>
__device__ __forceinline__ void average_pool_gradient(const T *__restrict__ gy, T *__restrict__ gx, i64 n, int c,
                                                      Windows s, int count_pad, int whole) {
    typedef typename Wide<T>::type A;
    for (i64 i = first_index(); i < n; i += index_step()) {
        Pixel p = pixel(i, c, s.h, s.w);
        A sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        int row = p.row + s.top, column = p.column + s.left;
        int right = window_to(column, s.sw, s.ow), low = window_to(row, s.sh, s.oh);
        for (int oy = window_from(row, s.kh, s.sh); oy <= low; oy++)
            for (int ox = window_from(column, s.kw, s.sw); ox <= right; ox++) {
                A g[8], count = (A)divisor(oy, ox, s, count_pad);
                load_eight(gy + ((p.image * s.oh + oy) * s.ow + ox) * c + p.first, p.count, whole, g);
#pragma unroll
                for (int k = 0; k < 8; k++) sum[k] += g[k] / count;
            }
        store_eight(gx + ((p.image * s.h + p.row) * s.w + p.column) * c + p.first, p.count, whole, sum);
    }
}

#define KEPT(s, T, si, I)                                                                                             \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        max_pool_##si##_##s(const T *__restrict__ x, T *__restrict__ y, I *__restrict__ kept, i64 n, int c,           \
                            WINDOWS, int whole) {                                                                     \
        max_pool<T, I>(x, y, kept, n, c, THE_WINDOWS, whole);                                                         \
    }
#define KEPT_GRADIENT(s, T, si, I)                                                                                    \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        max_pool_gradient_##si##_##s(const T *__restrict__ gy, const I *__restrict__ kept, T *__restrict__ gx,        \
                                     i64 n, int c, WINDOWS, int whole) {                                              \
        max_pool_gradient<T, I>(gy, kept, gx, n, c, THE_WINDOWS, whole);                                              \
    }
#define MAXIMA(s, T)                                                                                                  \
    KEPT(s, T, i8, i8)                                                                                                \
    KEPT(s, T, i16, i16)                                                                                              \
    KEPT(s, T, i32, int)                                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        max_pool_indices_##s(const T *__restrict__ x, i64 *__restrict__ y, i64 n, int c, WINDOWS, int whole) {        \
        max_pool_indices<T>(x, y, n, c, THE_WINDOWS, whole);                                                          \
    }
FOR_FLOATS(MAXIMA)
MAXIMA(i64, i64)

#define MEANS(s, T)                                                                                                   \
    KEPT_GRADIENT(s, T, i8, i8)                                                                                       \
    KEPT_GRADIENT(s, T, i16, i16)                                                                                     \
    KEPT_GRADIENT(s, T, i32, int)                                                                                     \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        average_pool_##s(const T *__restrict__ x, T *__restrict__ y, i64 n, int c, WINDOWS, int count_pad,            \
                         int whole) {                                                                                 \
        average_pool<T>(x, y, n, c, THE_WINDOWS, count_pad, whole);                                                   \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK, 2)                                                       \
        average_map_##s(const T *__restrict__ x, T *__restrict__ y, i64 pixels, int c, int lanes, int whole) {      \
        average_map<T>(x, y, pixels, c, lanes, whole);                                                              \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                              \
        average_pool_gradient_##s(const T *__restrict__ gy, T *__restrict__ gx, i64 n, int c, WINDOWS,                \
                                  int count_pad, int whole) {                                                         \
        average_pool_gradient<T>(gy, gx, n, c, THE_WINDOWS, count_pad, whole);                                        \
    }
FOR_FLOATS(MEANS)
