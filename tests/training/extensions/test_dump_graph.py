"""The first iteration's graph in a file."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_hook import this_thread
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.connection.linear import Linear
from cvzoo.optimizers.sgd import SGD
from cvzoo.reporting.reporter import report
from cvzoo.training import extensions
from cvzoo.training.extensions.dump_graph import DumpGraph
from cvzoo.training.trainer import Trainer
from cvzoo.training.updaters.standard_updater import StandardUpdater


class Net(Linear):
    """A layer that reports its loss, twice the square."""

    times = 1

    def forward(self, x):
        loss = F.sum(super().forward(x) ** 2)
        report({"loss": loss, "number": float(loss.array)}, self)
        return loss * self.times if self.times != 1 else loss


def make(tmp_path, *extensions, times=1):
    net = Net(3, 2)
    net.times = times
    xs = np.ones((8, 3), np.float32)
    updater = StandardUpdater(SerialIterator(xs, 2), SGD(lr=0.01).setup(net))
    return Trainer(updater, (3, "iteration"), out=tmp_path, extensions=extensions)


def test_the_graph_is_written_once(tmp_path):
    trainer = make(tmp_path, DumpGraph("main/loss"))
    trainer.extend(lambda trainer: (tmp_path / "cg.dot").rename(tmp_path / "moved"), trigger=(2, "iteration"))
    trainer.run()
    text = (tmp_path / "moved").read_text()
    assert text.startswith("digraph")
    assert "main/W: (2, 3), float32" in text
    assert "main/b: (2,), float32" in text
    assert 'label="Sum"' in text
    assert not (tmp_path / "cg.dot").exists()
    assert this_thread.hooks == ()


def test_a_listing_can_be_read(tmp_path):
    make(tmp_path, DumpGraph("main/number", "graph.txt")).run()
    lines = (tmp_path / "graph.txt").read_text().splitlines()
    assert "= Sum(" in lines[-1]
    assert lines[-1].endswith("  output")
    assert any("main/W: leaf" in line for line in lines)


def test_a_loss_that_nobody_starts_from_is_told(tmp_path):
    with pytest.warns(RuntimeWarning, match=r"no backward\(\) started from a value reported as 'main/other'"):
        make(tmp_path, DumpGraph("main/other")).run()
    assert not (tmp_path / "cg.dot").exists()


def test_backward_from_somewhere_else_is_told(tmp_path):
    with pytest.warns(RuntimeWarning, match="no backward"):
        make(tmp_path, DumpGraph("main/loss"), times=3).run()


def test_a_run_that_goes_on_writes_no_second_graph(tmp_path):
    first = make(tmp_path, DumpGraph("main/loss"))
    first.run()
    (tmp_path / "cg.dot").unlink()
    second = make(tmp_path, DumpGraph("main/loss"))
    second.load_state(first.state())
    second.stop_trigger.period = 5
    second.run()
    assert second.updater.iteration == 5
    assert not (tmp_path / "cg.dot").exists()


def test_an_iteration_that_fails_leaves_no_hook_behind(tmp_path):
    trainer = make(tmp_path, DumpGraph("main/loss"))
    trainer.updater.iterators["main"].dataset[:] = np.nan
    trainer.updater.converter = None
    with pytest.raises(TypeError):
        trainer.run()
    assert this_thread.hooks == ()


def test_the_function_of_chainers_name_makes_one(tmp_path):
    make(
        tmp_path, extensions.dump_graph("main/loss", filename="g.dot"), extensions.dump_graph(root_name="main/number")
    ).run()
    assert (tmp_path / "g.dot").read_text() == (tmp_path / "cg.dot").read_text()
