"""Test cases for custom functions: values, and derivatives against finite differences."""

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
from cvzoo.typing.aliases import Array

_BACKENDS = ("numpy", "onednn")
_DERIVATIVES: Mapping[str, Any] = {"atol": 1e-4, "rtol": 1e-3}


def backends_here() -> Iterator[str]:
    """The backends of this machine; config.backend is set to each one in turn."""
    for name in _BACKENDS:
        try:
            get_backend(name)
        except BackendError:
            continue
        with using_config("backend", name):
            yield name


class AbstractChainerTestCase(unittest.TestCase):
    """Base class of Chainer's test cases: options, and which classes are not tests themselves."""

    check_forward_options: Mapping[str, Any] = {"atol": 1e-4, "rtol": 1e-4}
    check_backward_options: Mapping[str, Any] = _DERIVATIVES
    skip_forward_test = False
    skip_backward_test = False
    bases: ClassVar[set[type]] = set()

    def skip_unless(self, enabled: bool) -> None:
        """Skip the test if it is not enabled, or if the class is a base class of tests."""
        if not enabled or type(self) in self.bases:
            self.skipTest("disabled by an attribute of the class, or a base class")

    def compare(self, actual: tuple[Variable, ...], expected: tuple[Array, ...]) -> None:
        """Fail unless the arrays agree within `check_forward_options`."""
        assert isinstance(actual, tuple), "forward must return a tuple of outputs"
        assert len(actual) == len(expected), "forward and forward_expected must return equally many outputs"
        for y, expected_y in zip(actual, expected):
            assert y.shape == np.shape(expected_y)
            np.testing.assert_allclose(np.asarray(as_array(y)), expected_y, **self.check_forward_options)


class FunctionTestCase(AbstractChainerTestCase):
    """Test case for a function on each backend of this machine: implement three methods, which return tuples of arrays.

    generate_inputs(): the inputs
    forward(inputs, device): the outputs of the function, Variables; inputs are Variables, device a Device
    forward_expected(inputs): the expected outputs

    check_forward_options: atol and rtol of outputs
    check_backward_options, check_double_backward_options: options of `gradient_check`, which computes in float64
    skip_forward_test, skip_backward_test, skip_double_backward_test: whether to skip that test
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

    def forward_expected(self, inputs: tuple[np.ndarray, ...]) -> tuple[Array, ...]:
        """The expected outputs."""
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
