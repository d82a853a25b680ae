// Sums over all but the last axis of x (m, c), in an order that depends on the shape only. Kahan summation makes float32
// sums of millions of values as accurate as float64 ones.

template <class A>
struct Carried {
    A sum, lost;
    __device__ __forceinline__ void add(A v) {
        A y = v - lost;
        A t = sum + y;
        A rest = (t - sum) - y;
        // of an infinite sum the compensation is infinite or NaN, too
        lost = rest - rest == A(0) ? rest : A(0);
        sum = t;
    }
};

// blocks (ceil(c / 32), splits) of 32 x 8 threads: partial (splits, c), rows [split * step, split * step + step) each
template <class T>
__device__ __forceinline__ void channel_sum_partial(
    const T *x, typename Wide<T>::type *partial, i64 m, int c, i64 step) {
    typedef typename Wide<T>::type A;
    __shared__ A part[8][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    i64 first = (i64)blockIdx.y * step;
    i64 end = smaller(first + step, m);
    Carried<A> total = {A(0), A(0)};
    if (column < c)
        for (i64 row = first + threadIdx.y; row < end; row += 8) total.add(wide(x[row * c + column]));
    part[threadIdx.y][threadIdx.x] = total.sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < c) {
        Carried<A> all = {A(0), A(0)};
        for (int k = 0; k < 8; k++) all.add(part[k][threadIdx.x]);
        partial[(i64)blockIdx.y * c + column] = all.sum;
    }
}

// blocks (ceil(c / 32)) of 32 x 32 threads: y (c,) of partial (splits, c)
template <class A>
__device__ __forceinline__ void channel_sum_final(const A *partial, A *y, i64 splits, int c) {
    __shared__ A part[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    Carried<A> total = {A(0), A(0)};
    if (column < c)
        for (i64 k = threadIdx.y; k < splits; k += 32) total.add(partial[k * c + column]);
    part[threadIdx.y][threadIdx.x] = total.sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < c) {
        Carried<A> all = {A(0), A(0)};
        for (int k = 0; k < 32; k++) all.add(part[k][threadIdx.x]);
        y[column] = all.sum;
    }
}

#define CHANNEL_SUM(suffix, T)                                                         \
    extern "C" __global__ void channel_sum_partial_##suffix(                           \
        const T *x, typename Wide<T>::type *partial, i64 m, int c, i64 step) {         \
        channel_sum_partial<T>(x, partial, m, c, step);                                \
    }
FOR_FLOATS(CHANNEL_SUM)
extern "C" __global__ void __launch_bounds__(1024)
    channel_sum_final_f32(const float *partial, float *y, i64 splits, int c) {
    channel_sum_final(partial, y, splits, c);
}
extern "C" __global__ void __launch_bounds__(1024)
    channel_sum_final_f64(const double *partial, double *y, i64 splits, int c) {
    channel_sum_final(partial, y, splits, c);
}
