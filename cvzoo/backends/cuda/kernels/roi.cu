// RoI pooling. Maps are channels-last: x[l] is (B, H, W, C); region r is of map image[r] of level level[r]; y is
// (R, OH, OW, C_out). Position-sensitive with groups G > 1: the map has C = C_out * G * G channels, and a cell is of
// channel (c * G + oy * G / OH) * G + ox * G / OW.
//
// A cell has bilinear samples (ALIGN) or pixels (ROUNDED, INCLUSIVE, REAL: how a region's edges are rounded to pixels);
// its value is their mean (MEAN), their maximum, with its index (GREATEST), or the value at an index of before (PICKED).
// Coordinates are computed in float32, each operation rounded separately, in the order of cvzoo.functions.roi: the last
// bit can decide whether a cell has two samples or three.

enum { ALIGN, ROUNDED, INCLUSIVE, REAL };
enum { MEAN, GREATEST, PICKED };

// the cells of a region along one axis
struct Axis {
    float start, cell, count;
    int n, size, kind;  // cells; pixels of the map; kind of cells
    int samples;        // per cell
};

__device__ __forceinline__ Axis axis_of(float start, float stop, int n, int sampling, int size, int kind, int aligned) {
    Axis a;
    a.n = n;
    a.size = size;
    a.kind = kind;
    a.samples = 0;
    a.count = 1;
    if (kind == ALIGN) {
        if (aligned) start = minus(start, 0.5f), stop = minus(stop, 0.5f);
        float length = minus(stop, start);
        if (!aligned) length = larger(length, 1.0f);
        a.start = start;
        a.cell = over(length, (float)n);
        a.samples = sampling;
        if (!sampling) {
            float most = ceilf(a.cell);
            a.samples = most <= 0 ? 0 : most >= 4.0f * size ? 4 * size : (int)most;
        }
        a.count = (float)larger(a.samples, 1);
    } else if (kind == REAL) {
        a.start = start;
        a.cell = over(larger(minus(stop, start), 0.1f), (float)n);
    } else {
        float first = truncf(plus(start, copysignf(0.5f, start))), last = truncf(plus(stop, copysignf(0.5f, stop)));
        a.start = first;
        a.cell = over(larger(plus(minus(last, first), kind == INCLUSIVE ? 1.0f : 0.0f), 1.0f), (float)n);
    }
    return a;
}
// the coordinate of sample s of cell o; false if it is outside of the map
__device__ __forceinline__ bool sample_at(const Axis &a, int o, int s, int *low, int *high, float *part) {
    float place = plus(plus(a.start, times((float)o, a.cell)), over(times((float)s + 0.5f, a.cell), a.count));
    if (!(place >= -1.0f && place <= (float)a.size)) return false;
    place = place < 0 ? 0 : place > (float)(a.size - 1) ? (float)(a.size - 1) : place;
    *low = (int)place;
    *high = smaller(*low + 1, a.size - 1);
    *part = minus(place, (float)*low);
    return true;
}
__device__ __forceinline__ int whole(float v, int size) { return v <= 0 ? 0 : v >= (float)size ? size : (int)v; }
// the pixels of bin o, from low to before high
__device__ __forceinline__ void bin_of(const Axis &a, int o, int *low, int *high) {
    float first = times((float)o, a.cell), last = times((float)(o + 1), a.cell);
    if (a.kind == REAL) {
        *low = whole(floorf(plus(first, a.start)), a.size);
        *high = whole(ceilf(plus(last, a.start)), a.size);
    } else {
        *low = whole(plus(floorf(first), a.start), a.size);
        *high = whole(plus(ceilf(last), a.start), a.size);
    }
}
// the range of cells that may contain pixels from low to high, inclusive
__device__ __forceinline__ void cells_near(const Axis &a, int low, int high, int *first, int *last) {
    *first = 0;
    *last = a.n - 1;
    if (!(a.cell > 0)) return;
    float from = ((float)low - 1 - a.start) / a.cell - 1.5f, to = ((float)high + 1 - a.start) / a.cell + 1.5f;
    *first = from <= 0 ? 0 : from >= (float)a.n ? a.n : (int)from;
    *last = to >= (float)(a.n - 1) ? a.n - 1 : to < 0 ? -1 : (int)to;
}
// the weight of pixel p in sample s of cell o
__device__ __forceinline__ float share_of(const Axis &a, int o, int s, int p) {
    int low, high;
    float part;
    if (!sample_at(a, o, s, &low, &high, &part)) return 0;
    return (p == low ? 1 - part : 0) + (p == high ? part : 0);
}

