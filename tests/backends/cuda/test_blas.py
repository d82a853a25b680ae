"""cuBLAS's handles, streams and workspaces, and the library itself where it is installed."""

import ctypes
import gc
import importlib.util
import threading

import numpy as np
import pytest

from cvzoo.backends.cuda import blas, blas_library
from cvzoo.backends.cuda.blas_lt import HeuristicResult, gemm_with_bias
from cvzoo.errors.exceptions import BackendError


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu(devices=2) as machine:
        yield machine


def matrices(cupy, dtype="float32"):
    generator = np.random.default_rng(0)
    return [cupy.asarray(generator.standard_normal(shape).astype(dtype)) for shape in ((4, 6), (6, 5))]


def product(cupy, **settings):
    a, b = matrices(cupy)
    out = cupy.empty((4, 5), np.float32)
    return blas.gemm(a, b, out, **settings).get(), a.get() @ b.get()


def test_a_thread_has_one_handle_a_device(machine):
    for _ in range(3):
        got, expected = product(machine.cupy)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert len(machine.cublas.handles) == 1
    with machine.cupy.cuda.Device(1):
        product(machine.cupy)
    assert len(machine.cublas.handles) == 2
    seen = []
    thread = threading.Thread(target=lambda: (product(machine.cupy), seen.append(len(machine.cublas.handles))))
    thread.start()
    thread.join()
    assert seen == [3]
    gc.collect()
    assert len(machine.cublas.handles) == 2  # the thread's is given back


def test_each_stream_has_a_workspace_of_its_own_that_is_set_whenever_the_stream_changes(machine):
    stream = machine.cupy.cuda.Stream(non_blocking=True)
    product(machine.cupy)
    machine.cublas.calls.clear()
    machine.recorder.clear()
    for _ in range(2):
        with stream:
            product(machine.cupy)
        product(machine.cupy)
    names = [call[0] for call in machine.cublas.calls if call[0] in ("stream", "workspace")]
    assert names == ["stream", "workspace"] * 4
    assert [entry.bytes for entry in machine.recorder.of("alloc") if entry.bytes == blas.WORKSPACE] == [blas.WORKSPACE]
    assert blas.current_handle().workspace(0).ptr != blas.current_handle().workspace(stream.ptr).ptr


def test_products_are_captured_with_the_workspace_that_was_there_before(machine):
    cupy = machine.cupy
    a, b = matrices(cupy)
    out = cupy.empty((4, 5), np.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        blas.gemm(a, b, out)
        machine.recorder.clear()
        stream.begin_capture()
        blas.gemm(a, b, out, alpha=2.0)
        graph = stream.end_capture()
    assert not machine.recorder.of("alloc")
    a *= 3
    graph.launch(stream)
    np.testing.assert_allclose(out.get(), 2 * a.get() @ b.get(), rtol=1e-5, atol=1e-5)


def test_heuristics_are_not_asked_while_a_stream_captures(machine):
    cupy = machine.cupy
    a, b = matrices(cupy)
    bias, out = cupy.ones(5, np.float32), cupy.empty((4, 5), np.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        blas.gemm(a, b, out)
        stream.begin_capture()
        assert not gemm_with_bias(a, b, bias, out)
        stream.end_capture()
        assert gemm_with_bias(a, b, bias, out)
        stream.begin_capture()
        assert gemm_with_bias(a, b, bias, out)
        stream.end_capture()


@pytest.mark.parametrize("activation", [None, "relu", "gelu_tanh"])
def test_a_product_ends_with_a_bias_and_an_activation(machine, activation):
    cupy = machine.cupy
    a, b = matrices(cupy)
    bias, out = cupy.arange(5, dtype=np.float32) - 2, cupy.empty((4, 5), np.float32)
    assert gemm_with_bias(a, b, bias, out, activation=activation)
    y = a.get() @ b.get() + bias.get()
    if activation == "relu":
        y = np.maximum(y, 0)
    if activation == "gelu_tanh":
        y = y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3))) / 2
    np.testing.assert_allclose(out.get(), y, rtol=1e-5, atol=1e-5)


def test_what_is_there_is_not_read_unless_it_is_kept(machine):
    cupy = machine.cupy
    a, b = matrices(cupy)
    out = cupy.full((4, 5), np.nan, np.float32)
    expected = a.get() @ b.get()
    np.testing.assert_allclose(blas.gemm(a, b, out).get(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(blas.gemm(a, b, out, beta=2.0).get(), 3 * expected, rtol=1e-5, atol=1e-5)
    empty = cupy.empty((4, 0), np.float32), cupy.empty((0, 5), np.float32)
    assert not blas.gemm(*empty, cupy.full((4, 5), np.nan, np.float32)).get().any()


def test_a_failing_call_is_told_in_words(machine):
    machine.cublas.refuses.add("cublasGemmEx_64")
    with pytest.raises(BackendError, match=r"\(4, 6\) and \(6, 5\) float32 failed: not supported \(15\)"):
        product(machine.cupy)


def test_without_the_library_cupy_multiplies(machine, monkeypatch):
    def nothing(name, major=None):
        raise OSError("no such file")

    monkeypatch.setattr(blas_library, "open_library", nothing)
    blas_library.forget()
    got, expected = product(machine.cupy, alpha=0.5)
    np.testing.assert_allclose(got, expected / 2, rtol=1e-5, atol=1e-6)
    assert not machine.cublas.calls


@pytest.mark.parametrize("text", ["piiqqqppiqpiqppiqii"])
def test_signatures_have_as_many_letters_as_the_functions_arguments(text):
    assert blas_library.SIGNATURES["cublasGemmEx_64"] == text
    assert ctypes.sizeof(HeuristicResult) == 96


@pytest.mark.skipif(importlib.util.find_spec("nvidia") is None, reason="NVIDIA's libraries are not installed")
def test_the_real_libraries_have_all_functions_that_are_called():
    blas_library.forget()
    try:
        if blas_library.why_no_cublas() is not None:
            pytest.skip(blas_library.why_no_cublas())
        assert blas_library.has_cublas_lt()
    finally:
        blas_library.forget()
