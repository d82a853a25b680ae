"""Programs of the shapes that SINGA's documentation shows, with the imports changed."""

import numpy as np
import pytest

from cvzoo.singa import autograd, device, layer, model, opt, tensor
from cvzoo.singa.tensor import Tensor


class CNN(model.Model):
    """The documentation's network, with fewer filters."""

    def __init__(self, num_classes=10, num_channels=1):
        super(CNN, self).__init__()  # noqa: UP008 - as it is written there
        self.conv1 = layer.Conv2d(num_channels, 4, 5, padding=0, activation="RELU")
        self.conv2 = layer.Conv2d(4, 6, 5, padding=0, activation="RELU")
        self.linear1 = layer.Linear(20)
        self.linear2 = layer.Linear(num_classes)
        self.pooling1 = layer.MaxPool2d(2, 2, padding=0)
        self.pooling2 = layer.MaxPool2d(2, 2, padding=0)
        self.relu = layer.ReLU()
        self.flatten = layer.Flatten()
        self.softmax_cross_entropy = layer.SoftMaxCrossEntropy()

    def forward(self, x):
        y = self.pooling1(self.conv1(x))
        y = self.pooling2(self.conv2(y))
        y = self.linear1(self.flatten(y))
        return self.linear2(self.relu(y))

    def train_one_batch(self, x, y):
        out = self.forward(x)
        loss = self.softmax_cross_entropy(out, y)
        self.optimizer(loss)
        return out, loss


def strokes(n, rng):
    """Upright and lying bars: (n, 1, 28, 28) and which of the two."""
    x = rng.normal(0, 0.1, (n, 1, 28, 28)).astype(np.float32)
    t = rng.integers(0, 2, n).astype(np.int32)
    for photo, lying in zip(x[:, 0], t):
        at = rng.integers(6, 20)
        photo[(slice(at, at + 3), slice(4, 24)) if lying else (slice(4, 24), slice(at, at + 3))] += 1
    return x, t


@pytest.mark.parametrize("one_hot", [False, True])
def test_a_cnn_is_compiled_trained_and_evaluated(one_hot):
    batch_size, num_classes = 16, 2
    net = CNN(num_classes=num_classes)
    net.set_optimizer(opt.SGD(lr=0.05, momentum=0.9, weight_decay=1e-5))
    dev = device.get_default_device()
    tx = tensor.Tensor((batch_size, 1, 28, 28), dev, tensor.float32)
    ty = tensor.Tensor((batch_size, num_classes) if one_hot else (batch_size,), dev, tensor.int32)
    net.compile([tx], is_train=True, use_graph=True, sequential=False)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(25):
        x, y = strokes(batch_size, rng)
        tx.copy_from_numpy(x)
        ty.copy_from_numpy(np.eye(num_classes, dtype=np.float32)[y] if one_hot else y)
        out, loss = net(tx, ty)
        losses.append(tensor.to_numpy(loss)[0])
    assert out.shape == (batch_size, num_classes)
    assert losses[-1] < 0.1 < losses[0]
    net.eval()
    x, y = strokes(batch_size, rng)
    tx.copy_from_numpy(x)
    assert (np.argmax(tensor.to_numpy(net(tx)), axis=1) == y).all()


