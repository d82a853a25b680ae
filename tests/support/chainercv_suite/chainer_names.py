"""The part of `chainer` that ChainerCV's tests use, as modules made of cvzoo's names."""

import collections.abc
import contextlib
import functools
import itertools
import sys
import types
import unittest
import unittest.mock

import numpy as np
import pytest

import cvzoo
from chainercv_suite.renamed_arguments import BACKENDS, check_backward
from cvzoo.backends.arrays import to_numpy


class TupleDataset:
    """Examples made of the elements of several sequences."""

    def __init__(self, *datasets):
        self._datasets = datasets

    def __len__(self):
        return len(self._datasets[0])

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return tuple(dataset[index] for dataset in self._datasets)


class DatasetMixin:
    """Examples that `get_example` gives."""

    def __getitem__(self, index):
        return self.get_example(index)


def product(parameter):
    """All combinations of a dictionary of lists."""
    names = sorted(parameter)
    return [dict(zip(names, values)) for values in itertools.product(*(parameter[name] for name in names))]


def product_dict(*parameters):
    """All combinations of lists of dictionaries, joined."""
    return [functools.reduce(lambda a, b: {**a, **b}, each) for each in itertools.product(*parameters)]


def parameterize(*params):
    """A class for each dictionary, whose instances have its values as attributes."""

    def decorate(case):
        module = sys.modules[case.__module__]
        for i, values in enumerate(params):

            def __init__(self, *args, _values=values, **kwargs):
                case.__init__(self, *args, **kwargs)
                self.__dict__.update(_values)

            name = f"{case.__name__}_{i}"
            setattr(module, name, type(name, (case,), {"__init__": __init__, "__module__": case.__module__}))
        return None

    return decorate


def retry(times):
    """A test that may fail, but not each time."""

    def decorate(function):
        @functools.wraps(function)
        def tried(*args, **kwargs):
            for _ in range(times - 1):
                with contextlib.suppress(AssertionError):
                    return function(*args, **kwargs)
            return function(*args, **kwargs)

        return tried

    return decorate


def repeat(times):
    """A test that is run several times."""

    def decorate(function):
        @functools.wraps(function)
        def repeated(*args, **kwargs):
            for _ in range(times):
                function(*args, **kwargs)

        return repeated

    return decorate


def trainer_with_mock_updater(stop_trigger=(10, "iteration"), iter_per_epoch=10, extensions=None):
    """A trainer that counts."""
    updater = unittest.mock.Mock()
    updater.iteration = 0

    def update():
        updater.iteration += 1

    updater.update = update
    return types.SimpleNamespace(updater=updater, extensions=extensions)


def assert_allclose(x, y, atol=1e-5, rtol=1e-4, verbose=True):
    """Variables and arrays are near each other."""
    x, y = (to_numpy(each.array if isinstance(each, cvzoo.Variable) else each) for each in (x, y))
    np.testing.assert_allclose(x, y, atol=atol, rtol=rtol)


def module(name, **names):
    """A module of that name with those names, which `import` finds."""
    made = types.ModuleType(name)
    made.__path__ = []
    vars(made).update(names)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, made)
    return made


def skipped(why):
    """A decorator that skips."""
    return pytest.mark.skip(reason=why)


@contextlib.contextmanager
def using_config(name, value):
    """A block with a switch, ChainerCV's own included."""
    if name not in BACKENDS:
        with cvzoo.using_config(name, value):
            yield
        return
    before, BACKENDS[name] = BACKENDS[name], value
    try:
        yield
    finally:
        BACKENDS[name] = before


def no_download(*arguments):
    """Instead of fetching files from ChainerCV's server."""
    pytest.skip("needs a download")


def attr_names():
    """The marks of `chainer.testing.attr`."""
    gpu = skipped("needs a GPU")
    return {
        "gpu": gpu,
        "multi_gpu": lambda n: gpu,
        "slow": pytest.mark.slow,
        "mpi": skipped("needs MPI"),
        "pfnci_skip": lambda function: function,
    }


def install():
    """Make `import chainer` find it."""
    core = {
        name: getattr(cvzoo, name) for name in ("Chain", "ChainList", "Function", "Link", "Parameter", "Sequential")
    }
    core |= {name: getattr(cvzoo, name) for name in ("Variable", "grad", "no_backprop_mode")}
    core |= {name: getattr(cvzoo.reporting, name) for name in ("Reporter", "report", "report_scope")}
    module(
        "chainer",
        config=types.SimpleNamespace(train=True),
        as_variable=cvzoo.as_variable,
        using_config=using_config,
        **core,
    )
    for name in ("functions", "initializers", "iterators", "optimizers"):
        sys.modules[f"chainer.{name}"] = getattr(cvzoo, name)
        setattr(sys.modules["chainer"], name, getattr(cvzoo, name))
    module("chainer.gradient_check", check_backward=check_backward)
    sys.modules["chainer.initializers"].Zero = cvzoo.initializers.Zero
    module("chainer.links", **{name: getattr(cvzoo.links, name) for name in ("Convolution2D", "Linear")})
    module("chainer.function", Function=cvzoo.Function)
    module("chainer.datasets", TupleDataset=TupleDataset)
    module("chainer.dataset", DatasetMixin=DatasetMixin)
    module("chainer.utils", collections_abc=collections.abc, force_array=np.asarray)
    cuda = {"to_cpu": to_numpy, "get_array_module": lambda *arrays: np, "cupy": np, "available": False}
    module("chainer.backends")
    sys.modules["chainer"].cuda = module("chainer.backends.cuda", **cuda)
    sys.modules["chainer.cuda"] = sys.modules["chainer.backends.cuda"]
    module(
        "chainer.testing",
        parameterize=parameterize,
        product=product,
        product_dict=product_dict,
        run_module=lambda name, file: None,
        assert_allclose=assert_allclose,
        get_trainer_with_mock_updater=trainer_with_mock_updater,
    )
    module("chainer.testing.attr", **attr_names())
    module("chainer.testing.condition", retry=retry, repeat=repeat)
    module("chainermn", create_communicator=None)
    module("pycocotools")  # some tests ask whether it is there; cvzoo scores without it
    sys.modules["mock"] = unittest.mock
    module("six")
    module("six.moves", range=range, xrange=range, zip_longest=itertools.zip_longest)
    module("six.moves.urllib", request=types.SimpleNamespace(urlretrieve=no_download))
