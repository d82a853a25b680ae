"""A trainer on several ranks: what is observed, saved, resumed and stopped is the same on all of them."""

import os
import pathlib
import signal
import tempfile

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers, training
from cvzoo.distributed import create_multi_node_optimizer, scatter_batches
from cvzoo.iterators import SerialIterator
from cvzoo.training import extensions, triggers

EXAMPLES = [
    (x, np.int32(k % 3)) for k, x in enumerate(np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32))
]


def folder(comm):
    """The name of a folder that all ranks use."""
    return comm.bcast_obj(tempfile.mkdtemp(dir=os.getcwd()) if comm.rank == 0 else None)


def trainer_of(comm, out, stop, *, autoload=False, dropout=0.0):
    cvzoo.set_seed(comm.rank)
    model = L.Classifier(cvzoo.Sequential(lambda x: F.dropout(x, dropout), L.Linear(4, 3)))
    iterator = scatter_batches(SerialIterator(EXAMPLES, 4, seed=comm.rank), comm)
    optimizer = create_multi_node_optimizer(optimizers.Adam(), comm).setup(model)
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer), stop, out=out, comm=comm)
    saver = extensions.create_multi_node_checkpointer(extensions.snapshot(autoload=autoload), comm)
    trainer.extend(saver, trigger=(3, "iteration"))
    return model, trainer


def assert_same_on_all_ranks(comm, model):
    mine = model.state_arrays()
    for name, array in comm.bcast_obj(mine).items():
        np.testing.assert_array_equal(array, mine[name])


@on_ranks(1, 2, 3)
def test_a_resumed_training_has_the_same_bits(comm):
    whole, trainer = trainer_of(comm, folder(comm), (9, "iteration"), dropout=0.5)
    trainer.run()
    out = folder(comm)
    trainer_of(comm, out, (6, "iteration"), dropout=0.5)[1].run()
    assert len(list(pathlib.Path(out).glob("snapshot_iter_*"))) == 2
    model, trainer = trainer_of(comm, out, (9, "iteration"), autoload=True, dropout=0.5)
    trainer.run()
    assert trainer.updater.iteration == 9
    for name, array in whole.state_arrays().items():
        np.testing.assert_array_equal(model.state_arrays()[name], array)


@on_ranks(3)
def test_a_training_resumes_on_another_number_of_ranks(comm):
    out = folder(comm)
    two = comm.split(comm.rank // 2)  # of ranks 0 and 1
    if comm.rank < 2:
        trainer_of(two, out, (3, "iteration"))[1].run()
    comm.barrier()
    model, trainer = trainer_of(comm, out, (6, "iteration"), autoload=True)
    trainer.run()
    alone, trainer = trainer_of(comm.split(comm.rank), folder(comm), (6, "iteration"))
    if comm.rank == 0:
        trainer.run()
        for name, array in alone.state_arrays().items():
            np.testing.assert_allclose(model.state_arrays()[name], array, rtol=1e-5, atol=1e-6)
    assert_same_on_all_ranks(comm, model)


@on_ranks(2, 3)
def test_a_signal_on_one_rank_stops_all_after_the_same_iteration(comm):
    model, trainer = trainer_of(comm, folder(comm), (99, "iteration"))
    last = comm.size - 1

    def interrupt(trainer):
        if trainer.updater.iteration == 4 and comm.rank == last:
            os.kill(os.getpid(), signal.SIGTERM)

    trainer.extend(interrupt, trigger=(1, "iteration"))
    with pytest.raises(SystemExit if comm.rank == last else KeyboardInterrupt):
        trainer.run()
    assert comm.allgather_obj(trainer.updater.iteration) == [4] * comm.size
    assert_same_on_all_ranks(comm, model)
    if comm.rank == 0:
        assert pathlib.Path(trainer.out, "snapshot_iter_4.npz").is_file()


@on_ranks(2)
def test_a_stop_trigger_that_fires_on_one_rank_stops_all(comm):
    _, trainer = trainer_of(comm, folder(comm), lambda trainer: trainer.updater.iteration >= 5 - 2 * comm.rank)
    trainer.run()
    assert trainer.updater.iteration == 3


@on_ranks(1, 2, 3)
def test_early_stopping_is_decided_by_the_means_over_the_ranks(comm):
    """The mean falls until iteration 4, then rises by what the last ranks have seen."""
    stop = triggers.MultiNodeEarlyStoppingTrigger(
        comm, (1, "iteration"), "value", 2, "min", max_trigger=(9, "iteration")
    )
    _, trainer = trainer_of(comm, folder(comm), stop)

    @training.make_extension(trigger=(1, "iteration"), priority=training.PRIORITY_WRITER)
    def observe(trainer):
        iteration = trainer.updater.iteration
        trainer.observation["value"] = float(10 - min(iteration, 4) + 100 * comm.rank * (iteration > 4))

    trainer.extend(observe)
    trainer.run()
    assert comm.allgather_obj([trainer.updater.iteration, stop.best_iteration]) == [[6, 4]] * comm.size


@on_ranks(1, 2, 3)
def test_observations_and_statistics_are_averaged(comm):
    _, trainer = trainer_of(comm, folder(comm), (2, "iteration"))
    bn = L.BatchNormalization(2)
    bn.avg_mean[...] = comm.rank
    observed = []

    @training.make_extension(trigger=(1, "iteration"), priority=training.PRIORITY_WRITER)
    def observe(trainer):
        trainer.observation.update({"rank": comm.rank, f"of rank {comm.rank}": 1.0, "kept": comm.rank})

    for extension in (observe, extensions.ObservationAggregator(comm, ["rank", "main/loss"])):
        trainer.extend(extension)
    trainer.extend(extensions.AllreducePersistent(bn, comm), trigger=(1, "iteration"))
    trainer.extend(lambda trainer: observed.append(dict(trainer.observation)), name="read", trigger=(1, "iteration"))
    trainer.run()
    assert observed[0]["rank"] == (comm.size - 1) / 2
    assert observed[0]["kept"] == comm.rank
    assert len({each["main/loss"] for each in comm.allgather_obj({"main/loss": observed[0]["main/loss"]})}) == 1
    np.testing.assert_allclose(bn.avg_mean, (comm.size - 1) / 2)
