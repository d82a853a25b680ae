// Depthwise convolution with one filter per channel, of size 3, 5 or 7 and stride 1 or 2, the cases that networks use.
// Images are NHWC, filters (K, K, channels). A thread computes eight adjacent channels of a horizontal strip of pixels, and
// reads each input pixel of the strip once per row of the filter.

// SIZE and STRIDE are defined before this text, as compiling all combinations would take long
#ifndef SIZE
#define SIZE 3
#define STRIDE 1
#endif
#define STRIP 4

template <class T, int K, int S>
__device__ __forceinline__ void strip(const T *__restrict__ x, const T *__restrict__ filters,
                                      const T *__restrict__ bias, const T *__restrict__ add, T *__restrict__ y, i64 n,
                                      int c, int h, int w, int oh, int ow, int top, int left, int kind, float alpha,
                                      float beta, int whole) {
    for (i64 i = first_index(); i < n; i += index_step()) {
        int group, column, row;
        i64 image = divide(divide(divide(i, (c + 7) / 8, &group), (ow + STRIP - 1) / STRIP, &column), oh, &row);
        int first = group * 8, count = c - first;
        column *= STRIP;
        float sum[STRIP][8];
#pragma unroll
        for (int r = 0; r < STRIP; r++)
#pragma unroll
            for (int k = 0; k < 8; k++) sum[r][k] = 0;
#pragma unroll 1
        for (int ky = 0; ky < K; ky++) {
            int iy = row * S + ky - top;
            if (iy < 0 || iy >= h) continue;
            float f[K][8];
#pragma unroll
            for (int kx = 0; kx < K; kx++) load_eight(filters + (i64)(ky * K + kx) * c + first, count, whole, f[kx]);
            const T *line = x + (image * h + iy) * w * c + first;
            int ix = column * S - left;
#pragma unroll
            for (int j = 0; j < (STRIP - 1) * S + K; j++) {
                if (ix + j < 0 || ix + j >= w) continue;
                float v[8];
                load_eight(line + (i64)(ix + j) * c, count, whole, v);
#pragma unroll
                for (int r = 0; r < STRIP; r++)
                    if (j - r * S >= 0 && j - r * S < K) {
#pragma unroll
                        for (int k = 0; k < 8; k++) sum[r][k] += v[k] * f[j - r * S][k];
                    }
            }
        }
#pragma unroll
        for (int r = 0; r < STRIP; r++)
            if (column + r < ow)
                finish(sum[r], bias, add, y, ((image * oh + row) * ow + column + r) * c, first, count, kind, alpha,
                       beta, whole);
    }
}

#define KERNEL(s, T)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128, SIZE == 3 ? 4 : SIZE == 5 ? 3 : 2)                              \
        depthwise_strip_##s(const T *__restrict__ x, const T *__restrict__ filters, const T *__restrict__ bias,       \
                            const T *__restrict__ add, T *__restrict__ y, i64 n, int c, int h, int w, int oh,         \
                            int ow, int top, int left, int kind, float alpha, float beta, int whole) {                \
        strip<T, SIZE, STRIDE>(x, filters, bias, add, y, n, c, h, w, oh, ow, top, left, kind, alpha, beta, whole);    \
    }
KERNEL(f32, float)
KERNEL(f16, f16)
KERNEL(bf16, bf16)
