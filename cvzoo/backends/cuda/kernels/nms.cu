// Greedy non-maximum suppression of sorted boxes: a matrix of overlaps, then one block that goes through its rows. Nothing
// is copied to the host, and no size depends on the boxes. IoU is `inter / ((area_a + area_b) - inter)` in float32, each
// operation rounded separately, so that the results are those of the CPU.

// words of 64 boxes in the sweep's shared memory: 32768 boxes per image
#define WORDS 512
// rows of the mask that the sweep loads before it waits for the first
#define AT_ONCE 8

__device__ __forceinline__ float area_of(const float *b) {
    return times(larger(minus(b[2], b[0]), 0.0f), larger(minus(b[3], b[1]), 0.0f));
}

// grid (words, words, B), 64 threads: bit j of mask (B, 64 * words, words): box i, of higher score, suppresses box
// 64 * word + j. bbox (B, n, 4); label (B, n) or null; counts (B,) boxes per image, of which the first `most` are considered
extern "C" __global__ void nms_mask(const float *__restrict__ bbox, const int *__restrict__ label,
                                    const int *__restrict__ counts, int n, int most, float thresh, u64 *__restrict__ mask) {
    int column = blockIdx.x, row = blockIdx.y, words = gridDim.x;
    i64 image = blockIdx.z;
    if (row > column) return;
    int count = smaller(counts[image], most), t = threadIdx.x;
    if (64 * column >= count) return;
    __shared__ float other[64 * 4], other_area[64];
    __shared__ int other_label[64];
    int n_other = smaller(count - 64 * column, 64), i = 64 * row + t;
    if (t < n_other) {
        i64 at = image * n + 64 * column + t;
        for (int k = 0; k < 4; k++) other[4 * t + k] = bbox[4 * at + k];
        other_area[t] = area_of(other + 4 * t);
        other_label[t] = label ? label[at] : 0;
    }
    __syncthreads();
    if (i >= count) return;
    i64 at = image * n + i;
    float own[4];
    for (int k = 0; k < 4; k++) own[k] = bbox[4 * at + k];
    float area = area_of(own);
    int own_label = label ? label[at] : 0;
    u64 bits = 0;
    for (int j = row == column ? t + 1 : 0; j < n_other; j++) {
        if (other_label[j] != own_label) continue;
        const float *b = other + 4 * j;
        float h = larger(minus(smaller(own[2], b[2]), larger(own[0], b[0])), 0.0f);
        float w = larger(minus(smaller(own[3], b[3]), larger(own[1], b[1])), 0.0f);
        float inter = times(h, w), both = minus(plus(area, other_area[j]), inter);
        if (both > 0 && over(inter, both) > thresh) bits |= 1ull << j;
    }
    mask[(image * 64 * words + i) * words + column] = bits;
}

// one block per image: kept (B, limit) indices of the remaining boxes, by descending score, -1 past n_kept (B,)
extern "C" __global__ void nms_sweep(const u64 *__restrict__ mask, const int *__restrict__ counts, int most, int words,
                                     int limit, int *__restrict__ kept, int *__restrict__ n_kept) {
    __shared__ u64 removed[WORDS], diagonal[64], staying;
    __shared__ int total;
    i64 image = blockIdx.x;
    int count = smaller(counts[image], most), used = (count + 63) / 64, t = threadIdx.x;
    for (int k = t; k < used; k += blockDim.x) removed[k] = 0;
    if (t == 0) total = 0;
    __syncthreads();
    for (int tile = 0; tile < used; tile++) {
        int here = smaller(count - 64 * tile, 64), before = total;
        if (before >= limit) break;
        const u64 *rows = mask + (image * words + tile) * 64 * words;
        for (int k = t; k < here; k += blockDim.x) diagonal[k] = rows[(i64)k * words + tile];
        __syncthreads();
        if (t == 0) {
            u64 left = ~removed[tile], stay = 0;
            if (here < 64) left &= (1ull << here) - 1;
            int now = before;
            while (left && now < limit) {  // only remaining boxes suppress others
                int k = __ffsll((i64)left) - 1;
                stay |= 1ull << k;
                left &= ~(diagonal[k] | 1ull << k);
                kept[image * limit + now++] = 64 * tile + k;
            }
            staying = stay;
            total = now;
        }
        __syncthreads();
        u64 stay = staying;
        for (int word = tile + 1 + t; word < used; word += blockDim.x) {
            u64 gone = removed[word], left = stay;
            while (left) {  // AT_ONCE loads in flight; past the last row it is loaded again
                u64 bits[AT_ONCE];
                int k = 0;
#pragma unroll
                for (int j = 0; j < AT_ONCE; j++) {
                    if (left) k = __ffsll((i64)left) - 1;
                    left &= left - 1;
                    bits[j] = rows[(i64)k * words + word];
                }
#pragma unroll
                for (int j = 0; j < AT_ONCE; j++) gone |= bits[j];
            }
            removed[word] = gone;
        }
        __syncthreads();
    }
    int found = total;
    for (int k = found + t; k < limit; k += blockDim.x) kept[image * limit + k] = -1;
    if (t == 0) n_kept[image] = found;
}
