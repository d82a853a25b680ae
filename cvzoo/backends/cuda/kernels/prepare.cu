// Preprocessing of an image in one pass: resampled along both axes by tables, normalized, padded, written channels-last in
// the network's dtype; channels past the third are zeros.

enum { IN_8_BITS, IN_FLOATS, IN_DOUBLES };  // the types of sums and of intermediate values between the two axes
// as Pillow: fixed-point weights of 22 bits, and intermediate values are rounded to 8 bits
#define PRECISION 22

struct Tables {
    const int *row, *column;                // (h,), (w,) the first input pixel
    const void *row_weight, *column_weight;  // (h, n_row), (w, n_column): int32, float32 or float64
    int n_row, n_column, height, width;     // taps, and the image's size
};

__device__ __forceinline__ int in_8_bits(int sum) {
    sum >>= PRECISION;
    return sum < 0 ? 0 : sum > 255 ? 255 : sum;
}
// pixel of the image, clamped to the last row and column; before: already normalized
template <class S>
__device__ __forceinline__ float pixel_at(const S *image, i64 sy, i64 sx, int y, int x, const Tables &t, int before,
                                          float mean, float std) {
    float v = (float)image[smaller(y, t.height - 1) * sy + smaller(x, t.width - 1) * sx];
    return before ? over(minus(v, mean), std) : v;
}

// sums in W: along the first axis, rounded to float32, then along the other
template <class S, class W>
__device__ __forceinline__ float resampled(const S *image, i64 sy, i64 sx, int y, int x, const Tables &t, int vertical_first,
                                           int before, float mean, float std) {
    const W *wy = (const W *)t.row_weight + (i64)y * t.n_row, *wx = (const W *)t.column_weight + (i64)x * t.n_column;
    int top = t.row[y], left = t.column[x], n_outer = vertical_first ? t.n_column : t.n_row;
    int n_inner = vertical_first ? t.n_row : t.n_column;
    W sum = 0;
    for (int o = 0; o < n_outer; o++) {
        W inner = 0;
        W outer_weight = vertical_first ? wx[o] : wy[o];
        for (int i = 0; i < n_inner; i++) {
            int py = top + (vertical_first ? i : o), px = left + (vertical_first ? o : i);
            W v = (W)pixel_at(image, sy, sx, py, px, t, before, mean, std);
            inner = plus(inner, times(v, vertical_first ? wy[i] : wx[i]));
        }
        sum = plus(sum, times((W)(float)inner, outer_weight));
    }
    return (float)sum;
}
template <class S>
__device__ __forceinline__ float resampled_8_bits(const S *image, i64 sy, i64 sx, int y, int x, const Tables &t,
                                                  int vertical_first) {
    const int *wy = (const int *)t.row_weight + (i64)y * t.n_row, *wx = (const int *)t.column_weight + (i64)x * t.n_column;
    int top = t.row[y], left = t.column[x], n_outer = vertical_first ? t.n_column : t.n_row;
    int n_inner = vertical_first ? t.n_row : t.n_column;
    int sum = 1 << (PRECISION - 1);
    for (int o = 0; o < n_outer; o++) {
        int inner = 1 << (PRECISION - 1);
        for (int i = 0; i < n_inner; i++) {
            int py = top + (vertical_first ? i : o), px = left + (vertical_first ? o : i);
            float v = rintf((float)image[smaller(py, t.height - 1) * sy + smaller(px, t.width - 1) * sx]);
            inner += (int)(v < 0 ? 0 : v > 255 ? 255 : v) * (vertical_first ? wy[i] : wx[i]);
        }
        sum += in_8_bits(inner) * (vertical_first ? wx[o] : wy[o]);
    }
    return (float)in_8_bits(sum);
}

// One thread per pixel of y (height, width, channels). image: element (y, x, c) is at y * sy + x * sx + c * sc; the resized
// part (h, w) begins at (at_y, at_x) of y. vertical_first: which axis is summed first. A value v becomes
// ((v - mean) / std) * factor - shift, where (v - mean) / std is computed of input pixels if before.
template <class S, class T>
__device__ __forceinline__ void prepare_photo(const S *image, i64 sy, i64 sx, i64 sc, const Tables &t, int h, int w,
                                              int at_y, int at_x, int summing, int vertical_first, int before,
                                              const float *mean, const float *std, const float *fill, float factor,
                                              float shift, int height, int width, int channels, T *y) {
    for (i64 i = first_index(); i < (i64)height * width; i += index_step()) {
        int px, py = (int)divide(i, width, &px);
        T *to = y + i * channels;
        int row = py - at_y, column = px - at_x;
        bool inside = row >= 0 && row < h && column >= 0 && column < w;
        for (int c = 0; c < channels; c++) {
            float v = 0;
            if (c < 3 && !inside) v = fill[c];
            if (c < 3 && inside) {
                const S *own = image + c * sc;
                if (summing == IN_8_BITS) v = resampled_8_bits(own, sy, sx, row, column, t, vertical_first);
                else if (summing == IN_FLOATS) v = resampled<S, float>(own, sy, sx, row, column, t, vertical_first, before, mean[c], std[c]);
                else v = resampled<S, double>(own, sy, sx, row, column, t, vertical_first, before, mean[c], std[c]);
                if (!before) v = over(minus(v, mean[c]), std[c]);
                v = minus(times(v, factor), shift);
            }
            to[c] = narrow<T>(v);
        }
    }
}

// colors (9,): mean, std, fill
#define PREPARE(NAME, S, T)                                                                                              \
    extern "C" __global__ void prepare_##NAME(                                                                           \
        const S *__restrict__ image, i64 sy, i64 sx, i64 sc, int photo_height, int photo_width,                          \
        const int *__restrict__ row, const void *__restrict__ row_weight, int n_row, const int *__restrict__ column,     \
        const void *__restrict__ column_weight, int n_column, int h, int w, int at_y, int at_x, int summing,             \
        int vertical_first, int before, const float *__restrict__ colors, float factor, float shift, int height, int width,  \
        int channels, T *__restrict__ y) {                                                                               \
        Tables t = {row, column, row_weight, column_weight, n_row, n_column, photo_height, photo_width};                 \
        prepare_photo<S, T>(image, sy, sx, sc, t, h, w, at_y, at_x, summing, vertical_first, before, colors, colors + 3,     \
                            colors + 6, factor, shift, height, width, channels, y);                                      \
    }
PREPARE(u8_f32, u8, float)
PREPARE(u8_f16, u8, f16)
PREPARE(u8_bf16, u8, bf16)
PREPARE(f32_f32, float, float)
PREPARE(f32_f16, float, f16)
PREPARE(f32_bf16, float, bf16)
