"""The listings of Chainer's tutorial at version 1.1.2 (docs/source/tutorial: basic, function, type_check; MIT), with
the words replaced that DIFFERENCES lists. Each word that was replaced says in one line what to write.

The listings of the paper of 2015 (Tokui et al., "Chainer: a next-generation open source framework for deep learning",
LearningSys at NIPS 2015) are the perceptron's and the loop's here.
"""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import Function, Variable, gradient_check, optimizers, utils
from cvzoo.errors.exceptions import GraphError, ReplacedAttributeError, ReplacedNameError

# as it was written: as it is written here, and why
DIFFERENCES = {
    "FunctionSet(": ("cvzoo.Chain(", "Chainer 1.5: a set of functions became a link"),
    "F.Linear(": ("L.Linear(", "Chainer 1.5: functions with parameters became links"),
    "model.l3 = L.Linear(2, 2)": ("model.add_link('l3', L.Linear(2, 2))", "Chainer 1.5: children are added by name"),
    "optimizer.setup(model.collect_parameters())": ("optimizer.setup(model)", "Chainer 1.5"),
    "optimizer.zero_grads()": ("model.cleargrads()", "Chainer 1.15: gradients begin with nothing, not with zeros"),
    "f.gW.fill(0)": ("f.cleargrads()", "Chainer 1.5: a gradient is W.grad"),
    "f.gb.fill(0)": ("", "Chainer 1.5"),
    "print 'epoch', epoch": ("print('epoch', epoch)", "Python 3"),
    "xrange(20)": ("range(3)", "Python 3; fewer epochs of fewer digits, so that the test is quick"),
    "xrange": ("range", "Python 3"),
    "60000": ("400", "fewer digits"),
    "10000": ("100", "fewer digits"),
    "batchsize = 100": ("batchsize = 20", "fewer digits"),
    "loss.data *": ("loss.data.item() *", "a number, for the sum"),
    "func.forward((x.data,))": ("type(func)().forward((x.data,))", "a function is applied once"),
    "y.backward()\n\nfunc": ("y.backward(retain_graph=True)\n\nfunc", "backward() gives up the graph"),
    "gradient_check.assert_allclose(gx, x.grad)": (
        "np.testing.assert_allclose(gx, x.grad, rtol=1e-3, atol=1e-3)",
        "NumPy has it, without a tolerance of its own for float32",
    ),
}


def written_today(listing):
    for old, (new, _) in DIFFERENCES.items():
        listing = listing.replace(old, new)
    return listing


def run(listing, **names):
    """The names that the listing leaves."""
    known = {"np": np, "cvzoo": cvzoo, "F": F, "L": L, "Variable": Variable, "Function": Function}
    known |= {"optimizers": optimizers, "gradient_check": gradient_check, "utils": utils, **names}
    exec(compile(written_today(listing), "tutorial", "exec"), known)
    return known


ARITHMETIC = """
x_data = np.array([5], dtype=np.float32)
x = Variable(x_data)
y = x**2 - 2 * x + 1
first = y.data
y.backward()
slope = x.grad
z = 2*x
y = x**2 - z + 1
y.backward(retain_grad=True)
"""

ARRAYS = """
x = Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
y = x**2 - 2*x + 1
y.grad = np.ones((2, 3), dtype=np.float32)
y.backward()
"""

LINEAR = """
f = F.Linear(3, 2)
x = Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
y = f(x)
f.gW.fill(0)
f.gb.fill(0)
y.grad = np.ones((2, 2), dtype=np.float32)
y.backward()
"""

FUNCTION_SET = """
model = FunctionSet(
    l1 = F.Linear(4, 3),
    l2 = F.Linear(3, 2),
)
model.l3 = F.Linear(2, 2)
x = Variable(np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.float32))
h1 = model.l1(x)
h2 = model.l2(h1)
h3 = model.l3(h2)
optimizer = optimizers.SGD()
optimizer.setup(model.collect_parameters())
optimizer.zero_grads()
"""

