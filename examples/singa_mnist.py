"""Train on MNIST by a program for Apache SINGA, with only its imports changed.

    python examples/singa_mnist.py --data FOLDER_WITH_MNIST [--no-graph]

FOLDER_WITH_MNIST has the four original files; without --data they are downloaded. With the graph, which is the default,
the network's part of each step is recorded once and replayed.
"""

import argparse
import time

import numpy as np

from cvzoo import datasets
from cvzoo.singa import device, layer, model, opt, tensor


class CNN(model.Model):
    """Two convolutions and two linear layers: (B, 1, 28, 28) in, (B, 10) scores out."""

    def __init__(self, num_classes=10, num_channels=1):
        super().__init__()
        self.conv1 = layer.Conv2d(num_channels, 20, 5, padding=0, activation="RELU")
        self.conv2 = layer.Conv2d(20, 50, 5, padding=0, activation="RELU")
        self.linear1 = layer.Linear(500)
        self.linear2 = layer.Linear(num_classes)
        self.pooling1 = layer.MaxPool2d(2, 2, padding=0)
        self.pooling2 = layer.MaxPool2d(2, 2, padding=0)
        self.relu = layer.ReLU()
        self.flatten = layer.Flatten()
        self.softmax_cross_entropy = layer.SoftMaxCrossEntropy()

    def forward(self, x):
        y = self.pooling1(self.conv1(x))
        y = self.pooling2(self.conv2(y))
        y = self.relu(self.linear1(self.flatten(y)))
        return self.linear2(y)

    def train_one_batch(self, x, y):
        out = self.forward(x)
        loss = self.softmax_cross_entropy(out, y)
        self.optimizer(loss)
        return out, loss


def arrays(data, split, n):
    """The first n images (n, 1, 28, 28) float32 in [0, 1], and their labels (n,) int32."""
    dataset = datasets.MNISTDataset(data, split)
    n = len(dataset) if n is None else min(n, len(dataset))
    images, labels = zip(*(dataset[i] for i in range(n)))
    return np.stack(images) / np.float32(255), np.array(labels, np.int32)


def main(data="auto", *, n_epoch=3, batch_size=64, n_train=None, n_test=None, graph=True, seed=0):
    """The test accuracy after the last epoch, in [0, 1]."""
    dev = device.get_default_device()
    dev.SetRandSeed(seed)
    rng = np.random.default_rng(seed)
    train_x, train_y = arrays(data, "train", n_train)
    test_x, test_y = arrays(data, "test", n_test)

    cnn = CNN()
    cnn.set_optimizer(opt.SGD(lr=0.005, momentum=0.9, weight_decay=1e-5))
    tx = tensor.Tensor((batch_size, 1, 28, 28), dev, tensor.float32)
    ty = tensor.Tensor((batch_size,), dev, tensor.int32)
    cnn.compile([tx], is_train=True, use_graph=graph, sequential=False)
    read = 0.0
    for epoch in range(n_epoch):
        start, total = time.perf_counter(), 0.0
        cnn.train()
        order = rng.permutation(len(train_x))
        n_batch = len(order) // batch_size
        for chosen in order[: n_batch * batch_size].reshape(n_batch, batch_size):
            tx.copy_from_numpy(train_x[chosen])
            ty.copy_from_numpy(train_y[chosen])
            _, loss = cnn(tx, ty)
            total += tensor.to_numpy(loss)[0]
        seconds = time.perf_counter() - start
        cnn.eval()
        right = 0
        for k in range(0, len(test_x), batch_size):
            scores = tensor.to_numpy(cnn(tensor.from_numpy(test_x[k : k + batch_size])))
            right += int((scores.argmax(axis=1) == test_y[k : k + batch_size]).sum())
        read = right / len(test_x)
        print(f"epoch {epoch + 1}: loss {total / n_batch:.4f}, reads {read:.2%} of the test digits, {seconds:.1f} s")
    return read


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn handwritten digits by SINGA's Model API.")
    parser.add_argument("--data", default="auto", help="a folder with MNIST's four files")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--no-graph", action="store_true", help="call each function anew in every step")
    arguments = parser.parse_args()
    main(arguments.data, n_epoch=arguments.epochs, graph=not arguments.no_graph)
