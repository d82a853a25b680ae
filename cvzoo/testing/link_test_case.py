"""Tests of a link of one's own: its values, its gradients, and what its parameters start from."""

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


class LinkTestCase(AbstractChainerTestCase):
    """Tests of a link, on each backend of this machine: name the parameters and write these methods.

    param_names: the parameters, as attributes of the link
    generate_params(): what they start from, an array or an initializer each
    create_link(initializers): the link with them
    generate_inputs(): the inputs, a tuple of arrays
    forward(link, inputs, device): the outputs, a tuple of Variables; by default those of calling the link
    forward_expected(link, inputs): what they shall be, a tuple of arrays

    check_forward_options, check_backward_options, skip_forward_test, skip_backward_test: as of `FunctionTestCase`
    """

    param_names: Sequence[str] = ()

    def generate_params(self) -> Sequence[Any]:
        """What the parameters start from."""
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

    def forward_expected(self, link: Link, inputs: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
        """What the outputs shall be."""
        raise NotImplementedError

    def test_forward(self) -> None:
        """The outputs are as expected."""
        self.skip_unless(not self.skip_forward_test)
        for backend in backends_here():
            with self.subTest(backend=backend):
                link, inputs = self.create_link(self.generate_params()), self.generate_inputs()
                found = self.forward(link, tuple([Variable(x) for x in inputs]), get_device("cpu"))
                self.compare(found, self.forward_expected(link, inputs))

    def test_backward(self) -> None:
        """The gradients of inputs and parameters agree with finite differences."""
        self.skip_unless(not self.skip_backward_test)
        for backend in backends_here():
            with self.subTest(backend=backend), using_config("dtype", "float64"):
                starts = [each.astype("float64") if is_array(each) else each for each in self.generate_params()]
                link, inputs = self.create_link(starts), self.generate_inputs()
                wide = [x.astype("float64") if x.dtype.kind == "f" else x for x in inputs]
                self.forward(link, tuple([Variable(x) for x in wide]), get_device("cpu"))  # lazy shapes are known then
                params = [getattr(link, name) for name in self.param_names]

                def run(*xs: Variable, link: Link = link) -> tuple[Variable, ...]:
                    return self.forward(link, xs, get_device("cpu"))

                check_backward(run, wide, params=params, **self.check_backward_options)


class InitializerArgument(NamedTuple):
    """What a link's constructor is given for a parameter, and the initializer that is to be used then."""

    argument_value: Any
    expected_initializer: Any


class LinkInitializersTestCase(AbstractChainerTestCase):
    """Tests of what a link's parameters start from: name them and write these methods.

    param_names: the parameters, as attributes of the link
    get_initializers(): of each parameter, the arguments to be tried: arrays, numbers, initializers or
        `InitializerArgument`s
    create_link(initializers): the link with one of each
    generate_inputs(): inputs that tell the link its shapes, a tuple of arrays
    forward(link, inputs, device): the outputs; by default those of calling the link

    Of an initializer that draws, and that the link chooses by itself, only the shape can be tested.
    """

    param_names: Sequence[str] = ()

    def get_initializers(self) -> Sequence[Sequence[Any]]:
        """What is tried, of each parameter."""
        raise NotImplementedError

    def create_link(self, initializers: Sequence[Any]) -> Link:
        """The link."""
        raise NotImplementedError

    def generate_inputs(self) -> tuple[np.ndarray, ...]:
        """The inputs of a test."""
        raise NotImplementedError

    def forward(self, link: Link, inputs: tuple[Variable, ...], device: Device) -> Any:
        """The outputs."""
        return link(*inputs)

    def test_initializers(self) -> None:
        """Each parameter starts from what its argument says."""
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
        found = getattr(link, name).array
        if drawn:
            wanted = drawn[-1]
        elif callable(expected):
            wanted, again = np.empty_like(found), np.empty_like(found)
            expected(wanted)
            expected(again)
            if not np.array_equal(wanted, again):  # it draws: nobody knows what
                return
        else:
            wanted = np.broadcast_to(np.asarray(expected, found.dtype), found.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


AbstractChainerTestCase.bases |= {LinkTestCase, LinkInitializersTestCase}