def test_a_training_step_may_take_more_arguments():
    class MLP(model.Model):
        def __init__(self, data_size=10, perceptron_size=100, num_classes=10):
            super().__init__()
            self.relu = layer.ReLU()
            self.linear1 = layer.Linear(perceptron_size)
            self.linear2 = layer.Linear(num_classes)
            self.softmax_cross_entropy = layer.SoftMaxCrossEntropy()

        def forward(self, inputs):
            return self.linear2(self.relu(self.linear1(inputs)))

        def train_one_batch(self, x, y, dist_option, spars):
            out = self.forward(x)
            loss = self.softmax_cross_entropy(out, y)
            if dist_option == "plain":
                self.optimizer(loss)
            return out, loss

        def set_optimizer(self, optimizer):
            self.optimizer = optimizer

    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, (40, 2)).astype(np.float32)
    label = (5 * data[:, 0] + 1 > 3 * data[:, 1]).astype(np.int32)
    sgd = opt.SGD(0.1, 0.9, 1e-5, dtype=tensor.float32)
    tx = tensor.Tensor((40, 2), None, tensor.float32)
    ty = tensor.Tensor((40,), None, tensor.int32)
    net = MLP(data_size=2, perceptron_size=3, num_classes=2)
    net.set_optimizer(sgd)
    net.compile([tx], is_train=True, use_graph=True, sequential=True)
    net.train()
    losses = []
    for _ in range(60):
        tx.copy_from_numpy(data)
        ty.copy_from_numpy(label)
        _, loss = net(tx, ty, "plain", spars=None)
        losses.append(tensor.to_numpy(loss)[0])
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize("bias_shape", [(3,), (1, 3)])
def test_a_network_of_operations_only_learns(bias_shape):
    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, (100, 2))
    label = (data[:, 0] > data[:, 1]).astype(np.int64)
    w0 = Tensor(shape=(2, 3), requires_grad=True, stores_grad=True)
    w0.gaussian(0.0, 0.5)
    b0 = Tensor(shape=bias_shape, requires_grad=True, stores_grad=True)
    b0.set_value(0.0)
    w1 = Tensor(shape=(3, 2), requires_grad=True, stores_grad=True)
    w1.gaussian(0.0, 0.5)
    b1 = Tensor(shape=(2,), requires_grad=True, stores_grad=True)
    inputs = Tensor(data=data)
    target = Tensor(data=label)
    autograd.training = True
    sgd = opt.SGD(0.5)
    losses = []
    for _ in range(40):
        x = autograd.matmul(inputs, w0)
        x = autograd.add_bias(x, b0)
        x = autograd.relu(x)
        x = autograd.matmul(x, w1)
        x = autograd.add_bias(x, b1)
        loss = autograd.softmax_cross_entropy(x, target)
        for p, g in autograd.backward(loss):
            sgd.update(p, g)
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_layers_of_autograd_are_called_like_functions():
    conv1 = autograd.Conv2d(1, 4, 3, padding=1, bias=False)
    bn1 = autograd.BatchNorm2d(4)
    pooling1 = autograd.MaxPool2d(3, 1, padding=1)
    conv21 = autograd.Conv2d(4, 2, 3, padding=1)
    conv22 = autograd.Conv2d(4, 2, 3, padding=1)
    bn2 = autograd.BatchNorm2d(4)
    linear = autograd.Linear(4 * 8 * 8, 3)
    pooling2 = autograd.AvgPool2d(3, 1, padding=1)

    def forward(x, t):
        y = pooling1(bn1(autograd.relu(conv1(x))))
        y = autograd.cat((conv21(y), conv22(y)), 1)
        y = pooling2(bn2(autograd.relu(y)))
        y = linear(autograd.flatten(y))
        return autograd.softmax_cross_entropy(y, t), y

    autograd.training = True
    sgd = opt.SGD(lr=0.02, momentum=0.9)
    rng = np.random.default_rng(0)
    x, t = rng.random((6, 1, 8, 8)).astype(np.float32), np.arange(6) % 3
    losses = []
    for _ in range(15):
        inputs = tensor.Tensor(device=None, data=x, stores_grad=False)
        targets = tensor.Tensor(device=None, data=t, requires_grad=False, stores_grad=False)
        loss, y = forward(inputs, targets)
        for p, gp in autograd.backward(loss):
            sgd.update(p, gp)
        losses.append(loss.item())
    assert y.shape == (6, 3)
    assert losses[-1] < 0.5 * losses[0]


