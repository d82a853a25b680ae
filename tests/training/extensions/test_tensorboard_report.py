"""Events for TensorBoard from a trainer; that its bytes are right is tested with EventFile."""

import struct

import numpy as np
import pytest

from cvzoo.links.connection.linear import Linear
from cvzoo.reporting.reporter import report
from cvzoo.training.extensions.tensorboard_report import TensorBoardReport
from cvzoo.training.tensorboard.event import summary_event, version_event


def events(folder):
    """The records without their first field, the time, which differs from run to run."""
    (path,) = folder.glob("events.out.tfevents.*.cvzoo")
    data, found = path.read_bytes(), []
    while data:
        (length,) = struct.unpack_from("<Q", data)
        found.append(data[12 + 9 : 12 + length])
        data = data[16 + length :]
    return found


def of(step, values):
    return summary_event(0.0, step, values)[9:]


def act(iteration):
    report({"main/loss": float(iteration)})


VERSION = version_event(0.0)[9:]


def test_an_interval_is_an_event(counting_trainer, tmp_path):
    counting_trainer([TensorBoardReport()], act).run()
    assert events(tmp_path) == [
        VERSION,
        of(4, {"main/loss": 2.5, "epoch": 1.0}),
        of(8, {"main/loss": 6.5, "epoch": 2.0}),
    ]


def test_a_new_run_in_the_folder_takes_the_old_one_s_place(counting_trainer, tmp_path):
    (tmp_path / "events.out.tfevents.1.cvzoo").write_bytes(b"old")
    (tmp_path / "events.out.tfevents.1.other").write_bytes(b"somebody else's")
    counting_trainer([TensorBoardReport()], act).run()
    assert len(events(tmp_path)) == 3
    assert (tmp_path / "events.out.tfevents.1.other").exists()


@pytest.mark.parametrize("stop", range(1, 8))
def test_a_run_that_goes_on_has_the_events_of_one_never_stopped(counting_trainer, tmp_path, stop):
    def make():
        return counting_trainer([TensorBoardReport(trigger=(3, "iteration"), folder="tb")], act, (10, "iteration"))

    make().run()
    whole = events(tmp_path / "tb")
    states = []
    first = make()
    first.extend(lambda trainer: states.append(trainer.state()), trigger=(stop, "iteration"), priority=-1000)
    first.run()
    second = make()
    second.load_state(states[0])
    second.run()
    assert events(tmp_path / "tb") == whole
    assert len(whole) == 4


def test_lost_events_are_told(counting_trainer, tmp_path):
    first = counting_trainer([TensorBoardReport()], act)
    first.run()
    state = first.state()
    (path,) = tmp_path.glob("events.*")
    path.unlink()
    second = counting_trainer([TensorBoardReport()], act, (3, "epoch"))
    second.load_state(state)
    with pytest.warns(RuntimeWarning, match="earlier events for TensorBoard are lost"):
        second.run()
    assert events(tmp_path) == [VERSION, of(12, {"main/loss": 10.5, "epoch": 3.0})]


def test_histograms_of_parameters_and_gradients_are_written(counting_trainer, tmp_path):
    link = Linear(2, 3)
    link.W.array[...] = 2
    link.W.grad = np.zeros((3, 2), np.float32)
    counting_trainer([TensorBoardReport(link=link)], act, (1, "epoch")).run()
    _, event = events(tmp_path)
    for tag in (b"W", b"W/grad", b"b"):
        assert bytes([10, len(tag)]) + tag in event
    assert b"b/grad" not in event
