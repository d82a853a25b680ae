// Local response normalization of rows of channels (NHWC): x / (k + alpha * s) ** beta, s the sum of squares over the
// channels from `below` under to `above` over each. A thread per value; the neighbors' values come from the cache.

template <class T>
__device__ __forceinline__ typename Wide<T>::type scale_at(const T *__restrict__ row, int channel, int c, int below,
                                                           int above, double k, double alpha) {
    typedef typename Wide<T>::type A;
    A sum = 0;
    int last = smaller(channel + above, c - 1);
    for (int j = larger(channel - below, 0); j <= last; j++) {
        A v = wide(row[j]);
        sum += v * v;
    }
    return sum * (A)alpha + (A)k;
}

// terms: for the gradient, gy * x * scale ** (-beta - 1) of each value
#define KERNELS(s, T)                                                                                                 \
    extern "C" __global__ void                                                                                        \
        lrn_forward_##s(const T *__restrict__ x, T *__restrict__ y, i64 n, int c, int below, int above, double k,     \
                        double alpha, double beta) {                                                                  \
        typedef Wide<T>::type A;                                                                                      \
        for (i64 i = first_index(); i < n; i += index_step()) {                                                       \
            int channel;                                                                                              \
            i64 row = divide(i, c, &channel);                                                                         \
            y[i] = narrow<T>(wide(x[i]) * power(scale_at(x + row * c, channel, c, below, above, k, alpha), (A)-beta));\
        }                                                                                                             \
    }                                                                                                                 \
    extern "C" __global__ void                                                                                        \
        lrn_terms_##s(const T *__restrict__ gy, const T *__restrict__ x, Wide<T>::type *__restrict__ terms, i64 n,    \
                      int c, int below, int above, double k, double alpha, double beta) {                             \
        typedef Wide<T>::type A;                                                                                      \
        for (i64 i = first_index(); i < n; i += index_step()) {                                                       \
            int channel;                                                                                              \
            i64 row = divide(i, c, &channel);                                                                         \
            A scale = scale_at(x + row * c, channel, c, below, above, k, alpha);                                      \
            terms[i] = wide(gy[i]) * wide(x[i]) * power(scale, (A)-beta) / scale;                                     \
        }                                                                                                             \
    }                                                                                                                 \
    extern "C" __global__ void                                                                                        \
        lrn_gradient_##s(const T *__restrict__ gy, const T *__restrict__ x,                                           \
                         const Wide<T>::type *__restrict__ terms, T *__restrict__ gx, i64 n, int c, int below,        \
                         int above, double k, double alpha, double beta) {                                            \
        typedef Wide<T>::type A;                                                                                      \
        for (i64 i = first_index(); i < n; i += index_step()) {                                                       \
            int channel;                                                                                              \
            i64 row = divide(i, c, &channel);                                                                         \
            A scale = scale_at(x + row * c, channel, c, below, above, k, alpha), through = 0;                         \
            int last = smaller(channel + below, c - 1);                                                               \
            for (int j = larger(channel - above, 0); j <= last; j++) through += terms[row * c + j];                   \
            gx[i] = narrow<T>(wide(gy[i]) * power(scale, (A)-beta) +                                                  \
                              through * wide(x[i]) * (A)(-2 * alpha * beta));                                         \
        }                                                                                                             \
    }
FOR_FLOATS(KERNELS)