// the maps of up to five pyramid levels; kernel arguments, since an array indexed by level would be in local memory
#define MAPS_OF(T) T *x0, T *x1, T *x2, T *x3, T *x4, int h0, int h1, int h2, int h3, int h4, int w0, int w1, int w2, \
                   int w3, int w4, float scale0, float scale1, float scale2, float scale3, float scale4
#define MAPS x0, x1, x2, x3, x4, h0, h1, h2, h3, h4, w0, w1, w2, w3, w4, scale0, scale1, scale2, scale3, scale4
#define OF_LEVEL(l, v) ((l) == 0 ? v##0 : (l) == 1 ? v##1 : (l) == 2 ? v##2 : (l) == 3 ? v##3 : v##4)
// the regions: rois (R, 4) float32 in the image's pixels, image (R,) index of the image, level (R,) or null
#define REGIONS const float *__restrict__ rois, const int *__restrict__ image, const int *__restrict__ level, int oh, \
                int ow, int sy, int sx, int kind, int aligned, int group, int mode

// One thread per value of y. best (R, OH, OW, C_out): written by GREATEST unless null, read by PICKED: for ALIGN the sample
// sy * (samples per row) + sx of the cell, otherwise the pixel y * W + x, -1 for empty cells
template <class T>
__device__ __forceinline__ void roi_forward(MAPS_OF(const T), REGIONS, int channels, int *__restrict__ best,
                                            T *__restrict__ y, i64 n) {
    typedef typename Wide<T>::type W;
    int c_in = channels * group * group;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int c, ox, oy;
        i64 r = divide(divide(divide(i, channels, &c), ow, &ox), oh, &oy);
        int l = level ? level[r] : 0, height = OF_LEVEL(l, h), width = OF_LEVEL(l, w);
        float scale = OF_LEVEL(l, scale);
        const float *b = rois + 4 * r;
        Axis rows = axis_of(times(b[0], scale), times(b[2], scale), oh, sy, height, kind, aligned);
        Axis columns = axis_of(times(b[1], scale), times(b[3], scale), ow, sx, width, kind, aligned);
        int channel = (c * group + oy * group / oh) * group + ox * group / ow;
        const T *map = OF_LEVEL(l, x) + (i64)image[r] * height * width * c_in + channel;
        W sum = 0, most = 0;
        int at = -1;
        if (kind == ALIGN) {
            int first = 0, last = rows.samples * columns.samples;
            if (mode == PICKED) first = best[i], last = first + 1;
            for (int s = smaller(first, 0) < 0 ? last : first; s < last; s++) {
                int y_low, y_high, x_low, x_high;
                float fy, fx;
                if (!sample_at(rows, oy, s / columns.samples, &y_low, &y_high, &fy)) continue;
                if (!sample_at(columns, ox, s % columns.samples, &x_low, &x_high, &fx)) continue;
                W v = (W)((1 - fy) * (1 - fx)) * wide(map[((i64)y_low * width + x_low) * c_in]);
                v += (W)((1 - fy) * fx) * wide(map[((i64)y_low * width + x_high) * c_in]);
                v += (W)(fy * (1 - fx)) * wide(map[((i64)y_high * width + x_low) * c_in]);
                v += (W)(fy * fx) * wide(map[((i64)y_high * width + x_high) * c_in]);
                sum += v;
                if (at < 0 || v > most) most = v, at = s;
            }
            sum = sum / (W)(rows.count * columns.count);
        } else if (mode == PICKED) {
            at = best[i];
            if (at >= 0) most = wide(map[(i64)at * c_in]);
        } else {
            int top, bottom, left, right;
            bin_of(rows, oy, &top, &bottom);
            bin_of(columns, ox, &left, &right);
            for (int py = top; py < bottom; py++)
                for (int px = left; px < right; px++) {
                    W v = wide(map[((i64)py * width + px) * c_in]);
                    sum += v;
                    if (at < 0 || v > most) most = v, at = py * width + px;
                }
            sum = sum / (W)((float)larger(bottom - top, 1) * (float)larger(right - left, 1));
        }
        y[i] = narrow<T>(mode == MEAN ? sum : most);
        if (mode == GREATEST && best) best[i] = at;
    }
}

