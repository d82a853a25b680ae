"""Every function on arrays of gpu:1 while gpu:0 is the current one."""

import pathlib
import shutil

import numpy as np
import pytest
from fake_gpu.install import fake_gpu
from neighbour import module_at

from cvzoo.backends import device_of, get_device
from cvzoo.backends.arrays import is_device_array

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
HERE = module_at(pathlib.Path(__file__).with_name("test_on_a_gpu.py"))


@pytest.fixture(scope="module")
def second():
    with fake_gpu(devices=2):
        yield get_device("gpu:1")


class Second:
    """What `_constants_on` wants of a machine: a CuPy that puts arrays on the second device."""

    def __init__(self, device):
        self.cupy = self
        self.asarray = device.asarray


# their cases compute with arrays before they call the function, on the current device
THEMSELVES = {"binary_cross_entropy", "giou_loss", "relu6", "where"}


@pytest.mark.parametrize("name", sorted(set(HERE.SMALL) - THEMSELVES))
def test_it_runs_where_its_arrays_are(second, name):
    function, shapes = HERE.SMALL[name]
    arrays = [second.asarray(x.astype("float32")) for x in HERE.EVERY._inputs(shapes)]
    with HERE._constants_on(Second(second)):
        found = HERE._run(function, arrays, second.asarray)
    for what, array in found.items():
        if array is not None and is_device_array(array):
            assert device_of(array).name == "gpu:1", what
    assert np.isfinite(second.to_numpy(found["value"])).all()
