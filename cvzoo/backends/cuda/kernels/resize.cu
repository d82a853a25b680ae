// Resizing, and its gradient, the same gathering with transposed tables.
// x (b, h, w, c), y (b, oh, ow, c). Row oy of y is the weighted sum of row_taps rows of x; columns likewise.

template <class T, int V>
__device__ __forceinline__ void resize(
    const T *x, T *y, const int *row_index, const typename Wide<T>::type *row_weight, int row_taps,
    const int *column_index, const typename Wide<T>::type *column_weight, int column_taps, i64 count, int h, int w,
    int oh, int ow, int c) {
    typedef typename Wide<T>::type A;
    i64 i = first_index();
    if (i >= count) return;
    int channel, ox, oy;
    i64 left = divide(i, c / V, &channel);
    left = divide(left, ow, &ox);
    i64 b = divide(left, oh, &oy);
    x += b * h * w * c + channel * V;
    A total[V];
    for (int k = 0; k < V; k++) total[k] = 0;
    for (int r = 0; r < row_taps; r++) {
        A row_share = row_weight[(i64)oy * row_taps + r];
        if (row_share == A(0)) continue;
        const T *row = x + (i64)row_index[(i64)oy * row_taps + r] * w * c;
        A line[V];
        for (int k = 0; k < V; k++) line[k] = 0;
        for (int q = 0; q < column_taps; q++) {
            A share = column_weight[(i64)ox * column_taps + q];
            if (share == A(0)) continue;
            Pack<T, V> from = load<V>(row + (i64)column_index[(i64)ox * column_taps + q] * c);
            for (int k = 0; k < V; k++) line[k] += share * wide(from.at[k]);
        }
        for (int k = 0; k < V; k++) total[k] += row_share * line[k];
    }
    Pack<T, V> out;
    for (int k = 0; k < V; k++) out.at[k] = narrow<T>(total[k]);
    store(y + i * V, out);
}

#define RESIZE(name, suffix, T, V)                                                                               \
    extern "C" __global__ void name##_##suffix(                                                                  \
        const T *x, T *y, const int *row_index, const typename Wide<T>::type *row_weight, int row_taps,          \
        const int *column_index, const typename Wide<T>::type *column_weight, int column_taps, i64 count, int h, \
        int w, int oh, int ow, int c) {                                                                          \
        resize<T, V>(x, y, row_index, row_weight, row_taps, column_index, column_weight, column_taps, count, h,  \
                     w, oh, ow, c);                                                                              \
    }
#define RESIZE_BOTH(suffix, T)       \
    RESIZE(resize, suffix, T, 1)     \
    RESIZE(resize_packed, suffix, T, 16 / sizeof(T))
FOR_FLOATS(RESIZE_BOTH)
