// Decoding of a detector's outputs to candidates: scores, boxes in the image's pixels; and the boxes kept by NMS.

// as in cvzoo.geometry.coding: log(1000 / 16)
#define SIZE_CLAMP 4.1351666f

enum { ANCHORS, PLACES, BOXES };       // what codes are relative to
enum { SCORE_PLAIN, SCORE_SIGMOID, SCORE_IN_64 };  // from a selected value to a score
// frames (B, 11): size to which boxes are clipped (negative: not), offset, divisor, factor, the image's size, and the
// minimum side of a box
enum { CUT_Y, CUT_X, OFF_Y, OFF_X, DIV_Y, DIV_X, MUL_Y, MUL_X, PHOTO_Y, PHOTO_X, SHORTEST, N_FRAME };

__device__ __forceinline__ float order_to_score(u32 order) {
    return __uint_as_float((order & 0x80000000u) ? (order & 0x7fffffffu) : ~order);
}
__device__ __forceinline__ float sigmoid_of(float v) { return over(1.0f, plus(1.0f, expf(-v))); }
__device__ __forceinline__ float clipped(float v, float low, float high) { return v < low ? low : v > high ? high : v; }
__device__ __forceinline__ bool is_finite(float v) { return (__float_as_uint(v) & 0x7f800000u) != 0x7f800000u; }

// one thread per key: candidates (B, S * limit) of the first taken (B, S) keys of each part, keys (B, S, limit)
// Index i of part s is pair starts[s] + i * step of its image: row pair / n_class, class pair % n_class; with by_part the
// class is s. loc (B, A, 4), or (B, A, n_class, 4) if codes_of_class; anchor (A, 4), or (B, A, 4) if own_anchors. The
// score becomes -infinity if it is not above the threshold, or if a side is below min_side or NaN.
extern "C" __global__ void decode_candidates(
    const u64 *__restrict__ keys, const int *__restrict__ taken, const i64 *__restrict__ parts, i64 step, int n_part,
    int limit, int n_class, int by_part, const float *__restrict__ loc, i64 n_row, int codes_of_class,
    const float *__restrict__ anchor, int own_anchors, int coder, float std_y, float std_x, float std_h, float std_w,
    int scoring, float above, float min_side, const float *__restrict__ frames, float *__restrict__ bbox,
    int *__restrict__ label, float *__restrict__ score, int *__restrict__ pairs, i64 n) {
    for (i64 at = first_index(); at < n; at += index_step()) {
        int slot, s;
        i64 rest = divide(at, limit, &slot), image = divide(rest, n_part, &s);
        float *to = bbox + 4 * at;
        if (slot >= smaller(taken[rest], limit)) {
            score[at] = -infinity<float>();
            label[at] = -1;
            pairs[at] = 0x7fffffff;
            for (int k = 0; k < 4; k++) to[k] = 0;
            continue;
        }
        u64 key = keys[at];
        i64 pair = parts[2 * s] + (i64)(0xffffffffu - (u32)key) * step;
        int column;
        i64 row = divide(pair, n_class, &column);
        float v = order_to_score((u32)(key >> 32));
        if (scoring == SCORE_SIGMOID) v = sigmoid_of(v);
        if (scoring == SCORE_IN_64) v = (float)(1.0 / (1.0 + exp(-(double)v)));
        const float *code = loc + 4 * ((image * n_row + row) * (codes_of_class ? n_class : 1) + (codes_of_class ? column : 0));
        const float *a = anchor + 4 * ((own_anchors ? image * n_row : 0) + row);
        const float *frame = frames + image * N_FRAME;
        float b[4];
        if (coder == BOXES) {
            for (int k = 0; k < 4; k++) b[k] = code[k];
        } else if (coder == PLACES) {  // a: y, x of the point, and the unit of distances
            for (int k = 0; k < 4; k++) {
                float side = times(code[k], a[2]);
                b[k] = k < 2 ? minus(a[k], side) : plus(a[k - 2], side);
            }
        } else {
            float std[4] = {std_y, std_x, std_h, std_w};
            for (int k = 0; k < 2; k++) {
                float side = minus(a[k + 2], a[k]);
                float center = plus(times(times(code[k], std[k]), side), plus(a[k], over(side, 2.0f)));
                float log = times(code[k + 2], std[k + 2]);
                float half = over(times(expf(log > SIZE_CLAMP ? SIZE_CLAMP : log), side), 2.0f);
                b[k] = minus(center, half);
                b[k + 2] = plus(center, half);
            }
        }
        bool finite = true, kept = v > above;
        for (int k = 0; k < 4; k++) {
            if (frame[CUT_Y] >= 0) b[k] = clipped(b[k], 0, frame[CUT_Y + k % 2]);
            finite = finite && is_finite(b[k]);
        }
        float shortest = larger(min_side, frame[SHORTEST]);
        kept = kept && minus(b[2], b[0]) >= shortest && minus(b[3], b[1]) >= shortest;
        for (int k = 0; k < 4; k++)
            to[k] = times(over(minus(b[k], frame[OFF_Y + k % 2]), frame[DIV_Y + k % 2]), frame[MUL_Y + k % 2]);
        if (!finite)
            for (int k = 0; k < 4; k++) to[k] = 0;
        score[at] = kept && finite ? v : -infinity<float>();
        label[at] = by_part ? s : column;
        pairs[at] = (int)pair;
    }
}