// The deterministic gradient: a block has a tile of 8 x 8 pixels of one map and adds the contributions of the regions that
// overlap it, in their order. gx (B, H, W, C) of this level, initialized with zeros.
// grid (tiles per row, tiles per column, B), 256 threads
template <class T, class W>
__device__ __forceinline__ void roi_gather(W *__restrict__ gx, int height, int width, float scale, int own_level, REGIONS,
                                           int channels, const int *__restrict__ best, const T *__restrict__ gy,
                                           int n_region) {
    __shared__ u32 meets[8];
    int c_in = channels * group * group, b = blockIdx.z;
    int top = 8 * blockIdx.y, left = 8 * blockIdx.x;
    int high = smaller(8, height - top), wide_ = smaller(8, width - left);
    W *map = gx + (i64)b * height * width * c_in;
    for (int start = 0; start < n_region; start += 256) {
        __syncthreads();
        if (threadIdx.x < 8) meets[threadIdx.x] = 0;
        __syncthreads();
        for (int k = threadIdx.x; k < smaller(256, n_region - start); k += blockDim.x) {
            int r = start + k;
            if (image[r] != b || (level && level[r] != own_level)) continue;
            const float *q = rois + 4 * (i64)r;
            Axis rows = axis_of(times(q[0], scale), times(q[2], scale), oh, sy, height, kind, aligned);
            Axis columns = axis_of(times(q[1], scale), times(q[3], scale), ow, sx, width, kind, aligned);
            int first, last;
            cells_near(rows, top, top + high - 1, &first, &last);
            if (first > last) continue;
            cells_near(columns, left, left + wide_ - 1, &first, &last);
            if (first > last) continue;
            atomicOr(&meets[k / 32], 1u << (k % 32));
        }
        __syncthreads();
        for (int word = 0; word < 8; word++)
            for (u32 bits = meets[word]; bits; bits &= bits - 1) {
                int r = start + 32 * word + __ffs((int)bits) - 1;
                const float *q = rois + 4 * (i64)r;
                Axis rows = axis_of(times(q[0], scale), times(q[2], scale), oh, sy, height, kind, aligned);
                Axis columns = axis_of(times(q[1], scale), times(q[3], scale), ow, sx, width, kind, aligned);
                W share = mode == MEAN && kind == ALIGN ? 1 / (W)(rows.count * columns.count) : (W)1;
                int n_item = high * wide_ * c_in;
                for (int item = threadIdx.x; item < n_item; item += blockDim.x) {
                    int channel = item % c_in, x = left + item / c_in % wide_, y = top + item / c_in / wide_;
                    int c = channel / (group * group), gy_own = channel / group % group, gx_own = channel % group;
                    int y0, y1, x0, x1;
                    cells_near(rows, y, y, &y0, &y1);
                    cells_near(columns, x, x, &x0, &x1);
                    W sum = 0;
                    for (int oy = y0; oy <= y1; oy++) {
                        if (group > 1 && oy * group / oh != gy_own) continue;
                        for (int ox = x0; ox <= x1; ox++) {
                            if (group > 1 && ox * group / ow != gx_own) continue;
                            i64 cell = (((i64)r * oh + oy) * ow + ox) * channels + c;
                            if (kind == ALIGN && mode == MEAN) {
                                float wy = 0, wx = 0;
                                for (int s = 0; s < rows.samples; s++) wy += share_of(rows, oy, s, y);
                                if (wy == 0) break;
                                for (int s = 0; s < columns.samples; s++) wx += share_of(columns, ox, s, x);
                                if (wx != 0) sum += (W)wy * (W)wx * wide(gy[cell]);
                            } else if (kind == ALIGN) {
                                int s = best[cell];
                                if (s < 0) continue;
                                float w = share_of(rows, oy, s / columns.samples, y);
                                if (w != 0) w *= share_of(columns, ox, s % columns.samples, x);
                                if (w != 0) sum += (W)w * wide(gy[cell]);
                            } else if (mode == MEAN) {
                                int from, to, begin, end;
                                bin_of(rows, oy, &from, &to);
                                if (y < from || y >= to) break;
                                bin_of(columns, ox, &begin, &end);
                                if (x < begin || x >= end) continue;
                                sum += wide(gy[cell]) / (W)((float)(to - from) * (float)(end - begin));
                            } else if (best[cell] == y * width + x) {
                                sum += wide(gy[cell]);
                            }
                        }
                    }
                    if (sum != 0) map[((i64)y * width + x) * c_in + channel] += sum * share;
                }
            }
    }
}

