"""The stand-in has only what CuPy has, called as CuPy calls it."""

import importlib
import importlib.util
import inspect
import sys

import pytest
from fake_gpu import functions
from fake_gpu.array import CudaArray
from fake_gpu.install import VERSION, modules
from fake_gpu.ufuncs import Ufunc


@pytest.fixture(scope="module")
def real():
    """CuPy itself, where it is installed; it need not find a GPU."""
    if importlib.util.find_spec("cupy") is None:
        pytest.skip("CuPy is not installed")
    import cupy
    import cupyx  # noqa: F401

    return cupy


def names_of(module):
    return [name for name in vars(module) if not name.startswith("_")]


def test_every_name_is_one_of_cupys(real):
    absent = []
    for path, module in modules().items():
        theirs = importlib.import_module(path)
        absent += [f"{path}.{name}" for name in names_of(module) if not hasattr(theirs, name)]
    assert absent == [], f"CuPy {real.__version__} has none of these (the stand-in follows {VERSION})"


def test_every_method_of_arrays_is_one_of_cupys(real):
    absent = [name for name in dir(CudaArray) if not name.startswith("_") and not hasattr(real.ndarray, name)]
    assert absent == []


def test_operators_of_arrays_are_cupys(real):
    ours = {name for name in vars(CudaArray) if name.startswith("__")} - {"__doc__", "__module__", "__dict__"}
    own = {"__weakref__", "__annotations__", "__static_attributes__", "__firstlineno__"}
    absent = [name for name in ours - own if not hasattr(real.ndarray, name)]
    assert absent == []


def test_arguments_are_called_and_ordered_as_cupys(real):
    wrong = []
    for name, function in functions.FUNCTIONS.items():
        if isinstance(function, Ufunc):
            continue
        try:
            theirs = inspect.signature(getattr(real, name))
        except (TypeError, ValueError):
            continue
        ours = list(inspect.signature(function).parameters.values())
        if any(each.kind is each.VAR_POSITIONAL for each in (*ours, *theirs.parameters.values())):
            continue
        their = list(theirs.parameters)
        positional = [each.name for each in ours if each.kind is each.POSITIONAL_OR_KEYWORD]
        if positional != their[: len(positional)] or not {each.name for each in ours} <= {*their, "kwargs"}:
            wrong.append((name, [each.name for each in ours], their))
    assert wrong == []


def test_methods_take_what_cupys_take(real):
    wrong = []
    for name in ("get", "set", "astype", "copy", "clip", "sum", "argmax", "reshape", "view", "take", "var"):
        try:
            theirs = list(inspect.signature(getattr(real.ndarray, name)).parameters)
        except (TypeError, ValueError):
            continue
        ours = list(inspect.signature(getattr(CudaArray, name)).parameters)
        if theirs[1:] != ours[1 : len(theirs)]:
            wrong.append((name, ours, theirs))
    assert wrong == []


def test_the_real_one_is_back_afterwards(real, fake_gpu):
    with fake_gpu():
        assert sys.modules["cupy"] is not real
    assert sys.modules["cupy"] is real
