"""Train on MNIST with two devices of one machine, in the two ways of Chainer's tutorial.

    python examples/mnist_two_gpus.py --how model --devices gpu:0 gpu:1 --data FOLDER_WITH_MNIST
    python examples/mnist_two_gpus.py --how data --devices gpu:0 gpu:1 --data FOLDER_WITH_MNIST

model: model parallelism: each device has one half of the network, and activations are exchanged between them
data: data parallelism: each device has the entire network and computes gradients for half of each batch

FOLDER_WITH_MNIST has the four original files; without --data they are downloaded.
"""

import argparse

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import datasets, iterators, optimizers, training
from cvzoo.training import extensions


class MLP(cvzoo.Chain):
    """Three fully connected layers: (B, ...) in, (B, n_out) out."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


class ParallelMLP(cvzoo.Chain):
    """A network split over two devices, which exchange activations: (B, ...) in, (B, 10) scores out.

    Input and output are on the first device.
    """

    def __init__(self, devices, n_units):
        super().__init__()
        self.devices = devices
        first, second = devices
        with self.init_scope():
            self.low_first = MLP(n_units // 2, n_units).to_device(first)
            self.low_second = MLP(n_units // 2, n_units).to_device(second)
            self.high_first = MLP(n_units // 2, 10).to_device(first)
            self.high_second = MLP(n_units // 2, 10).to_device(second)

    def forward(self, x):
        first, second = self.devices
        z_first = self.low_first(x)
        z_second = self.low_second(F.copy(x, second))
        h_first = F.relu(z_first + F.copy(z_second, first))
        h_second = F.relu(z_second + F.copy(z_first, second))
        return self.high_first(h_first) + F.copy(self.high_second(h_second), first)


def scaled(example):
    """(img, label), the image scaled to [0, 1]."""
    img, label = example
    return img / 255, label


def main(
    data="auto",
    *,
    how="model",
    devices=("gpu:0", "gpu:1"),
    out="result",
    n_epoch=20,
    n_units=1000,
    n_train=60000,
    seed=0,
):
    """The test accuracy after the last epoch, in [0, 1]."""
    cvzoo.set_seed(seed)
    train = datasets.TransformDataset(datasets.MNISTDataset(data, "train"), ("img", "label"), scaled).slice[:n_train]
    test = datasets.TransformDataset(datasets.MNISTDataset(data, "test"), ("img", "label"), scaled).slice[
        : n_train // 6
    ]
    train_iter = iterators.SerialIterator(train, 100, seed=seed)
    test_iter = iterators.SerialIterator(test, 100, repeat=False, shuffle=False)

    first, second = devices
    if how == "model":
        model = L.Classifier(ParallelMLP(devices, n_units))
        optimizer = optimizers.Adam().setup(model)
        updater = training.StandardUpdater(train_iter, optimizer)
    else:
        model = L.Classifier(MLP(n_units, 10))
        optimizer = optimizers.Adam().setup(model)
        updater = training.ParallelUpdater(train_iter, optimizer, devices={"main": first, "second": second})
    trainer = training.Trainer(updater, (n_epoch, "epoch"), out=out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=first))
    trainer.extend(extensions.LogReport())
    columns = ["epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"]
    trainer.extend(extensions.PrintReport([*columns, "elapsed_time"]))
    trainer.run()
    return trainer.get_extension("LogReport").log[-1]["validation/main/accuracy"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train on MNIST with two devices.")
    parser.add_argument("--how", choices=("model", "data"), default="model", help="what is split between the devices")
    parser.add_argument("--devices", nargs=2, default=("gpu:0", "gpu:1"), metavar="NAME")
    parser.add_argument("--data", default="auto", help="a folder with MNIST's four files")
    parser.add_argument("--out", default="result", help="folder of the log")
    parser.add_argument("--n-train", type=int, default=60000, help="training images; a sixth as many test images")
    parser.add_argument("--epoch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    main(
        args.data,
        how=args.how,
        devices=tuple(args.devices),
        out=args.out,
        n_epoch=args.epoch,
        n_train=args.n_train,
        seed=args.seed,
    )
