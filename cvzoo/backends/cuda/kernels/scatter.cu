// Scatter-add. Each element is summed by one thread, in the order of the indices, which is deterministic.

// out (a, l, d) plus the rows (a, n, d) whose id (n) is the index l; negative ids count from the end, those out of range
// are ignored
template <class T>
__device__ void add_rows(T *out, const i64 *ids, const T *rows, i64 a, i64 l, i64 n, i64 d) {
    typedef typename Wide<T>::type W;
    int lane = threadIdx.x % 32;
    // the grid's height is limited; whole warps loop together
    i64 columns = (i64)gridDim.y * blockDim.x, rounds = (d + columns - 1) / columns;
    for (i64 at = blockIdx.x; at < a * l * rounds; at += gridDim.x) {
        i64 round = at / (a * l), place = at - round * (a * l);
        i64 part = place / l, id = place - part * l;
        i64 column = round * columns + (i64)blockIdx.y * blockDim.x + threadIdx.x;
        W sum = column < d ? wide(out[place * d + column]) : (W)0;
        bool any = false;
        for (i64 first = 0; first < n; first += 32) {
            i64 k = first + lane;
            i64 own = k < n ? ids[k] : -l - 1;
            u32 hits = __ballot_sync(0xffffffffu, (own < 0 ? own + l : own) == id);
            for (; hits; hits &= hits - 1) {
                i64 row = part * n + first + (__ffs((int)hits) - 1);
                any = true;
                if (column < d) sum += wide(rows[row * d + column]);
            }
        }
        if (any && column < d) out[place * d + column] = narrow<T>(sum);
    }
}

// planes (b, l, c) of zeros plus the pixels x (b, n, c), at the indices `where` (b, n, c) of its plane;
// indices outside of the plane are ignored. A thread computes a part of the plane of one channel.
template <class T>
__device__ void add_pixels(T *out, const i64 *where, const T *x, i64 b, i64 n, i64 l, int c, i64 parts) {
    typedef typename Wide<T>::type W;
    i64 share = (l + parts - 1) / parts;
    for (i64 i = first_index(); i < b * parts * c; i += index_step()) {
        int channel;
        i64 rest = divide(i, c, &channel);
        i64 image = rest / parts, low = (rest - image * parts) * share, high = smaller(low + share, l);
        T *plane = out + image * l * c + channel;
        const i64 *wanted = where + image * n * c + channel;
        const T *pixel = x + image * n * c + channel;
        for (i64 k = 0; k < n; k++) {
            i64 place = wanted[k * c];
            if (place >= low && place < high) plane[place * c] = narrow<T>(wide(plane[place * c]) + wide(pixel[k * c]));
        }
    }
}

// y (b, n, c): the pixels of planes (b, l, c) at the indices `where` (b, n, c); 0 for indices outside of the plane
template <class T>
__device__ void take_pixels(T *y, const i64 *where, const T *planes, i64 b, i64 n, i64 l, int c) {
    for (i64 i = first_index(); i < b * n * c; i += index_step()) {
        int channel;
        i64 image = divide(i, c, &channel) / n;
        i64 place = where[i];
        y[i] = place >= 0 && place < l ? planes[(image * l + place) * c + channel] : narrow<T>(0);
    }
}

#define ROWS(suffix, T)                                                                                              \
    extern "C" __global__ void scatter_add_rows_##suffix(T *out, const i64 *ids, const T *rows, i64 a, i64 l, i64 n, \
                                                         i64 d) {                                                    \
        add_rows<T>(out, ids, rows, a, l, n, d);                                                                     \
    }
FOR_FLOATS(ROWS)

#define PIXELS(suffix, T)                                                                                          \
    extern "C" __global__ void scatter_add_pixels_##suffix(T *out, const i64 *where, const T *x, i64 b, i64 n,     \
                                                           i64 l, int c, i64 parts) {                              \
        add_pixels<T>(out, where, x, b, n, l, c, parts);                                                           \
    }                                                                                                              \
    extern "C" __global__ void scatter_take_pixels_##suffix(T *y, const i64 *where, const T *planes, i64 b, i64 n, \
                                                            i64 l, int c) {                                        \
        take_pixels<T>(y, where, planes, b, n, l, c);                                                              \
    }
PIXELS(f32, float)
PIXELS(f64, double)