// score (rows, L) of conf (rows, 1 + L), logits, background first; 0 for rows of an image past its counts
// rows: n_row per image; counts (B,) or null
extern "C" __global__ void score_softmax(const float *__restrict__ conf, const int *__restrict__ counts, i64 n_row,
                                         int n_class, float *__restrict__ score, i64 n) {
    for (i64 row = first_index(); row < n; row += index_step()) {
        const float *from = conf + row * (n_class + 1);
        float *to = score + row * n_class;
        bool used = !counts || row % n_row < counts[row / n_row];
        float most = from[0], sum = 0;
        for (int k = 1; k <= n_class; k++) most = larger_or_nan(most, from[k]);
        for (int k = 0; k <= n_class; k++) sum += expf(from[k] - most);
        for (int k = 0; k < n_class; k++) to[k] = used ? over(expf(from[k + 1] - most), sum) : 0;
    }
}

// score (B, A, L): the geometric mean of the sigmoids of conf (B, A, L) and center (B, A, 1)
extern "C" __global__ void score_centered(const float *__restrict__ conf, const float *__restrict__ center, int n_class,
                                          float *__restrict__ score, i64 n) {
    for (i64 i = first_index(); i < n; i += index_step()) {
        int column;
        i64 row = divide(i, n_class, &column);
        score[i] = sqrtf(times(sigmoid_of(conf[i]), sigmoid_of(center[row])));
    }
}

// YOLO's heads: of raw (B, H, W, A, 5 + L) boxes (B, rows, 4) in pixels of the network's input, and scores (B, rows, L)
// of which this head's rows begin at first; anchors (A, 2): height, width
// centers are scaled and shifted; softmax: over classes; plain: outputs are sigmoids already; in_cells: anchors in cells
extern "C" __global__ void decode_yolo(const float *__restrict__ raw, const float *__restrict__ anchors, int n_anchor,
                                       int n_class, int height, int width, float cell_h, float cell_w, float scale_xy,
                                       float shift, int softmax, int plain, int in_cells, float above, i64 n_row, i64 first,
                                       float *__restrict__ bbox, float *__restrict__ score, i64 n) {
    for (i64 i = first_index(); i < n; i += index_step()) {
        int a, x, y;
        i64 rest = divide(i, n_anchor, &a), image;
        rest = divide(rest, width, &x);
        image = divide(rest, height, &y);
        const float *from = raw + i * (5 + n_class);
        i64 row = image * n_row + first + ((i64)y * width + x) * n_anchor + a;
        float objectness = plain ? from[4] : sigmoid_of(from[4]);
        float cell[2] = {cell_h, cell_w}, place[2] = {(float)y, (float)x}, b[4];
        bool finite = true;
        for (int k = 0; k < 2; k++) {
            float center = from[1 - k], side = from[3 - k];
            if (plain) {
                side = times(times(side, 2.0f), times(side, 2.0f));
            } else {
                center = sigmoid_of(center);
                side = expf(side > 25.0f ? 25.0f : side);
            }
            center = minus(times(center, scale_xy), shift);
            side = times(side, anchors[2 * a + k]);
            if (in_cells) side = times(side, cell[k]);
            center = times(plus(place[k], center), cell[k]);
            b[k] = minus(center, over(side, 2.0f));
            b[k + 2] = plus(center, over(side, 2.0f));
            finite = finite && is_finite(b[k]) && is_finite(b[k + 2]);
        }
        bool seen = finite && objectness > above;
        for (int k = 0; k < 4; k++) bbox[4 * row + k] = finite ? b[k] : 0;
        float *to = score + row * n_class;
        float most = from[5], sum = 0;
        if (softmax) {
            for (int k = 1; k < n_class; k++) most = larger_or_nan(most, from[5 + k]);
            for (int k = 0; k < n_class; k++) sum += expf(from[5 + k] - most);
        }
        for (int k = 0; k < n_class; k++) {
            float v = from[5 + k];
            v = softmax ? over(expf(v - most), sum) : plain ? v : sigmoid_of(v);
            v = times(v, objectness);
            to[k] = seen && v > above ? v : -infinity<float>();
        }
    }
}

