"""Train on MNIST with a network that is divided among several processes, each with some of its layers.

    mpiexec -n 2 python -m mpi4py examples/mnist_on_ranks.py --how model --data FOLDER_WITH_MNIST
    mpiexec -n 3 python -m mpi4py examples/mnist_on_ranks.py --how pipeline --data FOLDER_WITH_MNIST

model: model parallelism: the batch goes through the ranks, of which one computes at a time
pipeline: the batch is divided into micro-batches, so that a rank computes one while the next rank computes the last one

Both have the weights of one process, up to rounding. FOLDER_WITH_MNIST has the four original files; without --data they
are downloaded.
"""

import argparse

import numpy as np

import cvzoo
import cvzoo.distributed.functions as D
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import datasets, iterators, optimizers
from cvzoo.distributed import MultiNodeChainList, create_communicator, create_synchronized_iterator
from cvzoo.training import concat_examples


def layers(n_units):
    """The whole network; as many ranks at most can divide it."""
    hidden = [cvzoo.Sequential(L.Linear(n_units, n_units), F.relu) for _ in range(2)]
    return [cvzoo.Sequential(L.Linear(784, n_units), F.relu), *hidden, L.Linear(n_units, 10)]


def stage_of(comm, n_units):
    """The consecutive layers of this rank; all ranks draw the same initial weights."""
    every = layers(n_units)
    begin, end = len(every) * comm.rank // comm.size, len(every) * (comm.rank + 1) // comm.size
    return cvzoo.Sequential(*every[begin:end])


class OneAfterAnother(MultiNodeChainList):
    """This rank's stage, between those of the ranks before and after it."""

    def __init__(self, comm, stage):
        super().__init__(comm)
        first, last = comm.rank == 0, comm.rank == comm.size - 1
        self.add_link(stage, rank_in=None if first else comm.rank - 1, rank_out=None if last else comm.rank + 1)


def step_of_model(comm, network, optimizer, x, t):
    """One update; the gradients of the other ranks' layers come back by `backward` of the delegate variable."""
    if comm.rank == comm.size - 1:
        optimizer.update(lambda: F.softmax_cross_entropy(network(x), t))
    else:
        optimizer.update(network, x)


def step_of_pipeline(comm, stage, optimizer, x, t, n_micro=4):
    """One update by the gradients of all micro-batches: first all forward passes, then all backward passes."""
    stage.cleargrads()
    ends = []
    for xs, ts in zip(np.array_split(x, n_micro), np.array_split(t, n_micro)):
        h = stage(xs if comm.rank == 0 else D.recv(comm, comm.rank - 1))
        if comm.rank < comm.size - 1:
            ends.append(D.send(h, comm, comm.rank + 1))
        else:
            ends.append(F.softmax_cross_entropy(h, ts) * (len(ts) / len(t)))
    for end in ends:
        end.backward()
    optimizer.update()


def accuracy(comm, stage, test, batch_size=500):
    """The fraction of correct predictions, on all ranks."""
    n_correct = 0
    with cvzoo.no_backprop_mode(), cvzoo.using_config("train", False):
        for begin in range(0, len(test), batch_size):
            x, t = concat_examples(test[begin : begin + batch_size])
            h = stage(x if comm.rank == 0 else comm.recv(comm.rank - 1)).array
            if comm.rank < comm.size - 1:
                comm.send(h, comm.rank + 1)
            else:
                n_correct += int((h.argmax(axis=1) == t).sum())
    return comm.bcast_obj(n_correct, comm.size - 1) / len(test)


def train(comm, examples, *, how="model", n_epoch=1, n_units=100, batch_size=100, seed=0):
    """This rank's stage after some epochs; the examples are the same on all ranks."""
    cvzoo.set_seed(seed)
    stage = stage_of(comm, n_units)
    network = OneAfterAnother(comm, stage) if how == "model" and comm.size > 1 else stage
    optimizer = optimizers.Adam().setup(network)
    iterator = create_synchronized_iterator(iterators.SerialIterator(examples, batch_size, seed=seed), comm)
    step = step_of_model if how == "model" else step_of_pipeline
    while iterator.epoch < n_epoch:
        step(comm, network, optimizer, *concat_examples(iterator.next()))
    return stage


def flat(example):
    """(784,) values in [0, 1], and the label."""
    img, label = example
    return (img / 255).reshape(-1), label


def main(data="auto", *, how="model", n_epoch=1, n_train=60000):
    """The test accuracy, in [0, 1]."""
    comm = create_communicator()
    parts = [
        datasets.TransformDataset(datasets.MNISTDataset(data, split), ("img", "label"), flat).slice[:n]
        for split, n in (("train", n_train), ("test", n_train // 6))
    ]
    stage = train(comm, parts[0], how=how, n_epoch=n_epoch)
    found = accuracy(comm, stage, parts[1])
    if comm.rank == 0:
        print(f"{comm.size} ranks, {how}: test accuracy {found:.4f}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train on MNIST with a network divided among ranks.")
    parser.add_argument("--how", choices=("model", "pipeline"), default="model")
    parser.add_argument("--data", default="auto", help="a folder with MNIST's four files")
    parser.add_argument("--n-train", type=int, default=60000, help="training images; a sixth as many test images")
    parser.add_argument("--epoch", type=int, default=1)
    args = parser.parse_args()
    main(args.data, how=args.how, n_epoch=args.epoch, n_train=args.n_train)
