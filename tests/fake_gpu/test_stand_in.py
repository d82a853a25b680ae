"""The stand-in is as strict as a device: what would be wrong there raises here."""

import numpy as np
import pytest
from fake_gpu.machine import CUDARuntimeError, FakeGpuError


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu(devices=2) as machine:
        yield machine


def nhwc(cp, b, c, h, w):
    return cp.empty((b, h, w, c), "float32").transpose(0, 3, 1, 2)


def test_new_memory_is_full_of_nan(gpu):
    cp = gpu.cupy
    assert np.isnan(cp.empty((3, 4), "float32").get()).all()
    x = cp.zeros(1000, "float32")
    del x
    assert np.isnan(cp.empty(1000, "float32").get()).all()


def test_arrays_of_the_host_are_refused(gpu):
    x = gpu.cupy.ones(3)
    with pytest.raises(TypeError, match="Unsupported type"):
        x + np.ones(3)
    with pytest.raises(TypeError, match="Unsupported type"):
        np.ones(3) * x
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(x)
    with pytest.raises((TypeError, ValueError)):
        x[...] = np.ones(3)
    assert (x + np.float32(1)).get().tolist() == [2, 2, 2]


def test_arrays_of_two_devices_do_not_mix(gpu):
    cp = gpu.cupy
    x = cp.ones(3)
    with cp.cuda.Device(1):
        y = cp.ones(3)
        with pytest.raises(ValueError, match="Peer access"):
            x + y
        with pytest.raises(ValueError, match="Peer access"):
            x + 1
        assert x.copy().device.id == 1
        y[...] = x  # a copy of contiguous memory needs no peer access
        with pytest.raises(ValueError, match="Peer access"):
            cp.empty((3, 2))[:, 0][...] = x


def test_functions_of_numpy_give_arrays_of_the_device(gpu):
    x = gpu.cupy.arange(4, dtype="float32")
    for y in (np.exp(x), np.sum(x), np.concatenate([x, x]), np.transpose(x), np.where(x > 1, x, 0)):
        assert isinstance(y, gpu.cupy.ndarray)
    with pytest.raises(TypeError):
        np.kron(x, x)


def test_results_lie_as_cupys_do(gpu):
    cp = gpu.cupy
    x = nhwc(cp, 2, 3, 4, 5)
    assert x.strides == (240, 4, 60, 12)
    assert (x + 1).flags.c_contiguous
    assert cp.maximum(x, 0).flags.c_contiguous
    assert x.copy().flags.c_contiguous
    assert x.astype("float16").strides == (120, 2, 30, 6)
    assert cp.empty_like(x).strides == x.strides
    assert x.sum((2, 3)).shape == (2, 3)
    assert x.sum().shape == ()


def test_whoever_asks_for_a_number_is_seen_to_wait(gpu):
    x = gpu.cupy.arange(4)
    for ask in (
        lambda: float(x.sum()),
        lambda: bool((x > 1).any()),
        lambda: int(x[0]),
        lambda: x.tolist(),
        lambda: x[x > 1],
        lambda: x.nonzero(),
        lambda: x.get(),
        lambda: x.__setitem__(x > 1, 0),
    ):
        gpu.recorder.clear()
        ask()
        assert gpu.recorder.of("sync"), ask
        with gpu.no_sync("the test"), pytest.raises(FakeGpuError, match="the test"):
            ask()


def test_an_array_is_no_index_of_the_host(gpu):
    with pytest.raises(TypeError):
        range(gpu.cupy.arange(4)[1])


def test_indices_of_arrays_wrap_around(gpu):
    x = gpu.cupy.arange(3)
    assert x[gpu.cupy.array([1, 3, -1])].tolist() == [1, 0, 2]
    x[gpu.cupy.array([4])] = 9
    assert x.tolist() == [0, 9, 2]


def test_a_graph_records_and_replays(gpu):
    cp = gpu.cupy
    x = cp.arange(4, dtype="float32")
    stream, pool = cp.cuda.Stream(non_blocking=True), cp.cuda.MemoryPool()
    with stream, cp.cuda.using_allocator(pool.malloc):
        stream.begin_capture()
        y = (x + 1) * 2
        graph = stream.end_capture()
    assert np.isnan(y.get()).all(), "nothing runs while it is recorded"
    graph.launch(stream)
    assert y.tolist() == [2, 4, 6, 8]
    x[...] = 0
    graph.launch(stream)
    assert y.tolist() == [2, 2, 2, 2]
    assert pool.used_bytes() == 512
    assert pool.total_bytes() == 1024
    assert [entry.name for entry in graph.nodes if entry.kind == "launch"] == ["add", "multiply"]


