"""Chainer's test cases accept what is right and find what is wrong."""

import unittest

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import FunctionNode, testing
from cvzoo.initializers import Constant, Normal


class Cube(FunctionNode):
    slope = 3.0

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 3,)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (gys[0] * x * x * self.slope,)


class WrongCube(Cube):
    slope = 2.0


class CubeCase(testing.FunctionTestCase):
    function = Cube

    def generate_inputs(self):
        return (np.random.default_rng(0).uniform(0.5, 1, (2, 3)).astype("f"),)

    def forward(self, inputs, device):
        assert device.name == "cpu"
        return self.function().apply(inputs)

    def forward_expected(self, inputs):
        return (inputs[0] ** 3,)


class LinearCase(testing.LinkTestCase):
    param_names = ("W", "b")

    def generate_params(self):
        random = np.random.default_rng(0)
        return random.normal(size=(2, 3)).astype("f"), random.normal(size=2).astype("f")

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(3, 2, initialW=W, initial_bias=b)

    def generate_inputs(self):
        return (np.random.default_rng(1).normal(size=(4, 3)).astype("f"),)

    def forward_expected(self, link, inputs):
        return (inputs[0] @ link.W.array.T + link.b.array,)


class LinearStarts(testing.LinkInitializersTestCase):
    param_names = ("W", "b")

    def get_initializers(self):
        W = [Normal(0.1), 2, np.arange(6, dtype="f").reshape(2, 3), testing.InitializerArgument(None, Normal())]
        return W, [testing.InitializerArgument(None, Constant(0)), Constant(3), 1]

    def create_link(self, initializers):
        return L.Linear(None, 2, initialW=initializers[0], initial_bias=initializers[1])

    def generate_inputs(self):
        return (np.ones((1, 3), "f"),)


def outcome(case):
    """(tests run, failures and errors, skips)."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result.testsRun, len(result.failures) + len(result.errors), len(result.skipped)


def test_right_ones_pass():
    assert outcome(CubeCase) == (3, 0, 0)
    assert outcome(LinearCase) == (2, 0, 0)
    assert outcome(LinearStarts) == (1, 0, 0)


def test_what_the_class_skips_is_skipped_and_bases_are_no_tests():
    assert outcome(type("Some", (CubeCase,), {"skip_backward_test": True})) == (3, 0, 1)
    for base, n in ((testing.FunctionTestCase, 3), (testing.LinkTestCase, 2), (testing.LinkInitializersTestCase, 1)):
        assert outcome(base) == (n, 0, n)


WRONG = {
    "derivatives": (CubeCase, {"function": WrongCube}, "backward"),
    "values": (CubeCase, {"forward_expected": lambda self, inputs: (inputs[0],)}, "forward"),
    "shapes": (CubeCase, {"forward_expected": lambda self, inputs: (np.ones((1, 3)),)}, "forward"),
    "a link's values": (LinearCase, {"forward_expected": lambda self, link, inputs: (inputs[0][:, :2],)}, "forward"),
    "a link's gradients": (LinearCase, {"forward": lambda self, link, x, device: (F.copy(x[0]).array,)}, "backward"),
    "starts": (LinearStarts, {"create_link": lambda self, starts: L.Linear(3, 2, initialW=starts[0])}, "initializers"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_wrong_ones_fail(case):
    base, changes, test = WRONG[case]
    result = unittest.TestResult()
    type("Wrong", (base,), changes)(f"test_{test}").run(result)
    assert result.failures + result.errors
