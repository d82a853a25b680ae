"""Every function gives on a GPU what it gives on the processor: values, gradients, gradients of gradients; none waits.

The GPU is one that is made up, see tests/support/fake_gpu.
"""

import contextlib
import importlib.util
import pathlib
import shutil

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_device_array, to_numpy
from cvzoo.config.switches import no_backprop_mode, using_config

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")


def _tables(name):
    """A module of tests, loaded once more: its constants become a GPU's arrays."""
    file = pathlib.Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"{name}_on_a_gpu", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EVERY, AGREE = _tables("test_every_function"), _tables("test_backends_agree")
DRAWN = {"dropout", "gaussian", "stochastic_depth"}  # other numbers on a GPU: tests/functions/noise
WAITING = {}  # name: why it looks at numbers of the device
SMALL = {name: case for name, case in EVERY.CASES.items() if name not in DRAWN}
LARGE = {name: case for name, case in AGREE.CASES.items() if name.split()[0] not in DRAWN}


def _is_arrays(value):
    parts = value if isinstance(value, tuple) else (value,)
    return bool(parts) and all(isinstance(each, np.ndarray) for each in parts)


CONSTANTS = {
    module: {name: value for name, value in vars(module).items() if name.isupper() and _is_arrays(value)}
    for module in (EVERY, AGREE)
}


def _there(machine, value):
    return tuple([_there(machine, each) for each in value]) if isinstance(value, tuple) else machine.cupy.asarray(value)


@contextlib.contextmanager
def _constants_on(machine):
    for module, values in CONSTANTS.items():
        for name, value in values.items():
            setattr(module, name, _there(machine, value))
    try:
        yield
    finally:
        for module, values in CONSTANTS.items():
            for name, value in values.items():
                setattr(module, name, value)


def _first(ys):
    return ys if isinstance(ys, Variable) else ys[0]


def _weights(shape, dtype, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def _run(function, arrays, place):
    """Value, value in inference, gradients, gradients of the gradients."""
    with using_config("train", True):
        xs = [Variable(x) for x in arrays]
        y = _first(function(*xs))
        gxs = grad([y], xs, [place(_weights(y.shape, y.dtype, 3))], enable_double_backprop=True)
        known = [gx for gx in gxs if gx is not None and gx.creator is not None]
        weights = [place(_weights(gx.shape, gx.dtype, 4 + i)) for i, gx in enumerate(known)]
        twice = grad(known, xs, weights) if known else []
        with no_backprop_mode():
            inferred = _first(function(*arrays))
    found = {"value": y, "value without a graph": inferred}
    found |= {f"gradient {i}": gx for i, gx in enumerate(gxs)}
    found |= {f"second gradient {i}": gx for i, gx in enumerate(twice)}
    return {what: None if each is None else each.array for what, each in found.items()}


def _placed(machine, x):
    """x on the device, channels-last if it is 4-D, as arrays of networks are."""
    if x.ndim != 4:
        return machine.cupy.asarray(x)
    return machine.cupy.asarray(np.ascontiguousarray(x.transpose(0, 2, 3, 1))).transpose(0, 3, 1, 2)


def _compare(machine, name, function, arrays, tolerance):
    with using_config("backend", "numpy"):
        wanted = _run(function, arrays, lambda x: x)
    placed = [_placed(machine, x) for x in arrays]
    with _constants_on(machine):
        if name not in WAITING:  # what is copied there once and kept may be waited for
            for _ in range(2):
                _run(function, placed, machine.cupy.asarray)
        with contextlib.nullcontext() if name in WAITING else machine.no_sync(name):
            got = _run(function, placed, machine.cupy.asarray)
    assert got.keys() == wanted.keys()
    for what, expected in wanted.items():
        if expected is None:
            assert got[what] is None, what
            continue
        assert is_device_array(got[what]), what
        found = to_numpy(got[what])
        assert found.dtype == expected.dtype, what
        assert found.shape == expected.shape, what
        largest = max(float(np.abs(expected).max(initial=0)), 1e-30)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * largest, err_msg=what)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SMALL)
def test_values_and_gradients_are_the_processors(gpu, name, dtype):
    function, shapes = SMALL[name]
    arrays = [x.astype(dtype) for x in EVERY._inputs(shapes)]
    if name == "giou_loss" and dtype == "float32":
        pytest.skip("its formula here adds a constant of float64")
    # where samples lie in regions is computed in float32 on the processor, whatever the map is
    exact = 1e-6 if "roi_" in name else 1e-10
    _compare(gpu, name, function, arrays, 3e-5 if dtype == "float32" else exact)


@pytest.mark.parametrize("case", LARGE)
def test_larger_arrays_too(gpu, case):
    function, shapes = LARGE[case]
    _compare(gpu, case.split()[0], function, AGREE._arrays(shapes), 3e-5)


@pytest.mark.parametrize("name", AGREE.WITHOUT_GRADIENT)
def test_functions_without_a_gradient_too(gpu, name):
    (x,) = AGREE._arrays([AGREE.MAP])
    wanted = AGREE.WITHOUT_GRADIENT[name](x).array
    with _constants_on(gpu):
        x = _placed(gpu, x)
        for _ in range(2):
            AGREE.WITHOUT_GRADIENT[name](x)
        with gpu.no_sync(name):
            got = AGREE.WITHOUT_GRADIENT[name](x).array
    np.testing.assert_array_equal(to_numpy(got), wanted)


def test_no_function_is_left_out():
    assert set(SMALL) | DRAWN | set(AGREE.WITHOUT_GRADIENT) == set(F.__all__)