MNIST = """
x_all = mnist['data'].astype(np.float32) / 255
y_all = mnist['target'].astype(np.int32)
x_train, x_test = np.split(x_all, [60000])
y_train, y_test = np.split(y_all, [60000])

model = FunctionSet(
    l1 = F.Linear(784, 100),
    l2 = F.Linear(100, 100),
    l3 = F.Linear(100,  10),
)
optimizer = optimizers.SGD()
optimizer.setup(model.collect_parameters())

def forward(x_data, y_data):
    x = Variable(x_data)
    t = Variable(y_data)
    h1 = F.relu(model.l1(x))
    h2 = F.relu(model.l2(h1))
    y = model.l3(h2)
    return F.softmax_cross_entropy(y, t), F.accuracy(y, t)

batchsize = 100
for epoch in xrange(20):
    print 'epoch', epoch
    indexes = np.random.permutation(60000)
    for i in xrange(0, 60000, batchsize):
        x_batch = x_train[indexes[i : i + batchsize]]
        y_batch = y_train[indexes[i : i + batchsize]]

        optimizer.zero_grads()
        loss, accuracy = forward(x_batch, y_batch)
        loss.backward()
        optimizer.update()

sum_loss, sum_accuracy = 0, 0
for i in xrange(0, 10000, batchsize):
    x_batch = x_test[i : i + batchsize]
    y_batch = y_test[i : i + batchsize]
    loss, accuracy = forward(x_batch, y_batch)
    sum_loss      += loss.data * batchsize
    sum_accuracy  += accuracy.data * batchsize

mean_loss     = sum_loss / 10000
mean_accuracy = sum_accuracy / 10000
"""

MULADD = """
class MulAdd(Function):
    def forward(self, inputs):
        x, y, z = inputs
        w = x * y + z
        return w,

    def backward(self, inputs, grad_outputs):
        x, y, z = inputs
        gw      = grad_outputs[0]

        gx = y * gw
        gy = x * gw
        gz = gw
        return gx, gy, gz
"""

NUMERICAL = """
x  = np.random.randn(4, 3).astype(np.float32)
gy = np.ones((4, 3), dtype=np.float32)
f  = lambda: (x * x,)
gx = gradient_check.numerical_grad(f, (x,), (gy,))
"""

RELU = """
x = Variable(np.random.randn(3, 2).astype(np.float32))
y = F.relu(x)
y.grad = np.random.randn(3, 2).astype(np.float32)
y.backward()

func = y.creator
f = lambda: func.forward((x.data,))
gx, = gradient_check.numerical_grad(f, (x.data,), (y.grad,))

gradient_check.assert_allclose(gx, x.grad)
"""

TYPE_CHECK = """
class Product(Function):
    def __init__(self, in_size):
        self.in_size = in_size

    def check_type_forward(self, in_types):
        utils.type_check.expect(in_types.size() == 2)
        x_type, y_type = in_types
        utils.type_check.expect(
            x_type.dtype == np.float32,
            x_type.ndim == 2,
            x_type.shape[0] == y_type.shape[0] * 4,
            x_type.shape[1] == utils.type_check.Variable(self.in_size, "in_size"),
        )

    def forward(self, inputs):
        return inputs[0] * 2,
"""


def test_arithmetic():
    names = run(ARITHMETIC)
    assert names["first"].tolist() == [16]
    assert names["slope"] == 8
    assert names["z"].grad == -1


def test_gradients_of_arrays_start_from_a_given_one():
    names = run(ARRAYS)
    assert names["x"].grad.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_a_linear_function_and_its_gradients():
    names = run(LINEAR)
    f = names["f"]
    np.testing.assert_allclose(names["y"].data, names["x"].data @ f.W.data.T + f.b.data, rtol=1e-6)
    assert f.W.grad.tolist() == [[5, 7, 9]] * 2
    assert f.b.grad.tolist() == [2, 2]


