"""Functions of floats of 16 bits give on a GPU what they give on the processor, in the same dtypes; none waits.

The GPU is one that is made up, see tests/support/fake_gpu.
"""

import pathlib
import shutil

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.backends.arrays import to_numpy
from cvzoo.config.switches import using_config

pytest.importorskip("ml_dtypes")
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")

_here = pathlib.Path(__file__)
BITS = module_at(_here.with_name("test_sixteen_bits.py"))
GPU = module_at(_here.with_name("test_on_a_gpu.py"))
GPU.CONSTANTS[BITS._every] = {
    name: value for name, value in vars(BITS._every).items() if name.isupper() and GPU._is_arrays(value)
}
NAMES = [name for name in BITS.CASES if name not in {*GPU.DRAWN, *BITS.ELSEWHERE, "giou_loss"}]


@pytest.mark.parametrize("dtype", BITS.MODES.values(), ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_the_processors(gpu, name, dtype):
    function, arrays, _ = BITS._inputs(name, dtype)
    with using_config("backend", "numpy"), np.errstate(all="ignore"):
        wanted = GPU._run(function, arrays, lambda x: x)
    placed = [GPU._placed(gpu, x) for x in arrays]
    with GPU._constants_on(gpu), np.errstate(all="ignore"):
        for _ in range(2):  # constants are copied, kernels are compiled
            GPU._run(function, placed, gpu.cupy.asarray)
        with gpu.no_sync(name):
            got = GPU._run(function, placed, gpu.cupy.asarray)
    for what, expected in wanted.items():
        if expected is None:
            assert got[what] is None, what
            continue
        found = to_numpy(got[what])
        assert found.dtype == expected.dtype, what
        BITS._near(found, expected, 8 if "gradient" in what else 2, dtype, what)


@pytest.mark.parametrize("mode", BITS.MODES)
@pytest.mark.parametrize("name", BITS.PRODUCTS)
def test_products_of_float32_are_made_in_16_bits(gpu, name, mode):
    random = np.random.default_rng(2)
    arrays = [random.normal(size=shape).astype("f") for shape in BITS.PRODUCTS[name]]
    function = getattr(BITS.F, name)
    with using_config("dtype", mode):
        with using_config("backend", "numpy"):
            wanted = GPU._run(function, arrays, lambda x: x)
        got = GPU._run(function, [GPU._placed(gpu, x) for x in arrays], gpu.cupy.asarray)
    for what, expected in wanted.items():
        if expected is None:
            assert got[what] is None, what
            continue
        found = to_numpy(got[what])
        assert found.dtype == expected.dtype, what
        BITS._near(found, expected, 8, BITS.MODES[mode], what)
