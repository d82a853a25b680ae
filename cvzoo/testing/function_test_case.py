"""Tests of a function of one's own: its values, and its derivatives against finite differences."""

import unittest
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.device import Device, get_device
from cvzoo.backends.dispatch import get_backend
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import BackendError

_BACKENDS = ("numpy", "onednn")
_DERIVATIVES: Mapping[str, Any] = {"atol": 1e-4, "rtol": 1e-3}


def backends_here() -> Iterator[str]:
    """The backends that this machine has, each set as config.backend while it is looked at."""
    for name in _BACKENDS:
        try:
            get_backend(name)
        except BackendError:
            continue
        with using_config("backend", name):
            yield name


class AbstractChainerTestCase(unittest.TestCase):
    """What Chainer's test cases have in common: options, and classes that are not tests themselves."""

    check_forward_options: Mapping[str, Any] = {"atol": 1e-4, "rtol": 1e-4}
    check_backward_options: Mapping[str, Any] = _DERIVATIVES
    skip_forward_test = False
    skip_backward_test = False
    bases: ClassVar[set[type]] = set()

    def skip_unless(self, wanted: bool) -> None:
        """Skip the test unless `wanted`, or of the class that others derive from."""
        if not wanted or type(self) in self.bases:
            self.skipTest("the class says so")

    def compare(self, found: Any, expected: Any) -> None:
        """Fail unless the arrays agree within `check_forward_options`."""
        assert isinstance(found, tuple), "forward returns a tuple of outputs"
        assert len(found) == len(expected), "as many outputs as forward_expected has"
        for y, wanted in zip(found, expected):
            assert y.shape == np.shape(wanted)
            np.testing.assert_allclose(np.asarray(as_array(y)), wanted, **self.check_forward_options)


class FunctionTestCase(AbstractChainerTestCase):
    """Tests of a function, on each backend of this machine: write these three methods, each of tuples of arrays.

    generate_inputs(): the inputs
    forward(inputs, device): the outputs of the function, Variables; inputs are Variables, device a Device
    forward_expected(inputs): what they shall be

    check_forward_options: atol and rtol of values
    check_backward_options, check_double_backward_options: those of `gradient_check`, which computes in float64
    skip_forward_test, skip_backward_test, skip_double_backward_test: what is not tested
    Where we differ: tests run on NumPy and oneDNN; a GPU is tested by the package itself.
    """

    check_double_backward_options: Mapping[str, Any] = _DERIVATIVES
    skip_double_backward_test = False

    def generate_inputs(self) -> tuple[np.ndarray, ...]:
        """The inputs of a test."""
        raise NotImplementedError

    def forward(self, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        """The outputs."""
        raise NotImplementedError

    def forward_expected(self, inputs: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
        """What the outputs shall be."""
        raise NotImplementedError

    def test_forward(self) -> None:
        """The outputs are as expected."""
        self.skip_unless(not self.skip_forward_test)
        for backend in backends_here():
            with self.subTest(backend=backend):
                inputs = self.generate_inputs()
                expected = self.forward_expected(tuple([x.copy() for x in inputs]))
                self.compare(self.forward(tuple([Variable(x) for x in inputs]), get_device("cpu")), expected)

    def test_backward(self) -> None:
        """The gradients agree with finite differences."""
        self.skip_unless(not self.skip_backward_test)
        for backend in backends_here():
            with self.subTest(backend=backend):
                check_backward(self._run, self.generate_inputs(), **self.check_backward_options)

    def test_double_backward(self) -> None:
        """The second derivatives agree with finite differences."""
        self.skip_unless(not self.skip_double_backward_test)
        for backend in backends_here():
            with self.subTest(backend=backend):
                check_double_backward(self._run, self.generate_inputs(), **self.check_double_backward_options)

    def _run(self, *inputs: Variable) -> tuple[Variable, ...]:
        return self.forward(inputs, get_device("cpu"))


AbstractChainerTestCase.bases |= {AbstractChainerTestCase, FunctionTestCase}
