// im2col and its gradient, col2im.
//
// Images are channels-last. A window's index is p = (image * out_h + row) * out_w + column. Columns are (groups, windows,
// taps, channels of a group), a matrix for each group of channels. Their rows are padded with zeros for alignment.

struct Window {
    int h, w, out_h, out_w;  // sizes of an image and of the output
    int taps_h, taps_w, stride_h, stride_w, top, left, dilate_h, dilate_w;
};

// T: the type of a load, of several channels; strides and numbers of channels are in units of T.
template <class T>
__device__ void im2col(const T *x, T *columns, i64 first, i64 places, int groups, int channels, i64 step_photo,
                       i64 step_row, i64 step_column, int length, Window s) {
    T zero = {};
    int taps = s.taps_h * s.taps_w;
    i64 n = places * groups * length;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int at, column, row;
        i64 place = divide(i, length, &at);
        int tap = at / channels, c = at - tap * channels;
        if (tap >= taps) {
            columns[i] = zero;
            continue;
        }
        int group = groups == 1 ? 0 : (int)(place / places);
        place -= group * places;
        i64 image = divide(divide(place + first, s.out_w, &column), s.out_h, &row);
        int y = row * s.stride_h - s.top + tap / s.taps_w * s.dilate_h;
        int z = column * s.stride_w - s.left + tap % s.taps_w * s.dilate_w;
        bool inside = y >= 0 && y < s.h && z >= 0 && z < s.w;
        columns[i] = inside ? x[image * step_photo + y * step_row + z * step_column + (i64)group * channels + c] : zero;
    }
}

#define IM2COL(name, type)                                                                                            \
    extern "C" __global__ void im2col_##name(const type *x, type *columns, i64 first, i64 places, int groups,         \
                                             int channels, i64 step_photo, i64 step_row, i64 step_column,             \
                                             int length, int h, int w, int out_h, int out_w, int taps_h, int taps_w,  \
                                             int stride_h, int stride_w, int top, int left, int dilate_h,             \
                                             int dilate_w) {                                                          \
        Window s = {h, w, out_h, out_w, taps_h, taps_w, stride_h, stride_w, top, left, dilate_h, dilate_w};           \
        im2col<type>(x, columns, first, places, groups, channels, step_photo, step_row, step_column, length, s);      \
    }

typedef Pack<u64, 2> b128;
IM2COL(b8, u8)
IM2COL(b16, u16)
IM2COL(b32, u32)
IM2COL(b64, u64)
IM2COL(b128, b128)

// Each pixel is gathered from the windows that contain it, in the order of their taps: no two threads write one pixel.
template <class T>
__device__ void col2im(const typename Wide<T>::type *columns, const T *added, T *gx, i64 images,
                       int groups, int channels, Window s) {
    typedef typename Wide<T>::type W;
    int taps = s.taps_h * s.taps_w, all = groups * channels;
    i64 places = images * s.out_h * s.out_w;
    i64 n = images * s.h * s.w * all;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int c, column, row;
        i64 image = divide(divide(divide(i, all, &c), s.w, &column), s.h, &row);
        int group = c / channels;
        const W *from = columns + (i64)group * places * taps * channels + (c - group * channels);
        W sum = added ? wide(added[i]) : W(0);
        for (int k = 0; k < s.taps_h; k++) {
            int y = row + s.top - k * s.dilate_h;
            if (y < 0 || y % s.stride_h || y / s.stride_h >= s.out_h) continue;
            for (int l = 0; l < s.taps_w; l++) {
                int z = column + s.left - l * s.dilate_w;
                if (z < 0 || z % s.stride_w || z / s.stride_w >= s.out_w) continue;
                i64 place = (image * s.out_h + y / s.stride_h) * s.out_w + z / s.stride_w;
                sum += from[(place * taps + k * s.taps_w + l) * channels];
            }
        }
        gx[i] = narrow<T>(sum);
    }
}

#define COL2IM(name, type, wide)                                                                                      \
    extern "C" __global__ void col2im_##name(const wide *columns, const type *added, type *gx, i64 images,            \
                                             int groups, int channels, int h, int w, int out_h, int out_w,            \
                                             int taps_h, int taps_w, int stride_h, int stride_w, int top, int left,   \
                                             int dilate_h, int dilate_w) {                                            \
        Window s = {h, w, out_h, out_w, taps_h, taps_w, stride_h, stride_w, top, left, dilate_h, dilate_w};           \
        col2im<type>(columns, added, gx, images, groups, channels, s);                                                \
    }

COL2IM(f32, float, float)
COL2IM(f64, double, double)
COL2IM(f16, f16, float)
COL2IM(bf16, bf16, float)
