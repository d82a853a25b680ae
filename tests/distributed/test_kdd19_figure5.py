"""The listing of distributed training in Chainer's paper (KDD 2019), with nothing changed but the imports."""

import numpy as np
from on_ranks import on_ranks

import cvzoo as chainer
import cvzoo.distributed as chainermn
import cvzoo.links as L
from cvzoo import training
from cvzoo.training import extensions


def get_data():
    rng = np.random.default_rng(0)
    t = rng.integers(0, 3, 34).astype(np.int32)
    examples = [(x, each) for x, each in zip((rng.normal(size=(34, 4)) + 2 * np.eye(3, 4)[t]).astype(np.float32), t)]
    return examples[:24], examples[24:]


@on_ranks(1, 2, 3)
def test_the_listing_trains_and_reports_the_same_scores_on_all_ranks(comm_of_the_test):
    comm = chainermn.create_communicator("naive")

    model = L.Classifier(L.Linear(4, 3))
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    optimizer.setup(model)

    if comm.rank == 0:
        train, test = get_data()
    else:
        train, test = None, None
    train = chainermn.scatter_dataset(train, comm, shuffle=True)
    test = chainermn.scatter_dataset(test, comm, shuffle=True)

    train_iter = chainer.iterators.SerialIterator(train, 4)
    test_iter = chainer.iterators.SerialIterator(test, 4, repeat=False, shuffle=False)

    updater = training.StandardUpdater(train_iter, optimizer)
    trainer = training.Trainer(updater, (3, "epoch"), out=f"result{comm.rank}")

    evaluator = extensions.Evaluator(test_iter, model)
    evaluator = chainermn.create_multi_node_evaluator(evaluator, comm)
    trainer.extend(evaluator)
    if comm.rank == 0:
        trainer.extend(extensions.LogReport())
    trainer.run()

    everyone = comm.allgather_obj({key: float(value) for key, value in evaluator().items()})
    assert everyone[0].keys() == {"validation/main/loss", "validation/main/accuracy"}
    assert all(each == everyone[0] for each in everyone)
    weights = comm.allgather_obj(model.predictor.W.array)
    assert all((each == weights[0]).all() for each in weights)
    lengths = comm.allgather_obj([train.n_own, test.n_own])
    assert np.sum(lengths, axis=0).tolist() == [24, 10]
