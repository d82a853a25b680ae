"""The host that runs our kernels in tests shows what a GPU would, and some of what a GPU would hide."""

import shutil

import numpy as np
import pytest
from host_cuda import HostCudaError, HostModule, thread_order
from host_cuda.module import ORDERS

from cvzoo.backends.gpu_kernels import common_source

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

TEXT = r"""
#define SUM(s, T)                                                                      \
    extern "C" __global__ void __launch_bounds__(128) sum_##s(const T *x, T *y, int n) { \
        typedef typename Wide<T>::type A;                                              \
        __shared__ A scratch[32];                                                      \
        A a = 0;                                                                       \
        for (int i = threadIdx.x; i < n; i += blockDim.x) a += wide(x[blockIdx.x * n + i]); \
        a = block_sum(a, scratch);                                                     \
        if (threadIdx.x == 0) y[blockIdx.x] = narrow<T>(a);                            \
    }                                                                                  \
    extern "C" __global__ void round_trip_##s(const T *x, T *y) {                      \
        y[threadIdx.x] = narrow<T>(wide(x[threadIdx.x]));                              \
    }
FOR_FLOATS(SUM)
extern "C" __global__ void to_half(const float *x, f16 *y, bf16 *z, i64 n) {
    for (i64 i = first_index(); i < n; i += index_step()) y[i] = narrow<f16>(x[i]), z[i] = narrow<bf16>(x[i]);
}
extern "C" __global__ void without_barrier(float *x) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x + blockIdx.x;
    x[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void with_barrier(float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void leaves_early(float *x) {
    if (threadIdx.x == 3) return;
    __syncthreads();
    x[threadIdx.x] = 1;
}
extern "C" __global__ void half_a_warp(float *x) {
    if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
}
extern "C" __global__ void lanes(u32 *x) {
    u32 t = threadIdx.x;
    x[t] = __ballot_sync(0xffffffffu, t % 3 == 0);
    x[64 + t] = __shfl_down_sync(0xffffffffu, t, 1);
    x[128 + t] = __shfl_up_sync(0xffffffffu, t, 2);
    x[192 + t] = __shfl_xor_sync(0xffffffffu, t, 5);
    x[256 + t] = t % 32 < 16 ? __shfl_sync(0x0000ffffu, t, 3) : __shfl_sync(0xffff0000u, t, 20);
}
extern "C" __global__ void counts(u64 *n, float *f, int *most) {
    atomicAdd(n, 2), atomicAdd(f, .5f), atomicMax(most, (int)threadIdx.x);
}
extern "C" __global__ void bits(int *y) {
    y[0] = __popc(255u), y[1] = __ffs(8), y[2] = __clz(1), y[3] = __clzll(1), y[4] = __popcll(~0ull);
    y[5] = __float2int_rn(2.5f), y[6] = __float2int_rz(3e10f);
}
extern "C" __global__ void sizes(int a, i64 b, float c, double d, bool e, u8 f, float4 g) {}
"""


@pytest.fixture(scope="module")
def module():
    return HostModule(common_source() + TEXT)


DTYPES = {"f32": np.dtype("f4"), "f64": np.dtype("f8"), "f16": np.dtype("f2")}


@pytest.mark.parametrize("suffix", DTYPES)
def test_a_sum_has_the_same_bits_in_every_order_of_threads(module, suffix):
    x = np.random.default_rng(0).standard_normal((3, 1000)).astype(DTYPES[suffix])
    seen = []
    for order in ORDERS:
        y = np.zeros(3, x.dtype)
        with thread_order(order):
            module.launch(f"sum_{suffix}", (3,), (128,), (x, y, np.int32(1000)))
        seen.append(y)
    np.testing.assert_allclose(seen[0], x.sum(axis=1, dtype="f8"), rtol=2e-3 if suffix == "f16" else 2e-4)
    assert all(y.tobytes() == seen[0].tobytes() for y in seen)


def test_every_half_survives_and_floats_round_as_numpy_rounds_them(module):
    every = np.arange(1 << 16, dtype="u2").view("f2")
    out = np.empty_like(every)
    for k in range(0, 1 << 16, 1024):
        module.launch("round_trip_f16", (1,), (1024,), (every[k : k + 1024], out[k:]))
    np.testing.assert_array_equal(out, every)
    x = np.random.default_rng(0).integers(0, 1 << 32, 10000, dtype="u4").view("f4")
    y, z = np.empty(x.size, "f2"), np.empty(x.size, "u2")
    module.launch("to_half", (8,), (128,), (x, y, z, np.int64(x.size)))
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(y, x.astype("f2"))
        wanted = x.astype(ml_dtypes.bfloat16).astype("f4")
    np.testing.assert_array_equal(z.view(ml_dtypes.bfloat16).astype("f4"), wanted)


