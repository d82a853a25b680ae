// Concatenation of up to eight arrays along an axis in one launch. In memory each is (outer, width) units, and y is
// (outer, pitch); the first begins at unit `begin` of y's rows. ends: the end of each, relative to `begin`.

template <class Unit>
__device__ __forceinline__ void concat(
    Unit *y, const Unit *x0, const Unit *x1, const Unit *x2, const Unit *x3, const Unit *x4, const Unit *x5,
    const Unit *x6, const Unit *x7, i64 e0, i64 e1, i64 e2, i64 e3, i64 e4, i64 e5, i64 e6, i64 e7, i64 outer,
    i64 pitch, i64 begin) {
    i64 i = first_index();
    if (i >= outer * e7) return;
    i64 row, at;
    if (e7 >> 31 == 0) {
        int rest;
        row = divide(i, (int)e7, &rest), at = rest;
    } else {
        row = i / e7, at = i - row * e7;
    }
    const Unit *from;
    i64 first, end;
    if (at < e0) from = x0, first = 0, end = e0;
    else if (at < e1) from = x1, first = e0, end = e1;
    else if (at < e2) from = x2, first = e1, end = e2;
    else if (at < e3) from = x3, first = e2, end = e3;
    else if (at < e4) from = x4, first = e3, end = e4;
    else if (at < e5) from = x5, first = e4, end = e5;
    else if (at < e6) from = x6, first = e5, end = e6;
    else from = x7, first = e6, end = e7;
    y[row * pitch + begin + at] = from[row * (end - first) + at - first];
}

typedef Pack<u64, 2> u128;
#define CONCAT(suffix, Unit)                                                                                           \
    extern "C" __global__ void concat_##suffix(                                                                        \
        Unit *y, const Unit *x0, const Unit *x1, const Unit *x2, const Unit *x3, const Unit *x4, const Unit *x5,       \
        const Unit *x6, const Unit *x7, i64 e0, i64 e1, i64 e2, i64 e3, i64 e4, i64 e5, i64 e6, i64 e7, i64 outer,     \
        i64 pitch, i64 begin) {                                                                                        \
        concat<Unit>(y, x0, x1, x2, x3, x4, x5, x6, x7, e0, e1, e2, e3, e4, e5, e6, e7, outer, pitch, begin);          \
    }
CONCAT(1, u8)
CONCAT(2, u16)
CONCAT(4, u32)
CONCAT(8, u64)
CONCAT(16, u128)
