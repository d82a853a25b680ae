// Images and weights rearranged for tensor cores; values are copied unchanged.

// Space to depth of x (images, c, h, w), of any strides, to y (all, out_h, out_w, channels) channels-last: a pixel of y is
// a block of block_h x block_w pixels of x, their channels concatenated. The first block begins `top` rows and `left`
// columns before x. Pixels outside of x and padded channels are 0.
template <class T, int N>
__device__ void to_blocks(const T *x, T *y, int images, int c, int h, int w, i64 step_image, i64 step_channel,
                          i64 step_row, i64 step_column, int all, int out_h, int out_w, int channels, int block_h,
                          int block_w, int top, int left) {
    int packs = channels / N, whole = c * block_h * block_w;
    i64 n = (i64)all * out_h * out_w * packs;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int pack, column, row;
        i64 image = divide(divide(divide(i, packs, &pack), out_w, &column), out_h, &row);
        int channel = pack * N, place = channel / c;
        int from = channel - place * c;
        Pack<T, N> moved;
#pragma unroll
        for (int k = 0; k < N; k++) {
            int v = row * block_h + place / block_w - top, u = column * block_w + place % block_w - left;
            bool inside = image < images && channel + k < whole && v >= 0 && v < h && u >= 0 && u < w;
            moved.at[k] =
                inside ? x[image * step_image + from * step_channel + v * step_row + u * step_column] : T(0);
            if (++from == c) {
                from = 0;
                place++;
            }
        }
        store<N>(y + i * N, moved);
    }
}

#define TO_BLOCKS(name, type, n)                                                                                      \
    extern "C" __global__ void to_blocks_##name(                                                                      \
        const type *x, type *y, int images, int c, int h, int w, i64 step_image, i64 step_channel, i64 step_row,      \
        i64 step_column, int all, int out_h, int out_w, int channels, int block_h, int block_w, int top, int left) {  \
        to_blocks<type, n>(x, y, images, c, h, w, step_image, step_channel, step_row, step_column, all, out_h, out_w, \
                           channels, block_h, block_w, top, left);                                                   \
    }
TO_BLOCKS(b16, u16, 1)
TO_BLOCKS(b32, u32, 1)
TO_BLOCKS(b16_8, u16, 8)
TO_BLOCKS(b32_4, u32, 4)

// The inverse for weights: y (o, c, h, w) in C order of x (>= o, rows, columns, channels), whose pixels are blocks.
template <class T>
__device__ void from_blocks(const T *x, T *y, int o, int c, int h, int w, int rows, int columns, int channels,
                            int block_h, int block_w) {
    i64 n = (i64)o * c * h * w;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int column, row, from;
        i64 filter = divide(divide(divide(i, w, &column), h, &row), c, &from);
        int place = row % block_h * block_w + column % block_w;
        i64 pixel = (filter * rows + row / block_h) * columns + column / block_w;
        y[i] = x[pixel * channels + place * c + from];
    }
}

#define FROM_BLOCKS(name, type)                                                                                      \
    extern "C" __global__ void from_blocks_##name(const type *x, type *y, int o, int c, int h, int w, int rows,       \
                                                  int columns, int channels, int block_h, int block_w) {              \
        from_blocks<type>(x, y, o, c, h, w, rows, columns, channels, block_h, block_w);                               \
    }
FROM_BLOCKS(b16, u16)
FROM_BLOCKS(b32, u32)
