"""Products of matrices of a GPU against NumPy's, on a made-up GPU whose cuBLAS holds to the rules of the real one."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.config.switches import using_config

REFERENCE, GPU = numpy_backend, cupy_backend
BF16 = np.dtype(ml_dtypes.bfloat16)
TOLERANCES = {"float32": 1e-5, "float64": 1e-13, "float16": 2e-3, "bfloat16": 1.6e-2}


@pytest.fixture(autouse=True)
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def assert_agree(got, reference):
    assert got.shape == reference.shape
    assert got.dtype == reference.dtype
    assert got.flags.c_contiguous
    if reference.size:
        wide = reference.astype(np.float64)
        tolerance = TOLERANCES[reference.dtype.name] * max(np.abs(wide).max(), 1e-30)
        np.testing.assert_allclose(got.get().astype(np.float64), wide, rtol=0, atol=tolerance)


MATRICES = [
    ((3, 4), (4, 5)),
    ((70, 64), (64, 33)),
    ((1, 30), (30, 20)),
    ((20, 1), (1, 30)),
    ((5, 7), (7, 1)),
    ((2, 70, 64), (2, 64, 33)),
    ((5, 1, 40, 30), (1, 6, 30, 40)),  # leading axes broadcast
    ((40, 60), (3, 60, 50)),
    ((3, 40, 60), (60, 50)),
    ((2, 3, 4, 6), (6, 5)),
    ((2, 3, 4, 6), (1, 1, 6, 5)),
    ((0, 40), (40, 30)),
    ((30, 0), (0, 20)),
    ((4, 30, 0), (0, 20)),
    ((0, 3, 4), (0, 4, 5)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BF16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("shapes", MATRICES, ids=str)
def test_products_of_matrices_agree(shapes, dtype):
    a, b = (draw(*shape, dtype=dtype) for shape in shapes)
    expected = REFERENCE.matmul(a, b)
    da, db = GPU.asarray(a), GPU.asarray(b)
    xp = GPU.xp
    assert_agree(GPU.matmul(da, db), expected)
    turned_a, turned_b = (xp.ascontiguousarray(m.swapaxes(-1, -2)).swapaxes(-1, -2) for m in (da, db))
    assert_agree(GPU.matmul(turned_a, db), expected)
    assert_agree(GPU.matmul(da, turned_b), expected)
    assert_agree(GPU.matmul(turned_a, turned_b), expected)
    assert_agree(GPU.matmul(da[..., ::-1, :], db), np.ascontiguousarray(expected[..., ::-1, :]))
    assert_agree(GPU.matmul(xp.concatenate([da, da], axis=-1)[..., : a.shape[-1]], db), expected)
    for add in (draw(*expected.shape, seed=1, dtype=dtype), draw(*expected.shape[-2:], seed=2, dtype=dtype)):
        wanted = REFERENCE.matmul(a, b, scale=0.3, add=add)
        assert_agree(GPU.matmul(da, db, scale=0.3, add=GPU.asarray(add)), wanted)


def test_heads_of_attention_are_read_as_they_lie(machine):
    x = GPU.asarray(draw(2, 5, 3 * 4 * 8))
    q, k, v = (part[0] for part in np.split(x.get().reshape(2, 5, 3, 4, 8).transpose(2, 0, 3, 1, 4), 3))
    parts = x.reshape(2, 5, 3, 4, 8).transpose(2, 0, 3, 1, 4)
    machine.recorder.clear()
    scores = GPU.matmul(parts[0][:1], parts[1][:1].swapaxes(-1, -2))
    assert machine.recorder.names() == ["cublasGemmStridedBatchedEx_64"]
    assert_agree(scores, q[:1] @ k[:1].swapaxes(-1, -2))
    assert_agree(GPU.matmul(GPU.matmul(parts[0], parts[1].swapaxes(-1, -2)), parts[2]), q @ k.swapaxes(-1, -2) @ v)


def test_whole_numbers_are_multiplied_exactly():
    a, b = np.arange(12).reshape(3, 4), np.arange(20).reshape(4, 5) - 7
    np.testing.assert_array_equal(GPU.matmul(GPU.asarray(a), GPU.asarray(b)).get(), a @ b)


@settings(max_examples=60)
@given(
    m=st.integers(1, 5),
    n=st.integers(1, 5),
    k=st.integers(1, 5),
    turns=st.tuples(st.booleans(), st.booleans()),
    steps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    lead=st.sampled_from([(), (1,), (3,), (2, 3)]),
)
def test_any_view_of_a_matrix_is_multiplied_right(m, n, k, turns, steps, lead):
    a = draw(*lead, *((k, m) if turns[0] else (m, k)))
    b = draw(*lead, *((n, k) if turns[1] else (k, n)))
    big_a, big_b = (np.repeat(x, step, axis=-1) for x, step in zip((a, b), steps))
    da, db = (GPU.asarray(x)[..., ::step] for x, step in zip((big_a, big_b), steps))
    if turns[0]:
        a, da = a.swapaxes(-1, -2), da.swapaxes(-1, -2)
    if turns[1]:
        b, db = b.swapaxes(-1, -2), db.swapaxes(-1, -2)
    assert_agree(GPU.matmul(da, db), np.ascontiguousarray(a @ b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BF16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("n", [0, 1, 3, 64])
@pytest.mark.parametrize("has_bias", [False, True])
def test_linear_layers_agree(n, has_bias, dtype):
    x, w = draw(n, 30, dtype=dtype), draw(13, 30, dtype=dtype)
    b = draw(13, dtype=dtype) if has_bias else None
    expected = REFERENCE.linear(x, w, b)
    dx, dw = GPU.asarray(x), GPU.asarray(w)
    db = None if b is None else GPU.asarray(b)
    assert_agree(GPU.linear(dx, dw, db), expected)
    turned_x, turned_w = (GPU.xp.ascontiguousarray(each.T).T for each in (dx, dw))
    assert_agree(GPU.linear(turned_x, turned_w, db), expected)


def test_a_bias_is_added_by_the_product_itself(machine):
    x, w, b = (GPU.asarray(draw(*shape)) for shape in ((4, 30), (13, 30), (13,)))
    GPU.linear(x, w, b)
    machine.recorder.clear()
    machine.cublas.calls.clear()
    GPU.linear(x, w, b)
    assert machine.recorder.names() == ["cublasLtMatmul"]
    assert not [call for call in machine.cublas.calls if call[0] == "heuristic"]  # asked once


def test_without_cublas_lt_a_bias_is_added_behind_the_product(machine):
    x, w, b = draw(4, 30), draw(13, 30), draw(13)
    machine.cublas.refuses.add("cublasLtMatmulAlgoGetHeuristic")
    assert_agree(GPU.linear(*map(GPU.asarray, (x, w, b))), REFERENCE.linear(x, w, b))
    assert machine.cublas.calls[-1][0] == "cublasGemmEx_64"


@pytest.mark.parametrize("dtype", ["float32", "tf32"])
def test_only_tf32_cuts_bits(machine, dtype):
    a, b = GPU.asarray(draw(4, 30)), GPU.asarray(draw(30, 13))
    with using_config("dtype", dtype):
        GPU.matmul(a, b)
    assert machine.cublas.calls[-1][-1] == (77 if dtype == "tf32" else 68)
