"""Train on MNIST: the listing of Chainer's papers, with a test accuracy above 98.2 %.

    python examples/train_mnist.py --data FOLDER_WITH_MNIST

FOLDER_WITH_MNIST has the four original files; without --data they are downloaded. 20 epochs take about a minute on four
cores. Ctrl-C saves a snapshot; the same command with --resume continues.
"""

import argparse

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import datasets, iterators, optimizers, training
from cvzoo.training import extensions


class MLP(cvzoo.Chain):
    """Three fully connected layers: (B, 1, 28, 28) in, (B, 10) scores out."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


def scaled(example):
    """(img, label), the image scaled to [0, 1]."""
    img, label = example
    return img / 255, label


def main(data="auto", *, out="result", n_epoch=20, batch_size=100, n_units=1000, seed=0, resume=False):
    """The test accuracy after the last epoch, in [0, 1]."""
    cvzoo.set_seed(seed)
    train = datasets.TransformDataset(datasets.MNISTDataset(data, "train"), ("img", "label"), scaled)
    test = datasets.TransformDataset(datasets.MNISTDataset(data, "test"), ("img", "label"), scaled)

    model = L.Classifier(MLP(n_units, 10))
    optimizer = optimizers.Adam().setup(model)
    train_iter = iterators.SerialIterator(train, batch_size, seed=seed)
    test_iter = iterators.SerialIterator(test, batch_size, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train_iter, optimizer)
    trainer = training.Trainer(updater, (n_epoch, "epoch"), out=out)

    trainer.extend(extensions.Evaluator(test_iter, model))
    trainer.extend(extensions.CosineShift("alpha", n_epoch * len(train) // batch_size))
    trainer.extend(extensions.LogReport())
    columns = ["epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"]
    trainer.extend(extensions.PrintReport([*columns, "elapsed_time"]))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.snapshot(autoload=resume))
    trainer.run()
    return trainer.get_extension("LogReport").log[-1]["validation/main/accuracy"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn handwritten digits.")
    parser.add_argument("--data", default="auto", help="a folder with MNIST's four files")
    parser.add_argument("--out", default="result", help="where the log and the snapshots go")
    parser.add_argument("--epoch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on from the newest snapshot in the folder")
    args = parser.parse_args()
    main(args.data, out=args.out, n_epoch=args.epoch, seed=args.seed, resume=args.resume)