// one block per image: those of the sorted candidates (B, n) that NMS kept (B, limit) and that overlap the image, in its
// pixels; result (B, 4 + 6 * limit) 32-bit: their number; whether fewer remain than wanted although some were not considered,
// as a part had more than `most`, or the image more than most_boxes; two zeros; then for each box its sides, score, class
extern "C" __global__ void finish_boxes(const float *__restrict__ bbox, const int *__restrict__ label,
                                        const float *__restrict__ score, int n, const int *__restrict__ kept,
                                        const int *__restrict__ n_kept, int limit, const float *__restrict__ frames,
                                        int cut, const u64 *__restrict__ states, int n_part, int most,
                                        const int *__restrict__ counts, int most_boxes, int wanted,
                                        float *__restrict__ result) {
    __shared__ int place[256], total;
    i64 image = blockIdx.x;
    const float *frame = frames + image * N_FRAME;
    float *to = result + image * (4 + 6 * (i64)limit);
    int count = n_kept[image], t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    for (int start = 0; start < count; start += blockDim.x) {
        float b[4], inside[4];
        int i = start + t, row = -1;
        bool seen = false;
        if (i < count) {
            row = kept[image * limit + i];
            for (int k = 0; k < 4; k++) {
                b[k] = bbox[4 * (image * n + row) + k];
                inside[k] = clipped(b[k], 0, frame[PHOTO_Y + k % 2]);
            }
            seen = inside[2] > inside[0] && inside[3] > inside[1];
        }
        place[t] = seen;
        __syncthreads();
        if (t == 0) {
            int sum = total;
            for (int k = 0; k < smaller(count - start, (int)blockDim.x); k++) {
                int one = place[k];
                place[k] = sum;
                sum += one;
            }
            total = sum;
        }
        __syncthreads();
        if (seen) {
            float *own = to + 4 + 6 * place[t];
            for (int k = 0; k < 4; k++) own[k] = cut ? inside[k] : b[k];
            own[4] = score[image * n + row];
            own[5] = __uint_as_float((u32)label[image * n + row]);
        }
        __syncthreads();
    }
    for (int k = 6 * total + t; k < 6 * limit; k += blockDim.x) to[4 + k] = 0;
    if (t == 0) {
        int more = counts[image] > most_boxes;
        for (int s = 0; s < n_part; s++) more = more || states[(image * n_part + s) * 4 + 3] > (u64)most;
        to[0] = __uint_as_float((u32)total);
        to[1] = __uint_as_float((u32)(more && count < wanted));
        to[2] = to[3] = 0;
    }
}

// proposals: bbox (B, limit, 4) of the sorted candidates (B, n) that NMS kept (B, limit), zeros past n_kept
extern "C" __global__ void gather_boxes(const float *__restrict__ bbox, int n, const int *__restrict__ kept,
                                        const int *__restrict__ n_kept, int limit, float *__restrict__ to, i64 size) {
    for (i64 i = first_index(); i < size; i += index_step()) {
        int slot;
        i64 image = divide(i, limit, &slot);
        int row = slot < n_kept[image] ? kept[i] : -1;
        for (int k = 0; k < 4; k++) to[4 * i + k] = row < 0 ? 0 : bbox[4 * (image * n + row) + k];
    }
}