// The same by atomic additions, in any order: one thread per value of gy
template <class T, class W>
__device__ __forceinline__ void roi_scatter(MAPS_OF(W), REGIONS, int channels, const int *__restrict__ best,
                                            const T *__restrict__ gy, i64 n) {
    int c_in = channels * group * group;
    for (i64 i = first_index(); i < n; i += index_step()) {
        int c, ox, oy;
        i64 r = divide(divide(divide(i, channels, &c), ow, &ox), oh, &oy);
        int l = level ? level[r] : 0, height = OF_LEVEL(l, h), width = OF_LEVEL(l, w);
        float scale = OF_LEVEL(l, scale);
        const float *b = rois + 4 * r;
        Axis rows = axis_of(times(b[0], scale), times(b[2], scale), oh, sy, height, kind, aligned);
        Axis columns = axis_of(times(b[1], scale), times(b[3], scale), ow, sx, width, kind, aligned);
        int channel = (c * group + oy * group / oh) * group + ox * group / ow;
        W *map = OF_LEVEL(l, x) + (i64)image[r] * height * width * c_in + channel;
        W v = wide(gy[i]);
        if (kind == ALIGN) {
            int first = 0, last = rows.samples * columns.samples;
            if (mode != MEAN) first = best[i], last = first + 1;
            else v = v / (W)(rows.count * columns.count);
            for (int s = first < 0 ? last : first; s < last; s++) {
                int y_low, y_high, x_low, x_high;
                float fy, fx;
                if (!sample_at(rows, oy, s / columns.samples, &y_low, &y_high, &fy)) continue;
                if (!sample_at(columns, ox, s % columns.samples, &x_low, &x_high, &fx)) continue;
                atomicAdd(&map[((i64)y_low * width + x_low) * c_in], (W)((1 - fy) * (1 - fx)) * v);
                atomicAdd(&map[((i64)y_low * width + x_high) * c_in], (W)((1 - fy) * fx) * v);
                atomicAdd(&map[((i64)y_high * width + x_low) * c_in], (W)(fy * (1 - fx)) * v);
                atomicAdd(&map[((i64)y_high * width + x_high) * c_in], (W)(fy * fx) * v);
            }
        } else if (mode == MEAN) {
            int top, bottom, left, right;
            bin_of(rows, oy, &top, &bottom);
            bin_of(columns, ox, &left, &right);
            v = v / (W)((float)larger(bottom - top, 1) * (float)larger(right - left, 1));
            for (int py = top; py < bottom; py++)
                for (int px = left; px < right; px++) atomicAdd(&map[((i64)py * width + px) * c_in], v);
        } else if (best[i] >= 0) {
            atomicAdd(&map[(i64)best[i] * c_in], v);
        }
    }
}

#define ROI(S, T)                                                                                                        \
    extern "C" __global__ void roi_forward_##S(MAPS_OF(const T), REGIONS, int channels, int *__restrict__ best,          \
                                               T *__restrict__ y, i64 n) {                                               \
        roi_forward<T>(MAPS, rois, image, level, oh, ow, sy, sx, kind, aligned, group, mode, channels, best, y, n);      \
    }                                                                                                                    \
    extern "C" __global__ void roi_gather_##S(Wide<T>::type *__restrict__ gx, int height, int width, float scale,        \
                                              int own_level, REGIONS, int channels, const int *__restrict__ best,        \
                                              const T *__restrict__ gy, int n_region) {                                  \
        roi_gather<T, Wide<T>::type>(gx, height, width, scale, own_level, rois, image, level, oh, ow, sy, sx, kind,      \
                                     aligned, group, mode, channels, best, gy, n_region);                                \
    }                                                                                                                    \
    extern "C" __global__ void roi_scatter_##S(MAPS_OF(Wide<T>::type), REGIONS, int channels,                            \
                                               const int *__restrict__ best, const T *__restrict__ gy, i64 n) {          \
        roi_scatter<T, Wide<T>::type>(MAPS, rois, image, level, oh, ow, sy, sx, kind, aligned, group, mode, channels,    \
                                      best, gy, n);                                                                      \
    }
FOR_FLOATS(ROI)

// the pyramid level of each region: level (R,), 0 the finest
// Lin et al., 2017, equation 1, a box of side 224 at level 4, as in float32 with 1e-6 added to the logarithm
extern "C" __global__ void roi_levels(const float *__restrict__ bbox, int first, int last, int *__restrict__ level, i64 n) {
    for (i64 r = first_index(); r < n; r += index_step()) {
        const float *b = bbox + 4 * r;
        float side = sqrtf(times(minus(b[2], b[0]), minus(b[3], b[1])));
        float l = floorf(plus(plus(4.0f, log2f(over(side, 224.0f))), 1e-6f));
        level[r] = (l >= (float)last ? last : l > (float)first ? (int)l : first) - first;
    }
}
