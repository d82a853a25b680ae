"""FunctionNode and the functions of 2015: the contract with those who write them."""

import numpy as np
import pytest

import cvzoo
from cvzoo.autodiff.function import Function
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import DtypeError, GraphError


def var(value=(1.0, 2.0), **settings):
    return Variable(np.asarray(value, "float32"), **settings)


class Square(FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (inputs[0] ** 2,)

    def backward(self, indexes, grad_outputs):
        self.seen = (self.get_retained_inputs(), self.get_retained_outputs())
        (x,) = self.seen[0]
        return (grad_outputs[0] * x * 2.0,)


def test_retained_values_come_back_as_variables():
    x = var()
    node = Square()
    (y,) = node.apply((x,))
    y.grad = np.ones(2, "float32")
    y.backward(retain_graph=True)
    (seen_x,), (seen_y,) = node.seen
    assert seen_x.array is x.array
    assert seen_y.array is y.array
    y.backward(enable_double_backprop=True)
    (seen_x,), (seen_y,) = node.seen
    assert seen_x.node is x.node
    assert seen_y.node is y.node


def test_a_retained_output_nobody_held_is_differentiable_again():
    """y = exp(x): its derivative needs y itself, whose handle is gone by then."""

    class Exp(FunctionNode):
        def forward(self, inputs):
            self.retain_outputs((0,))
            return (np.exp(inputs[0]),)

        def backward(self, indexes, grad_outputs):
            (y,) = self.get_retained_outputs()
            return (grad_outputs[0] * y,)

    cvzoo.gradient_check.check_double_backward(lambda x: Exp().apply((x,))[0] * 2.0, np.array([0.1, 0.5]))
    x = var([0.0])
    node = Exp()
    node.apply((x,))
    with cvzoo.force_backprop_mode():
        (gx,) = node.backward((0,), (var([1.0], requires_grad=False),))
    gx.backward()
    assert x.grad.tolist() == [1]


@pytest.mark.parametrize("double", [False, True])
def test_a_value_replaced_after_forward_does_not_change_the_gradient(double):
    x = var([3.0])
    (y,) = Square().apply((x,))
    x.array = np.array([100], "float32")
    y.backward(enable_double_backprop=double)
    assert x.grad.tolist() == [6]


def test_without_backprop_nothing_is_recorded():
    node = Square()
    with no_backprop_mode():
        (y,) = node.apply((var(),))
    assert y.creator is None
    assert not y.requires_grad
    assert node.inputs is None
    assert node.retained_arrays() == ()


def test_arrays_and_variables_mix():
    class Add(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] + inputs[1],)

    (y,) = Add().apply((var(), np.ones(2, "float32")))
    assert y.requires_grad
    assert not y.creator.inputs[1].requires_grad


def test_a_node_is_applied_once():
    node = Square()
    node.apply((var(),))
    with pytest.raises(GraphError, match="Square is applied twice"):
        node.apply((var(),))


def test_forms_that_are_wrong_are_named():
    class NoTuple(FunctionNode):
        def forward(self, inputs):
            return inputs[0]

    with pytest.raises(DtypeError, match=r"NoTuple\.forward must return a tuple"):
        NoTuple().apply((var(),))
    with pytest.raises(GraphError, match="FunctionNode has no forward"):
        FunctionNode().apply((var(),))

    class NoBackward(FunctionNode):
        def forward(self, inputs):
            return (inputs[0],)

    (y,) = NoBackward().apply((var([1.0]),))
    with pytest.raises(GraphError, match="NoBackward is not differentiable"):
        y.backward()


def test_forward_goes_by_the_kind_of_array():
    class Both(FunctionNode):
        def forward_cpu(self, inputs):
            return (inputs[0] + 1,)

    assert Both().apply((var(),))[0].array.tolist() == [2, 3]
    with pytest.raises(GraphError, match="no forward for GPU arrays"):
        Both().forward(("not an array of NumPy's",))


def test_functions_of_2015_may_have_several_outputs_and_gaps():
    class SumAndDifference(Function):
        def forward_cpu(self, inputs):
            return inputs[0] + inputs[1], inputs[0] - inputs[1]

        def backward_cpu(self, inputs, grad_outputs):
            gs, gd = grad_outputs
            assert gd is None
            return gs, None

    x, y = var([1.0]), var([2.0])
    s, _ = SumAndDifference()(x, y)
    s.backward()
    assert x.grad.tolist() == [1]
    assert y.grad is None


def test_functions_of_2015_that_are_not_finished_say_so():
    with pytest.raises(GraphError, match="Function has no forward_cpu"):
        Function()(var())

    class Half(Function):
        def forward_cpu(self, inputs):
            return (inputs[0],)

    with pytest.raises(GraphError, match="Half has no backward_cpu"):
        Half()(var([1.0])).backward()

    class Short(Half):
        def backward_cpu(self, inputs, grad_outputs):
            return grad_outputs

    with pytest.raises(DtypeError, match=r"Short.*one gradient for each input"):
        Short()(var([1.0]), var([1.0])).backward()
