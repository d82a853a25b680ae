// Random numbers by Philox4x32-10 (Salmon et al., SC 2011): block b of a key's sequence is a function of b and the
// key, whichever thread draws it. tests/support/philox.py is the reference in NumPy.
//
// All kernels: key; first: the index of the first block; base: null, or a value in GPU memory that is added to it, which a
// captured graph reads at each replay.

struct Block {
    u32 at[4];
};

__device__ __forceinline__ Block philox(u64 key, u64 place) {
    u32 x0 = (u32)place, x1 = (u32)(place >> 32), x2 = 0, x3 = 0;
    u32 k0 = (u32)key, k1 = (u32)(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 high0 = __umulhi(x0, 0xD2511F53u), low0 = x0 * 0xD2511F53u;
        u32 high1 = __umulhi(x2, 0xCD9E8D57u), low1 = x2 * 0xCD9E8D57u;
        x0 = high1 ^ x1 ^ k0;
        x1 = low1;
        x2 = high0 ^ x3 ^ k1;
        x3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    Block block;
    block.at[0] = x0, block.at[1] = x1, block.at[2] = x2, block.at[3] = x3;
    return block;
}

__device__ __forceinline__ u64 first_place(u64 first, const u64 *base) { return base ? first + *base : first; }

// values of type T per block: four of up to 32 bits, two of 64
template <class T>
struct Count {
    static const int value = 4;
};
template <>
struct Count<double> {
    static const int value = 2;
};

__device__ __forceinline__ float uniform_of(const Block &b, int k, float) { return (b.at[k] >> 8) * 5.9604644775390625e-8f; }
__device__ __forceinline__ double uniform_of(const Block &b, int k, double) {
    u64 bits = ((u64)(b.at[2 * k] >> 5) << 26) + (b.at[2 * k + 1] >> 6);
    return (double)bits * 1.1102230246251565e-16;
}

// out (n,), beginning at a block's first value; f(block, k): the k-th value of a block
template <class T, class F>
__device__ __forceinline__ void draw(T *out, i64 n, u64 key, u64 first, const u64 *base, F f) {
    const int per = Count<T>::value;
    const u64 place = first_place(first, base);
    for (i64 b = first_index(); b * per < n; b += index_step()) {
        Block block = philox(key, place + b);
        Pack<T, per> drawn;
#pragma unroll
        for (int k = 0; k < per; k++) drawn.at[k] = f(block, k);
        if (b * per + per <= n) {
            store<per>(out + b * per, drawn);
        } else {
#pragma unroll
            for (int k = 0; k < per; k++)
                if (b * per + k < n) out[b * per + k] = drawn.at[k];
        }
    }
}

struct Words {
    __device__ __forceinline__ u32 operator()(const Block &b, int k) const { return b.at[k]; }
};

template <class T>
struct Uniform {
    __device__ __forceinline__ T operator()(const Block &b, int k) const { return uniform_of(b, k, (T)0); }
};

#ifdef CVZOO_HOST
static inline double sinpi(double v) { return sin(3.141592653589793 * v); }
static inline double cospi(double v) { return cos(3.141592653589793 * v); }
#endif
__device__ __forceinline__ float turn(float part, bool sine) { return sine ? sinpif(2 * part) : cospif(2 * part); }
__device__ __forceinline__ double turn(double part, bool sine) { return sine ? sinpi(2 * part) : cospi(2 * part); }

template <class T>
struct Normal {
    __device__ __forceinline__ T operator()(const Block &b, int k) const {
        typedef typename Wide<T>::type W;
        W length = root((W)-2 * logarithm((W)1 - uniform_of(b, k & ~1, (W)0)));
        return narrow<T>(length * turn(uniform_of(b, k | 1, (W)0), k & 1));
    }
};

// 0 with probability `ratio`, otherwise `scale`
template <class T>
struct Kept {
    float ratio;
    T scale;
    __device__ __forceinline__ T operator()(const Block &b, int k) const {
        return uniform_of(b, k, 0.0f) >= ratio ? scale : narrow<T>(0);
    }
};

extern "C" __global__ void philox_words(u32 *out, i64 n, u64 key, u64 first, const u64 *base) {
    draw(out, n, key, first, base, Words());
}

#define UNIFORM(name, T)                                                                                     \
    extern "C" __global__ void philox_uniform_##name(T *out, i64 n, u64 key, u64 first, const u64 *base) {   \
        draw(out, n, key, first, base, Uniform<T>());                                                        \
    }
UNIFORM(f32, float)
UNIFORM(f64, double)

#define REST(name, T)                                                                                        \
    extern "C" __global__ void philox_normal_##name(T *out, i64 n, u64 key, u64 first, const u64 *base) {    \
        draw(out, n, key, first, base, Normal<T>());                                                         \
    }                                                                                                        \
    extern "C" __global__ void philox_kept_##name(T *out, i64 n, u64 key, u64 first, const u64 *base,        \
                                                  float ratio, double scale) {                               \
        Kept<T> kept = {ratio, narrow<T>((typename Wide<T>::type)scale)};                                    \
        draw(out, n, key, first, base, kept);                                                                \
    }
FOR_FLOATS(REST)

// base[0] = value, which a captured graph reads
extern "C" __global__ void philox_set(u64 *base, u64 value) { base[0] = value; }
