"""`cvzoo train` on several ranks: killed, short of memory, or interrupted, it is resumed with the same result."""

import os
import pathlib
import re

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.distributed.launching.job import Job, run_job

HERE = pathlib.Path(__file__)
PROGRAM = str(HERE.with_name("rank_program.py"))
stand_ins = module_at(HERE.parents[2] / "docs" / "stand_ins.py")
pytest.importorskip("mpi4py")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("voc")
    stand_ins.drawn_voc(folder, "train", "val", n=8)
    return folder


@pytest.fixture
def train(data, tmp_path):
    """Trains for four epochs; `fault` is what happens in the third, in the first attempt."""

    def run(out, fault="none", **settings):
        words = ("--model", "retinanet_resnet18_small", "--data", f"voc:{data}", "--out", str(tmp_path / out))
        words += ("--epochs", "4", "--size", "96", "--batch-size", "4", "--processes", "0", "--no-check")
        settings = {
            "n": 2,
            "restarts": 1,
            "pause": 0,
            "restart_words": ("--resume",),
            "logs": tmp_path / f"logs of {out}",
        } | settings
        return run_job(Job((PROGRAM, "cvzoo_train", fault, str(os.getpid()), *words), **settings), lambda text: None)

    return run


def weights_in(folder):
    """The arrays of the last snapshot, by path."""
    last = max(folder.glob("snapshot_iter_*.npz"), key=lambda path: int(re.findall(r"\d+", path.name)[-1]))
    with np.load(last) as found:
        return last.name, {name: found[name] for name in found.files if found[name].dtype.kind == "f"}


def test_a_training_whose_rank_was_killed_has_the_same_bits(train, tmp_path):
    assert [each.outcome.status for each in train("whole")] == [0]
    killed = train("killed", "kill")
    assert [(each.n, each.outcome.status) for each in killed] == [(2, 137), (2, 0)]
    (name, whole), (resumed_name, resumed) = weights_in(tmp_path / "whole"), weights_in(tmp_path / "killed")
    assert name == resumed_name == "snapshot_iter_8.npz"
    assert whole.keys() == resumed.keys()
    for path, array in whole.items():
        np.testing.assert_array_equal(array, resumed[path], err_msg=path)


def test_after_exhausted_memory_fewer_ranks_finish_the_training(train, tmp_path):
    reports = train("short", "memory", n=2)
    assert [(each.n, each.outcome.status, each.outcome.is_memory) for each in reports] == [(2, 2, True), (1, 0, False)]
    assert weights_in(tmp_path / "short")[0] == "snapshot_iter_8.npz"


def test_an_interrupted_training_is_saved_and_can_be_resumed(train, tmp_path):
    (report,) = train("interrupted", "interrupt")
    assert report.outcome.status == 130
    name, _ = weights_in(tmp_path / "interrupted")
    assert name != "snapshot_iter_8.npz"
    log = (report.logs / "rank-0.log").read_text()
    assert "saved in" in log