class BasicBlock(layer.Layer):
    """The documentation's residual block."""

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = layer.Conv2d(inplanes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = layer.BatchNorm2d(planes)
        self.conv2 = layer.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = layer.BatchNorm2d(planes)
        self.relu1 = layer.ReLU()
        self.add = layer.Add()
        self.relu2 = layer.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        residual = x
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            residual = self.downsample(x)
        return self.relu2(self.add(out, residual))


class ResNet(model.Model):
    """The documentation's residual network, a small one: blocks in closures, as it writes them."""

    def __init__(self, num_classes=3):
        self.inplanes = 4
        super().__init__()
        self.conv1 = layer.Conv2d(1, 4, 3, padding=1, bias=False)
        self.bn1 = layer.BatchNorm2d(4)
        self.relu = layer.ReLU()
        self.maxpool = layer.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1, layers1 = self._make_layer(4, 1)
        self.layer2, layers2 = self._make_layer(8, 2, stride=2)
        self.avgpool = layer.AvgPool2d(4, stride=1)
        self.flatten = layer.Flatten()
        self.fc = layer.Linear(num_classes)
        self.softmax_cross_entropy = layer.SoftMaxCrossEntropy()
        self.register_layers(*layers1, *layers2)

    def _make_layer(self, planes, blocks, stride=1):
        downsample = None
        if stride != 1 or self.inplanes != planes:
            conv = layer.Conv2d(self.inplanes, planes, 1, stride=stride, bias=False)
            bn = layer.BatchNorm2d(planes)

            def downsample(x):
                return bn(conv(x))

        layers = [BasicBlock(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes
        layers += [BasicBlock(planes, planes) for _ in range(1, blocks)]

        def forward(x):
            for each in layers:
                x = each(x)
            return x

        return forward, layers

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(self.flatten(self.avgpool(x)))

    def train_one_batch(self, x, y):
        out = self.forward(x)
        loss = self.softmax_cross_entropy(out, y)
        self.optimizer(loss)
        return out, loss


class MLP(model.Model):
    """Two linear layers with dropout between them."""

    def __init__(self):
        super().__init__()
        self.flatten = layer.Flatten()
        self.linear1 = layer.Linear(12)
        self.dropout = layer.Dropout(0.25)
        self.linear2 = layer.Linear(3)
        self.tanh = layer.Tanh()
        self.loss = layer.SoftMaxCrossEntropy()

    def forward(self, x):
        return self.linear2(self.dropout(self.tanh(self.linear1(self.flatten(x)))))

    def train_one_batch(self, x, y):
        out = self.forward(x)
        loss = self.loss(out, y)
        self.optimizer.backward_and_update(loss)
        return out, loss


OPTIMIZERS = {
    "sgd": lambda: opt.SGD(lr=0.02, momentum=0.9, dampening=0.1, weight_decay=1e-3),
    "rmsprop": lambda: opt.RMSProp(lr=1e-3),
    "adagrad": lambda: opt.AdaGrad(lr=1e-2),
    "adam": lambda: opt.Adam(lr=1e-3, weight_decay=1e-3),
}


def twenty_steps(make, optimizer, size, use_graph):
    """Losses, then outputs in evaluation, then states."""
    device.get_default_device().SetRandSeed(0)
    rng = np.random.default_rng(1)
    net = make()
    net.set_optimizer(optimizer())
    tx, ty = tensor.Tensor((5, 1, size, size)), tensor.Tensor((5,), dtype=tensor.int32)
    net.compile([tx], is_train=True, use_graph=use_graph)
    losses = []
    for _ in range(20):
        tx.copy_from_numpy(rng.random((5, 1, size, size)))
        ty.copy_from_numpy(rng.integers(0, 3, 5))
        losses.append(tensor.to_numpy(net(tx, ty)[1]))
    net.eval()
    outs = [tensor.to_numpy(net(tx)) for _ in range(3)]
    return losses, outs, {name: tensor.to_numpy(value) for name, value in net.get_states().items()}, net


@pytest.mark.parametrize(
    ("make", "optimizer", "size"),
    [
        (MLP, "sgd", 6),
        (MLP, "adam", 6),
        (lambda: CNN(num_classes=3), "sgd", 28),
        (lambda: CNN(num_classes=3), "rmsprop", 28),
        (ResNet, "sgd", 16),
        (ResNet, "adagrad", 16),
    ],
)
def test_with_and_without_the_graph_come_the_same_numbers(make, optimizer, size):
    eager = twenty_steps(make, OPTIMIZERS[optimizer], size, False)
    replayed = twenty_steps(make, OPTIMIZERS[optimizer], size, True)
    assert not eager[3].graphs()
    assert len(replayed[3].graphs()) == 2  # one there, one there and back
    np.testing.assert_allclose(replayed[0], eager[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(replayed[1], eager[1], rtol=1e-5, atol=1e-5)
    assert list(replayed[2]) == list(eager[2])
    for name, value in eager[2].items():
        np.testing.assert_allclose(replayed[2][name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def test_layers_in_closures_belong_to_the_model():
    net = twenty_steps(ResNet, OPTIMIZERS["sgd"], 16, True)[3]
    names = list(net.get_params())
    assert "BasicBlock_0.conv1.W" in names
    assert "Conv2d_0.W" in names  # the downsampling one
    assert net.BasicBlock_0.conv1.W.name == "BasicBlock_0.conv1.W"
    assert net.BasicBlock_0.conv1.name == "BasicBlock_0.conv1"


@pytest.mark.slow
@pytest.mark.parametrize("use_graph", [False, True])
def test_on_a_gpu_it_learns_what_it_learns_on_the_processor(use_graph, fake_gpu):
    """`dev = device.create_cuda_gpu()`, as the documentation's program has it."""

    def losses(dev):
        dev.SetRandSeed(0)
        net = CNN(num_classes=2)
        net.set_optimizer(opt.SGD(lr=0.05, momentum=0.9, weight_decay=1e-5))
        tx = tensor.Tensor((4, 1, 28, 28), dev, tensor.float32)
        ty = tensor.Tensor((4,), dev, tensor.int32)
        net.compile([tx], is_train=True, use_graph=use_graph, sequential=False)
        rng = np.random.default_rng(0)
        found = []
        for _ in range(4):
            x, y = strokes(4, rng)
            tx.copy_from_numpy(x)
            ty.copy_from_numpy(y)
            out, loss = net(tx, ty)
            assert out.device is dev
            found.append(tensor.to_numpy(loss).item())
        assert net.device is dev
        assert {each.device for each in net.get_states().values()} == {dev}
        net.eval()
        return found, tensor.to_numpy(net(tx))

    expected, scores = losses(device.get_default_device())
    with fake_gpu():
        got, got_scores = losses(device.create_cuda_gpu())
    np.testing.assert_allclose(got, expected, rtol=1e-4)
    np.testing.assert_allclose(got_scores, scores, rtol=1e-3, atol=1e-4)