def test_a_set_of_functions_and_its_optimizer():
    names = run(FUNCTION_SET)
    assert names["h3"].shape == (2, 2)
    assert len(list(names["model"].params())) == 6
    assert names["optimizer"].target is names["model"]


def test_the_perceptron_learns_digits(capsys):
    cvzoo.set_seed(0)
    random = np.random.default_rng(0)
    np.random.seed(0)
    target = random.integers(0, 10, 500)
    data = random.uniform(0, 255, (10, 784))[target] * 0.9 + random.uniform(0, 25, (500, 784))
    listing = MNIST.replace("optimizers.SGD()", "optimizers.SGD(0.1)")  # there are fewer steps than in the tutorial
    names = run(listing, mnist={"data": data, "target": target})
    assert names["mean_accuracy"] > 0.9
    assert names["mean_loss"] < 1
    assert capsys.readouterr().out.split() == ["epoch", "0", "epoch", "1", "epoch", "2"]


def test_a_function_of_ones_own():
    MulAdd = run(MULADD)["MulAdd"]
    x, y, z = np.random.default_rng(0).normal(size=(3, 3, 2))
    np.testing.assert_allclose(MulAdd()(x, y, z).data, x * y + z)
    gradient_check.check_backward(MulAdd(), (x, y, z))


def test_it_can_be_differentiated_once_only_and_says_so():
    w = run(MULADD)["MulAdd"]()(*[Variable(np.array([5], dtype=np.float32))] * 3)
    with pytest.raises(GraphError, match="MulAdd is written with arrays and cannot be differentiated twice"):
        w.backward(enable_double_backprop=True)


def test_numerical_gradients():
    names = run(NUMERICAL)
    np.testing.assert_allclose(names["gx"][0], 2 * names["x"], atol=1e-2)
    np.random.seed(1)
    run(RELU)


def test_types_are_checked_and_errors_spell_the_condition():
    Product = run(TYPE_CHECK)["Product"]
    x, y = np.ones((8, 3), "f"), np.ones((2, 3), "f")
    assert Product(3)(x, y).data[0, 0] == 2
    for arguments, expected, actual in (
        ((x[:3], y), r"in_types[0].shape[0] == in_types[1].shape[0] * 4", "3 != 8"),
        ((x, y), "in_types[0].shape[1] == in_size", "3 != 4"),
        ((x.astype("d"), y), "in_types[0].dtype == numpy.float32", "float64 != float32"),
    ):
        with pytest.raises(utils.type_check.InvalidType) as caught:
            Product(4)(*arguments)
        assert (caught.value.expect, caught.value.actual) == (expected, actual)


@pytest.mark.parametrize("name", ["cuda", "FunctionSet"])
def test_modules_and_classes_that_chainer_replaced_say_what_to_write(name):
    with pytest.raises(ReplacedNameError, match=f"cvzoo has no {name}: use "):
        getattr(cvzoo, name)


def test_functions_with_parameters_say_that_they_are_links():
    with pytest.raises(ReplacedNameError, match=r"use cvzoo\.links\.Linear$"):
        F.Linear  # noqa: B018


def test_methods_that_chainer_replaced_say_what_to_write():
    optimizer = optimizers.SGD().setup(L.Linear(3, 2))
    with pytest.raises(ReplacedAttributeError, match=r"^SGD has no zero_grads: use target\.cleargrads\(\)$"):
        optimizer.zero_grads()
    with pytest.raises(ReplacedAttributeError, match=r"^Variable has no volatile: use with cvzoo\.no_backprop_mode"):
        Variable(np.ones(3)).volatile = True


def test_each_difference_is_met():
    text = "".join([ARITHMETIC, LINEAR, FUNCTION_SET, MNIST, MULADD, NUMERICAL, RELU, TYPE_CHECK])
    for old, (new, _) in DIFFERENCES.items():
        assert old in text, old
        text = text.replace(old, new)
