"""Train a small network on generated digits, in a few seconds and without a download.

    python examples/learn_digits.py

It draws distorted digits, checks the network's gradients against finite differences, trains a small convolutional
network with momentum SGD, and evaluates it on 1,000 new digits. Seeds 0, 1 and 2 reach an accuracy of 98 % or more;
the exit status is 1 below 95 %, which indicates a defect.
"""

import argparse
import itertools
import sys
import time

import numpy as np

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L

SIZE = 20  # pixels
POINTS = {  # corners of the strokes, x y in [0, 1], y downwards
    0: [(0.5, 0), (0.15, 0.25), (0.15, 0.75), (0.5, 1), (0.85, 0.75), (0.85, 0.25), (0.5, 0)],
    1: [(0.25, 0.25), (0.55, 0), (0.55, 1)],
    2: [(0.1, 0.2), (0.5, 0), (0.9, 0.25), (0.1, 1), (0.9, 1)],
    3: [(0.1, 0.05), (0.85, 0.15), (0.4, 0.48), (0.9, 0.75), (0.5, 1), (0.1, 0.9)],
    4: [(0.7, 1), (0.7, 0), (0.1, 0.65), (0.95, 0.65)],
    5: [(0.9, 0), (0.2, 0), (0.15, 0.45), (0.7, 0.45), (0.85, 0.75), (0.5, 1), (0.1, 0.9)],
    6: [(0.75, 0), (0.3, 0.35), (0.15, 0.75), (0.5, 1), (0.85, 0.75), (0.5, 0.5), (0.2, 0.65)],
    7: [(0.1, 0), (0.9, 0), (0.4, 1)],
    8: [(0.5, 0.48), (0.15, 0.2), (0.5, 0), (0.85, 0.2), (0.1, 0.75), (0.5, 1), (0.9, 0.75), (0.5, 0.48)],
    9: [(0.8, 0.35), (0.5, 0.5), (0.15, 0.25), (0.5, 0), (0.85, 0.25), (0.7, 0.65), (0.25, 1)],
}


class Reader(cvzoo.Chain):
    """Two convolutions and two linear layers: (B, 1, 20, 20) in, (B, 10) scores out."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 12, 3, pad=1)
            self.conv2 = L.Convolution2D(12, 24, 3, pad=1)
            self.fc1 = L.Linear(None, 64)
            self.fc2 = L.Linear(64, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.fc2(F.relu(self.fc1(h)))


def draw_digits(n, rng):
    """x (n, 1, 20, 20) float32 in [0, 1] and t (n,) int32: digits, each turned, sheared, stretched and moved a bit."""
    rows, columns = np.mgrid[:SIZE, :SIZE] + 0.5
    x = np.empty((n, 1, SIZE, SIZE), np.float32)
    t = rng.integers(0, 10, n).astype(np.int32)
    for i, digit in enumerate(t):
        corners = np.array(POINTS[digit]) - 0.5
        corners += rng.normal(0, 0.035, corners.shape)
        turn, shear = rng.normal(0, 0.18, 2)
        matrix = np.array([[np.cos(turn), -np.sin(turn) + shear], [np.sin(turn), np.cos(turn)]])
        corners = corners @ matrix.T * rng.uniform((7, 10), (11, 15)) + SIZE / 2 + rng.uniform(-1.5, 1.5, 2)
        x[i, 0] = ink(corners, rng.uniform(0.8, 1.5), columns, rows)
    x += rng.normal(0, 0.1, x.shape).astype(np.float32)
    return x.clip(0, 1), t


def ink(corners, width, columns, rows):
    """(H, W) in [0, 1]: a line through the corners (K, 2), dark where a pixel is nearer to it than `width`."""
    nearest = np.full(rows.shape, np.inf)
    for (ax, ay), (bx, by) in itertools.pairwise(corners):
        dx, dy = bx - ax, by - ay
        along = (((columns - ax) * dx + (rows - ay) * dy) / (dx * dx + dy * dy)).clip(0, 1)
        nearest = np.minimum(nearest, np.hypot(columns - ax - along * dx, rows - ay - along * dy))
    return (width + 0.5 - nearest).clip(0, 1)


def check_derivatives(rng):
    """Raises GradientError if the network's layers and the loss have gradients that differ from finite differences."""
    x, t = rng.normal(size=(2, 1, 6, 6)), np.array([1, 0], np.int32)
    w1, b1, w2 = rng.normal(size=(3, 1, 3, 3)), rng.normal(size=3), rng.normal(size=(2, 27)) * 0.3

    def loss(x, w1, b1, w2):
        h = F.max_pooling_2d(F.relu(F.convolution_2d(x, w1, b1, pad=1)), 2)
        return F.softmax_cross_entropy(F.linear(h, w2), t)

    cvzoo.gradient_check.check_backward(loss, (x, w1, b1, w2))


def share_read(model, x, t):
    """The model's accuracy, in [0, 1]."""
    with cvzoo.no_backprop_mode(), cvzoo.using_config("train", False):
        return float(F.accuracy(model(x), t).array)


def main(n_train=4000, n_epoch=4, seed=0):
    """The accuracy on new digits, in [0, 1]; prints the training's progress."""
    rng = np.random.default_rng(seed)
    cvzoo.set_seed(seed)
    check_derivatives(rng)
    print("derivatives agree with finite differences")
    (x, t), (x_new, t_new) = draw_digits(n_train, rng), draw_digits(1000, rng)
    model = Reader()
    read = 0.0
    velocity: dict[str, np.ndarray | float] = {}
    for epoch in range(n_epoch):
        start, total = time.perf_counter(), 0.0
        for batch in np.array_split(rng.permutation(n_train), n_train // 50):
            loss = F.softmax_cross_entropy(model(x[batch]), t[batch])
            model.cleargrads()
            loss.backward()
            for name, param in model.namedparams():
                velocity[name] = 0.9 * velocity.get(name, 0) - 0.03 * param.grad
                param.array += velocity[name]
            total += float(loss.array) * len(batch)
        read = share_read(model, x_new, t_new)
        seconds = time.perf_counter() - start
        print(f"epoch {epoch + 1}: loss {total / n_train:.3f}, reads {read:.1%} of new digits, {seconds:.1f} s")
    return read


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn to read digits that the script draws itself.")
    parser.add_argument("--seed", type=int, default=0)
    sys.exit(0 if main(seed=parser.parse_args().seed) >= 0.95 else 1)