@pytest.mark.parametrize(
    "what",
    [
        lambda cp, x: x.get(),
        lambda cp, x: float(x.sum()),
        lambda cp, x: cp.asarray(np.ones(3)),
        lambda cp, x: x.set(np.ones(4, "float32")),
        lambda cp, x: cp.matmul(x, x),
        lambda cp, x: x[x > 1],
        lambda cp, x: cp.cuda.get_current_stream().synchronize(),
        lambda cp, x: cp.cuda.Device().synchronize(),
    ],
    ids=["get", "float", "asarray", "set", "matmul", "mask", "synchronize", "device"],
)
def test_a_capture_refuses_what_cuda_refuses(gpu, what):
    cp = gpu.cupy
    x = cp.arange(4, dtype="float32")
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        with pytest.raises(RuntimeError):
            what(cp, x)
        with pytest.raises(CUDARuntimeError):
            stream.end_capture()
    assert not stream.is_capturing()


def test_work_of_another_stream_joins_a_capture_by_events(gpu):
    cp = gpu.cupy
    x = cp.ones(4)
    one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with one:
        one.begin_capture()
        two.wait_event(one.record())
        with two:
            y = x + 1
        one.wait_event(two.record())
        z = y + 1
        graph = one.end_capture()
        graph.launch()
    assert z.tolist() == [3, 3, 3, 3]
    with one:
        one.begin_capture()
        two.wait_event(one.record())
        with two:
            y = x + 1
        with pytest.raises(CUDARuntimeError, match="Unjoined"):
            one.end_capture()


def test_a_graph_whose_memory_is_gone_is_found_out(gpu):
    cp = gpu.cupy
    x = cp.ones(4)
    stream, pool = cp.cuda.Stream(non_blocking=True), cp.cuda.MemoryPool()
    with stream, cp.cuda.using_allocator(pool.malloc):
        stream.begin_capture()
        x + 1
        graph = stream.end_capture()
    graph.launch(stream)
    del pool
    with pytest.raises(FakeGpuError, match="given back"):
        graph.launch(stream)


def write_behind(machine):
    cp = machine.cupy
    x = cp.zeros(3, "float32")
    code = 'extern "C" __global__ void fill(float *x, int n) { int i = threadIdx.x; if (i <= n) x[i] = 1; }'
    cp.RawModule(code=code).get_function("fill")((1,), (32,), (x, np.int32(3)))
    assert x.tolist() == [1, 1, 1]


def test_a_write_beyond_a_block_is_found_out(fake_gpu):
    there = fake_gpu()
    machine = there.__enter__()
    write_behind(machine)
    with pytest.raises(FakeGpuError, match="wrote behind"):
        there.__exit__(None, None, None)


def test_kernels_check_their_arguments(gpu):
    cp = gpu.cupy
    code = 'extern "C" __global__ void nothing(const float *x, int n, float a) { ; }'
    kernel = cp.RawModule(code=code).get_function("nothing")
    kernel((1,), (1,), (cp.ones(1, "float32"), np.int32(1), np.float32(2)))
    from host_cuda import HostCudaError

    for wrong in ((cp.ones(1), np.int64(1), np.float32(2)), (cp.ones(1), np.int32(1), 2.0)):
        with pytest.raises(HostCudaError):
            kernel((1,), (1,), wrong)
    with pytest.raises(FakeGpuError):
        kernel((1,), (1,), (cp.ones(1),))
    with pytest.raises(TypeError):
        kernel((1,), (1,), (np.ones(3), np.int32(1), np.float32(2)))


def test_late_streams_do_nothing_until_somebody_waits(fake_gpu):
    with fake_gpu(late=True) as machine:
        cp = machine.cupy
        side = cp.cuda.Stream(non_blocking=True)
        x = cp.zeros(3)
        with side:
            x += 1
        assert x.tolist() == [0, 0, 0], "somebody forgot to wait"
        cp.cuda.get_current_stream().wait_event(side.record())
        assert x.tolist() == [1, 1, 1]


def test_memory_is_counted(gpu):
    cp = gpu.cupy
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    x = cp.empty(1000, "float32")
    y = x[10:]
    assert pool.used_bytes() == before + 4096
    del x
    assert pool.used_bytes() == before + 4096
    del y
    assert pool.used_bytes() == before


def test_sixteen_bits_of_both_kinds_are_there(gpu):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    cp = gpu.cupy
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = cp.ones(3, dtype)
        assert (x + x).dtype == dtype
        assert np.isnan(cp.empty(3, dtype).get().astype("float32")).all()