def test_a_missing_barrier_gives_other_bits_in_another_order(module):
    seen = set()
    for order in ORDERS:
        y = np.zeros(64, "f4")
        with thread_order(order):
            module.launch("without_barrier", (2,), (64,), (y,))
        seen.add(y.tobytes())
    assert len(seen) > 1


def test_a_barrier_lets_threads_see_each_others_values(module):
    for order in ORDERS:
        y = np.zeros(64, "f4")
        with thread_order(order):
            module.launch("with_barrier", (1,), (64,), (y,), shared=256)
        np.testing.assert_array_equal(y, np.arange(64)[::-1])


def test_lanes_exchange_values(module):
    for order in ORDERS:
        x = np.zeros((5, 64), "u4")
        with thread_order(order):
            module.launch("lanes", (1,), (64,), (x,))
        t = np.arange(64)
        ballot = [sum(1 << k for k in range(32) if (w + k) % 3 == 0) for w in (0, 32)]
        np.testing.assert_array_equal(x[0], np.repeat(ballot, 32))
        np.testing.assert_array_equal(x[1], np.where(t % 32 == 31, t, t + 1))
        np.testing.assert_array_equal(x[2], np.where(t % 32 < 2, t, t - 2))
        np.testing.assert_array_equal(x[3], t ^ 5)
        np.testing.assert_array_equal(x[4], t // 32 * 32 + np.where(t % 32 < 16, 3, 20))


def test_atomics_count(module):
    n, f, most = np.zeros(1, "u8"), np.zeros(1, "f4"), np.zeros(1, "i4")
    module.launch("counts", (3,), (50,), (n, f, most))
    assert (n[0], f[0], most[0]) == (300, 75, 49)


def test_bits_are_counted_as_on_a_device(module):
    y = np.zeros(7, "i4")
    module.launch("bits", (1,), (1,), (y,))
    assert y.tolist() == [8, 4, 31, 63, 64, 2, 2**31 - 1]


@pytest.mark.parametrize(
    ("kernel", "words"), [("leaves_early", "left the kernel before a barrier"), ("half_a_warp", "wait for each other")]
)
def test_threads_that_wait_for_ever_are_reported_and_the_next_launch_runs(module, kernel, words):
    y = np.zeros(64, "f4")
    with pytest.raises(HostCudaError, match=words):
        module.launch(kernel, (1,), (64,), (y,))
    module.launch("with_barrier", (1,), (64,), (y,), shared=256)
    assert y[0] == 63


def test_a_signature_says_each_arguments_kind_and_size(module):
    assert module.signature("sizes") == ("i4", "i8", "f4", "f8", "b1", "u1", "V16")


@pytest.mark.parametrize(
    ("grid", "block", "args", "words"),
    [
        ((0,), (1,), (np.zeros(64, "f4"),), "positive"),
        ((1,), (2048,), (np.zeros(64, "f4"),), "1024 threads"),
        ((1, 70000), (1,), (np.zeros(64, "f4"),), "larger than devices allow"),
        ((1,), (1,), (), "takes 1 arguments"),
        ((1,), (1,), (np.float32(1),), "is a pointer, got float32"),
    ],
)
def test_a_launch_that_no_device_would_take_is_refused(module, grid, block, args, words):
    with pytest.raises(HostCudaError, match=words):
        module.launch("with_barrier", grid, block, args, shared=256)


def test_a_scalar_of_another_type_is_refused(module):
    with pytest.raises(HostCudaError, match="argument 2 is i4, got int64"):
        module.launch("sum_f32", (1,), (32,), (np.zeros(4, "f4"), np.zeros(4, "f4"), np.int64(4)))
    with pytest.raises(HostCudaError, match="argument 2 is i4, got int"):
        module.launch("sum_f32", (1,), (32,), (np.zeros(4, "f4"), np.zeros(4, "f4"), 4))


@pytest.mark.parametrize("name", ["f", "grid", "args", "seed", "out"])
def test_a_kernel_may_have_any_name(name):
    y = np.zeros(1, "f4")
    HostModule(f'extern "C" __global__ void {name}(float *x) {{ x[0] = 3; }}').launch(name, (1,), (1,), (y,))
    assert y[0] == 3


def test_a_source_that_does_not_compile_is_refused_with_the_compilers_words():
    with pytest.raises(HostCudaError, match="oops"):
        HostModule('extern "C" __global__ void f(float *x) { oops; }')
