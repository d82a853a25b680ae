"""Sums of what indices name: as NumPy's, in one order, and beside what the index does not reach."""

import shutil

import numpy as np
import pytest
from host_cuda import thread_order

from cvzoo.backends.cuda import scatter

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
RANDOM = np.random.default_rng(0)
IDS = RANDOM.integers(-7, 7, size=70)
GRID = RANDOM.integers(0, 5, size=(4, 6))
INDICES = {
    "rows": ((7, 5), (IDS,)),
    "wide rows": ((7, 300), (IDS,)),
    "rows and all of the rest": ((7, 2, 3), (IDS, Ellipsis)),
    "columns": ((3, 7), (slice(None), IDS)),
    "columns of matrices": ((2, 7, 4), (slice(None), IDS)),
    "a grid of rows": ((5, 3), (GRID,)),
    "places": ((7, 5), (IDS, RANDOM.integers(0, 5, size=70))),
    "places of two axes": ((7, 3, 5), (IDS, slice(None), RANDOM.integers(0, 5, size=70))),
    "a number and rows": ((2, 7), (1, IDS)),
    "a part": ((3, 7, 6), (slice(1, None), IDS, slice(None, None, 2))),
    "a mask": ((4, 5), (RANDOM.random((4, 5)) > 0.5,)),
    "a mask of rows": ((9, 5), (RANDOM.random(9) > 0.5,)),
    "nothing": ((4, 5), (np.zeros(0, int),)),
}


@pytest.fixture(scope="module")
def gpu():
    from fake_gpu.install import fake_gpu

    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("case", INDICES)
def test_sums_are_numpys(gpu, case, dtype):
    dtype = pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype
    shape, index = INDICES[case]
    out = RANDOM.normal(size=shape).astype(dtype)
    values = RANDOM.normal(size=out[index].shape).astype(dtype)
    wide = "float64" if dtype == "float64" else "float32"
    wanted = out.astype(wide)
    np.add.at(wanted, index, values.astype(wide))
    for there in (False, True):  # indices of the processor, and of the device
        placed = tuple(gpu.cupy.asarray(p) if there and isinstance(p, np.ndarray) else p for p in index)
        bits = set()
        for order in ("forward", "reverse", "shuffled"):
            got = gpu.cupy.asarray(out)
            with thread_order(order):
                scatter.add_at(got, placed, gpu.cupy.asarray(values))
            bits.add(got.get().tobytes())
            np.testing.assert_array_equal(got.get(), wanted.astype(dtype))
        assert len(bits) == 1


def test_an_output_with_gaps_is_filled_in_its_place(gpu):
    lying = gpu.cupy.zeros((2, 4, 5, 3), "float32")
    out = lying.transpose(0, 3, 1, 2)
    values = RANDOM.normal(size=(6, 3, 4, 5)).astype("float32")
    index = (np.array([0, 1, 1, 0, -1, 1]),)
    wanted = np.zeros(out.shape, "float32")
    np.add.at(wanted, index, values)
    scatter.add_at(out, index, gpu.cupy.asarray(values))
    np.testing.assert_array_equal(lying.get().transpose(0, 3, 1, 2), wanted)


def test_indices_of_the_processor_that_come_again_stay_on_the_device(gpu):
    out = gpu.cupy.zeros((7, 5), "float32")
    values = gpu.cupy.ones((70, 5), "float32")
    with gpu.no_sync():  # a batch's own indices are copied, and not waited for
        scatter.add_at(out, (np.roll(IDS, 1),), values)
    for _ in range(2):
        scatter.add_at(out, (IDS,), values)
    gpu.recorder.clear()
    with gpu.no_sync():
        scatter.add_at(out, (IDS.copy(),), values)
    assert not gpu.recorder.of("h2d", "d2h", "sync")


def test_very_many_sums_are_cupys(gpu, monkeypatch):
    monkeypatch.setattr(scatter, "_MOST_COMPARISONS", 3)
    out = gpu.cupy.zeros((7, 5), "float32")
    gpu.recorder.clear()
    scatter.add_at(out, (IDS,), gpu.cupy.ones((70, 5), "float32"))
    assert "scatter_add" in gpu.recorder.names()
    np.testing.assert_array_equal(out.get()[:, 0], np.bincount(IDS % 7, minlength=7))


def test_rows_that_name_no_place_are_left_out(gpu):
    out = gpu.cupy.ones((3, 2), "float32")
    ids = gpu.cupy.asarray(np.array([0, 3, 7, -4, 2]))
    scatter.add_rows(out, ids, gpu.cupy.ones((5, 2), "float32"), before=1, n_row=3)
    assert out.get()[:, 0].tolist() == [2, 1, 2]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pixels_go_to_their_planes_and_come_back(gpu, dtype):
    b, n, c, places = 2, 40, 5, 200
    where = RANDOM.integers(-3, places + 3, size=(b, n, c))
    x = RANDOM.normal(size=(b, n, c)).astype(dtype)
    inside = (where >= 0) & (where < places)
    wanted = np.zeros((b, places, c), dtype)
    clipped = np.where(inside, where, 0)
    np.add.at(wanted, (np.arange(b)[:, None, None], clipped, np.arange(c)), np.where(inside, x, 0))
    for order in ("forward", "reverse", "shuffled"):
        out = gpu.cupy.zeros((b, places, c), dtype)
        with thread_order(order):
            scatter.add_pixels(out, gpu.cupy.asarray(where), gpu.cupy.asarray(x))
            back = scatter.take_pixels(out, gpu.cupy.asarray(where))
        np.testing.assert_array_equal(out.get(), wanted)
        np.testing.assert_array_equal(back.get(), np.where(inside, np.take_along_axis(wanted, clipped, 1), 0))


def test_rows_may_be_wider_than_a_grid_is_high(gpu, monkeypatch):
    monkeypatch.setattr(scatter, "_MOST_ROWS", 2)
    rows = RANDOM.standard_normal((2, 6, 700)).astype("float32")
    ids = np.array([0, 2, 2, -1, 7, 0])
    out = gpu.cupy.zeros((2, 3, 700), np.float32)
    scatter.add_rows(out, gpu.cupy.array(ids), gpu.cupy.array(rows), before=2, n_row=3)
    want = np.zeros((2, 3, 700), np.float32)
    np.add.at(want, (slice(None), ids[[0, 1, 2, 3, 5]]), rows[:, [0, 1, 2, 3, 5]])
    np.testing.assert_array_equal(out.get(), want)
