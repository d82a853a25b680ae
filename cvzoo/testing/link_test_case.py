"""Test cases for custom links: outputs, gradients, and initialization of parameters."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array
from cvzoo.backends.device import Device, get_device
from cvzoo.config.switches import using_config
from cvzoo.links.link import Link
from cvzoo.testing.function_test_case import AbstractChainerTestCase, backends_here
from cvzoo.typing.aliases import Array


class LinkTestCase(AbstractChainerTestCase):
    """Test case for a link on each backend of this machine: set `param_names` and implement these methods.

    param_names: names of the parameters, which are attributes of the link
    generate_params(): an initial value or an initializer for each parameter
    create_link(initializers): the link with these initializers
    generate_inputs(): the inputs, a tuple of arrays
    forward(link, inputs, device): the outputs, a tuple of Variables; by default, the link is called
    forward_expected(link, inputs): the expected outputs, a tuple of arrays

    check_forward_options, check_backward_options, skip_forward_test, skip_backward_test: as in `FunctionTestCase`
    """

    param_names: Sequence[str] = ()

    def generate_params(self) -> Sequence[Any]:
        """Initial values or initializers of the parameters."""
        return ()

    def create_link(self, initializers: Sequence[Any]) -> Link:
        """The link."""
        raise NotImplementedError

    def generate_inputs(self) -> tuple[np.ndarray, ...]:
        """The inputs of a test."""
        raise NotImplementedError

    def forward(self, link: Link, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        """The outputs."""
        outputs = link(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def forward_expected(self, link: Link, inputs: tuple[np.ndarray, ...]) -> tuple[Array, ...]:
        """The expected outputs."""
        raise NotImplementedError

    def test_forward(self) -> None:
        """The outputs are as expected."""
        self.skip_unless(not self.skip_forward_test)
        for backend in backends_here():
            with self.subTest(backend=backend):
                link, inputs = self.create_link(self.generate_params()), self.generate_inputs()
                outputs = self.forward(link, tuple([Variable(x) for x in inputs]), get_device("cpu"))
                self.compare(outputs, self.forward_expected(link, inputs))

    def test_backward(self) -> None:
        """The gradients of inputs and parameters agree with finite differences."""
        self.skip_unless(not self.skip_backward_test)
        for backend in backends_here():
            with self.subTest(backend=backend), using_config("dtype", "float64"):
                values = [each.astype("float64") if is_array(each) else each for each in self.generate_params()]
                link, inputs = self.create_link(values), self.generate_inputs()
                wide = [x.astype("float64") if x.dtype.kind == "f" else x for x in inputs]
                self.forward(link, tuple([Variable(x) for x in wide]), get_device("cpu"))  # infers missing shapes
                params = [getattr(link, name) for name in self.param_names]

                def run(*xs: Variable, link: Link = link) -> tuple[Variable, ...]:
                    return self.forward(link, xs, get_device("cpu"))

                check_backward(run, wide, params=params, **self.check_backward_options)


class InitializerArgument(NamedTuple):
    """An argument of a link's constructor for a parameter, and the initializer that it should result in."""

    argument_value: Any
    expected_initializer: Any


class LinkInitializersTestCase(AbstractChainerTestCase):
    """Test case for the initialization of a link's parameters: set `param_names` and implement these methods.

    param_names: names of the parameters, which are attributes of the link
    get_initializers(): for each parameter the arguments to test: arrays, numbers, initializers or
        `InitializerArgument`s
    create_link(initializers): the link with one argument per parameter
    generate_inputs(): inputs from which the link infers shapes, a tuple of arrays
    forward(link, inputs, device): the outputs; by default, the link is called

    If a link's default initializer is random, only the shape is tested.
    """

    param_names: Sequence[str] = ()

    def get_initializers(self) -> Sequence[Sequence[Any]]:
        """For each parameter the arguments to test."""
        raise NotImplementedError

    def create_link(self, initializers: Sequence[Any]) -> Link:
        """The link."""
        raise NotImplementedError

    def generate_inputs(self) -> tuple[np.ndarray, ...]:
        """The inputs of a test."""
        raise NotImplementedError

    def forward(self, link: Link, inputs: tuple[Variable, ...], device: Device) -> Variable | tuple[Variable, ...]:
        """The outputs."""
        return link(*inputs)

    def test_initializers(self) -> None:
        """Each parameter is initialized as its argument specifies."""
        self.skip_unless(True)
        candidates = self.get_initializers()
        for i, (name, choices) in enumerate(zip(self.param_names, candidates)):
            for choice in choices:
                with self.subTest(parameter=name, initializer=repr(choice)):
                    self._test_one(i, name, choice, [each[0] for each in candidates])

    def _test_one(self, i: int, name: str, choice: Any, others: Sequence[Any]) -> None:
        argument, expected = choice if isinstance(choice, InitializerArgument) else (choice, choice)
        given = [each.argument_value if isinstance(each, InitializerArgument) else each for each in others]
        drawn: list[np.ndarray] = []

        def record(array: np.ndarray) -> None:
            argument(array)
            drawn.append(array.copy())

        given[i] = record if callable(argument) else argument
        link = self.create_link(given)
        self.forward(link, tuple([Variable(x) for x in self.generate_inputs()]), get_device("cpu"))
        actual = getattr(link, name).array
        if drawn:
            wanted = drawn[-1]
        elif callable(expected):
            wanted, again = np.empty_like(actual), np.empty_like(actual)
            expected(wanted)
            expected(again)
            if not np.array_equal(wanted, again):  # random: the expected values are unknown
                return
        else:
            wanted = np.broadcast_to(np.asarray(expected, actual.dtype), actual.shape)
        np.testing.assert_allclose(actual, wanted, rtol=1e-6)


AbstractChainerTestCase.bases |= {LinkTestCase, LinkInitializersTestCase}
