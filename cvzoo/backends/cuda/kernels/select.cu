// Top-k selection of scores by radix select, and sorting of candidates. It is deterministic in any order of threads: a
// score and its index make a 64-bit integer key, and no two keys are equal.
//
// A part is a range of an image's scores: element i of part s of image b is score[b * photo_stride + start + i * step],
// parts (S, 2): start, count. States (B, S, 4): the lowest selected key, the number still missing, whether the lowest key
// is known, the number of scores above the threshold.

enum { LOWEST, WANTED, KNOWN, TOTAL, N_STATE };
#define BINS 2048
#define PASSES 6

// a larger score has a larger integer; 0 and -0 are equal
__device__ __forceinline__ u32 order_of(float v) {
    u32 u = __float_as_uint(v + 0.0f);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}
__device__ __forceinline__ float score_of(u32 order) {
    return __uint_as_float((order & 0x80000000u) ? (order & 0x7fffffffu) : ~order);
}
// of equal scores the smaller index has the larger key
__device__ __forceinline__ u64 key_of(float v, u32 place) { return ((u64)order_of(v) << 32) | (0xffffffffu - place); }
__device__ __forceinline__ u32 place_of(u64 key) { return 0xffffffffu - (u32)key; }

// the lowest bit and the number of bits of a pass
__device__ __forceinline__ int low_bit(int pass) { return pass < PASSES - 1 ? 53 - 11 * pass : 0; }
__device__ __forceinline__ int bits_of(int pass) { return pass < PASSES - 1 ? 11 : 9; }

// scores that a thread loads before it waits for them
#define AT_ONCE 4
// scores i, i + index_step() ... of a part; `none` past its end
__device__ __forceinline__ void load_scores(const float *from, i64 i, i64 count, i64 step, float none, float *v) {
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++, i += index_step()) v[u] = i < count ? from[i * step] : none;
}

// grid (blocks, S, B); counts (B, S, BINS) of the keys that share the known bits, by their next bits: a histogram
extern "C" __global__ void select_count(const float *__restrict__ score, const i64 *__restrict__ parts, i64 photo_stride,
                                        i64 step, float above, int pass, const u64 *__restrict__ states,
                                        u32 *__restrict__ counts) {
    __shared__ u32 bins[BINS];
    int s = blockIdx.y, n_part = gridDim.y;
    i64 row = (i64)blockIdx.z * n_part + s;
    const u64 *state = states + row * N_STATE;
    if (pass > 0 && state[KNOWN]) return;
    for (int k = threadIdx.x; k < BINS; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    const float *from = score + (i64)blockIdx.z * photo_stride + parts[2 * s];
    i64 count = parts[2 * s + 1];
    int low = low_bit(pass), bits = bits_of(pass);
    u64 known = pass > 0 ? state[LOWEST] >> (low + bits) : 0;
    for (i64 i = first_index(); i < count; i += AT_ONCE * index_step()) {
        float v[AT_ONCE];
        load_scores(from, i, count, step, above, v);
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            if (!(v[u] > above)) continue;
            u64 key = key_of(v[u], (u32)(i + u * index_step()));
            if (pass > 0 && (key >> (low + bits)) != known) continue;
            atomicAdd(&bins[(u32)(key >> low) & ((1u << bits) - 1)], 1u);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < BINS; k += blockDim.x)
        if (bins[k]) atomicAdd(&counts[row * BINS + k], bins[k]);
}

// grid (S, B), 256 threads: the pass's bits of the lowest selected key; counts are reset to zeros
extern "C" __global__ void select_bits(u32 *__restrict__ counts, int limit, int pass, u64 *__restrict__ states) {
    __shared__ u32 sums[256], groups[8];
    i64 row = (i64)blockIdx.y * gridDim.x + blockIdx.x;
    u64 *state = states + row * N_STATE;
    if (pass > 0 && state[KNOWN]) return;
    u32 *own = counts + row * BINS + (BINS / 256) * threadIdx.x;
    u32 sum = 0;
    for (int k = 0; k < BINS / 256; k++) sum += own[k];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 8) {
        sum = 0;
        for (int k = 0; k < 32; k++) sum += sums[32 * threadIdx.x + k];
        groups[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u64 wanted = pass > 0 ? state[WANTED] : (u64)limit, total = 0;
        for (int k = 0; k < 8; k++) total += groups[k];
        if (pass == 0) state[TOTAL] = total;
        if (pass == 0 && total <= wanted) {
            state[LOWEST] = 0;
            state[KNOWN] = 1;
        } else {
            int group = 7;  // from the highest bin down, until the missing number is reached
            while (groups[group] < wanted) wanted -= groups[group--];
            int part = 32 * group + 31;
            while (sums[part] < wanted) wanted -= sums[part--];
            int bin = (BINS / 256) * (part + 1) - 1;
            while (counts[row * BINS + bin] < wanted) wanted -= counts[row * BINS + bin--];
            u64 before = pass > 0 ? state[LOWEST] : 0;
            state[LOWEST] = before | ((u64)bin << low_bit(pass));
            state[WANTED] = wanted;
            state[KNOWN] = counts[row * BINS + bin] == wanted;
        }
    }
    __syncthreads();
    for (int k = 0; k < BINS / 256; k++) own[k] = 0;
}

// grid (blocks, S, B): the selected keys (B, S, limit), unordered; taken (B, S), initialized with zeros
extern "C" __global__ void select_take(const float *__restrict__ score, const i64 *__restrict__ parts, i64 photo_stride,
                                       i64 step, float above, int limit, const u64 *__restrict__ states,
                                       u64 *__restrict__ keys, int *__restrict__ taken) {
    int s = blockIdx.y;
    i64 row = (i64)blockIdx.z * gridDim.y + s;
    u64 lowest = states[row * N_STATE + LOWEST];
    const float *from = score + (i64)blockIdx.z * photo_stride + parts[2 * s];
    i64 count = parts[2 * s + 1];
    for (i64 i = first_index(); i < count; i += AT_ONCE * index_step()) {
        float v[AT_ONCE];
        load_scores(from, i, count, step, above, v);
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            if (!(v[u] > above)) continue;
            u64 key = key_of(v[u], (u32)(i + u * index_step()));
            if (key < lowest) continue;
            int place = atomicAdd(&taken[row], 1);
            if (place < limit) keys[row * limit + place] = key;
        }
    }
}

