// Fixed kernels of optimizers, besides those generated from formulas (optimizers/on_device/).

// ---- values that change every step, written without a copy from the host --------------------------------------------
struct Words {
    i64 at[440];
};

// out[k] = words.at[k]: the words are kernel arguments, which a captured graph stores
extern "C" __global__ void write_words(Words words, i64 *out, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) out[k] = words.at[k];
}

// ---- norms ----------------------------------------------------------------------------------------------------------
// out[0] = the square root of the sum of partials (n,); one block of 256
extern "C" __global__ void root_of_sum(const double *partials, int n, double *out) {
    __shared__ double scratch[32];
    double sum = 0;
#pragma unroll 8
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += partials[k];
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) out[0] = root(sum);
}

// ---- loss scaling ---------------------------------------------------------------------------------------------------
// state: the loss scale, the scale of the current gradients, updates since its last change, skipped updates, the
// interval, whether the scale is dynamic, the smallest and the largest scale
extern "C" __global__ void begin_check(double *state, int *found) {
    state[1] = state[0];
    *found = 0;
}
extern "C" __global__ void end_check(double *state, const int *found) {
    if (*found) {
        state[2] = 0;
        state[3] += 1;
        if (state[5] != 0) state[0] = larger(state[0] / 2, state[6]);
        return;
    }
    state[2] += 1;
    if (state[5] != 0 && state[2] >= state[4]) {
        state[2] = 0;
        state[0] = smaller(state[0] * 2, state[7]);
    }
}