// bitonic sort of n keys, a power of two, in descending order, by the threads of one block
__device__ __forceinline__ void sort_block(u64 *keys, int n) {
    for (int size = 2; size <= n; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
                int low = 2 * t - (t & (stride - 1)), high = low + stride;
                u64 a = keys[low], b = keys[high];
                if ((low & size) == 0 ? a < b : b < a) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
            __syncthreads();
        }
}
// the first `count` keys of row, in the scratch memory `room` for n, the next power of two
__device__ __forceinline__ void sort_row(u64 *row, u64 *room, int count, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) room[k] = k < count ? row[k] : 0;
    __syncthreads();
    sort_block(room, n);
    for (int k = threadIdx.x; k < count; k += blockDim.x) row[k] = room[k];
}
// the index of `key` in keys (n,), which are in descending order
__device__ __forceinline__ int rank_of(u64 key, const u64 *keys, int n) {
    int low = 0, high = n - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[middle] > key) low = middle + 1;
        else high = middle;
    }
    return low;
}
__device__ __forceinline__ int power_of_two(int n) {
    int p = 1;
    while (p < n) p <<= 1;
    return p;
}
#define IN_SHARED 2048

// one block per row of keys (rows, limit): sorts the first taken[row] of them in descending order
// room: (rows, capacity), scratch; limit <= capacity, a power of two
extern "C" __global__ void sort_keys(u64 *__restrict__ keys, const int *__restrict__ taken, int limit, int capacity,
                                     u64 *__restrict__ room) {
    __shared__ u64 near[IN_SHARED];
    i64 row = blockIdx.x;
    int count = smaller(taken[row], limit), n = power_of_two(count);
    // separate calls, since a pointer to shared or global memory would need slower generic loads
    if (n <= IN_SHARED) sort_row(keys + row * limit, near, count, n);
    else sort_row(keys + row * limit, room + row * capacity, count, n);
}

// one block per image: candidates with scores above -infinity, by descending score, of equal scores the lower tie first
// tie (B, N), or null for the index; counts (B,); sorted bbox (B, N, 4), label (B, N), score (B, N), zeros past the count
extern "C" __global__ void sort_candidates(const float *__restrict__ bbox, const int *__restrict__ label,
                                           const float *__restrict__ score, const int *__restrict__ tie, int n,
                                           int capacity, u64 *__restrict__ room, int *__restrict__ places,
                                           float *__restrict__ to_bbox, int *__restrict__ to_label,
                                           float *__restrict__ to_score, int *__restrict__ counts) {
    __shared__ u64 near[IN_SHARED];
    __shared__ int count;
    i64 row = blockIdx.x, base = row * n;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    // a key contains the tie, not the row: keys are packed in any order of threads, sorted, and each row looks up the index
    // of its key below
    u64 *own = room + row * capacity;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        if (score[base + k] > -infinity<float>()) own[atomicAdd(&count, 1)] = key_of(score[base + k], tie ? (u32)tie[base + k] : (u32)k);
    __syncthreads();
    int found = count, m = power_of_two(found);
    for (int k = found + threadIdx.x; k < m; k += blockDim.x) own[k] = 0;
    __syncthreads();
    if (m <= IN_SHARED) {
        for (int k = threadIdx.x; k < m; k += blockDim.x) near[k] = own[k];
        __syncthreads();
        sort_block(near, m);
    } else {
        sort_block(own, m);
    }
    // a key's index is found by binary search, as no two keys are equal
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        if (!(score[base + k] > -infinity<float>())) continue;
        u64 key = key_of(score[base + k], tie ? (u32)tie[base + k] : (u32)k);
        i64 to = base + (m <= IN_SHARED ? rank_of(key, near, found) : rank_of(key, own, found));
        places[to] = k;
        for (int side = 0; side < 4; side++) to_bbox[4 * to + side] = bbox[4 * (base + k) + side];
        to_label[to] = label[base + k];
        to_score[to] = score[base + k];
    }
    for (int k = found + threadIdx.x; k < n; k += blockDim.x) {
        i64 to = base + k;
        places[to] = -1;
        for (int side = 0; side < 4; side++) to_bbox[4 * to + side] = 0;
        to_label[to] = -1;
        to_score[to] = 0;
    }
    if (threadIdx.x == 0) counts[row] = found;
}
