"""Snapshots: which are kept, which is loaded, and what happens when one is damaged or cannot be written."""

import errno
import os
import resource
import signal
import time

import numpy as np
import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.serializers.state_file import read_state, write_state
from cvzoo.training import extensions, triggers
from cvzoo.weights.formats.safetensors import read_safetensors


def names(it):
    return sorted((path.name for path in out(it).iterdir()), key=lambda name: (len(name), name))


def out(it):
    return type(it.out)(it.trainer.out)


@pytest.fixture
def run(small, tmp_path):
    """A function (stop, snapshot=..., **more) -> Small, after its run."""

    def start(stop, snapshot=None, trigger=None, before=None, **more):
        it = small(stop, **more)
        it.out = tmp_path
        it.trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
        it.trainer.extend(snapshot or extensions.snapshot(autoload=True), trigger=trigger)
        if before is not None:
            before(it)
        it.trainer.run()
        return it

    return start


def assert_same(a, b):
    """The same weights, optimizer and log."""
    for name, array in a.weights().items():
        np.testing.assert_array_equal(array, b.weights()[name], err_msg=name)
    assert a.optimizer.t == b.optimizer.t
    drop = [[{**line, "elapsed_time": 0} for line in it.trainer.get_extension("LogReport").log] for it in (a, b)]
    assert drop[0] == drop[1]


def test_a_resumed_run_ends_as_one_that_never_stopped(run):
    straight = run((4, "epoch"), out="straight")
    run((2, "epoch"), out="halves")
    assert_same(run((4, "epoch"), out="halves"), straight)


def test_a_run_that_was_finished_stays_so_and_can_be_made_longer(run):
    first = run((2, "epoch"))
    again = run((2, "epoch"))
    assert again.updater.iteration == first.updater.iteration
    longer = run((3, "epoch"))
    assert longer.updater.iteration == 14


def test_without_autoload_a_run_begins_anew(run):
    run((2, "epoch"))
    it = run((1, "epoch"), extensions.snapshot())
    assert it.updater.iteration == 5


def test_what_a_run_goes_on_from_is_said(run, capsys):
    run((1, "epoch"))
    assert capsys.readouterr().err == ""
    run((2, "epoch"))
    assert "snapshot_iter_5.npz, after iteration 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("n_retains", "kept"),
    [(1, [6]), (2, [5, 6]), (4, [3, 4, 5, 6]), (-1, [1, 2, 3, 4, 5, 6]), (99, [1, 2, 3, 4, 5, 6])],
)
def test_the_newest_are_kept(run, n_retains, kept):
    it = run((6, "iteration"), extensions.snapshot(n_retains=n_retains), (1, "iteration"))
    assert names(it) == ["log", *(f"snapshot_iter_{i}.npz" for i in kept)]


def test_the_newest_are_kept_across_a_resume(run):
    for stop in range(1, 7):
        it = run((stop, "iteration"), trigger=(1, "iteration"))
    assert names(it) == ["log", "snapshot_iter_5.npz", "snapshot_iter_6.npz"]


@pytest.mark.parametrize(("best_is", "kept"), [("largest", [3, 6]), ("smallest", [5, 6])])
def test_the_best_is_kept_too_the_last_of_equal_ones(run, best_is, kept):
    scores = [3.0, 2.0, 9.0, float("nan"), 2.0, 3.0]

    def report_scores(it):
        it.trainer.extend(lambda t: t.observation.update(score=scores[t.updater.iteration - 1]), priority=300)

    for stop in (3, 6):
        snapshot = extensions.snapshot(n_retains=1, keep_best="score", best_is=best_is, autoload=True)
        it = run((stop, "iteration"), snapshot, (1, "iteration"), report_scores)
    assert names(it) == ["log", *(f"snapshot_iter_{i}.npz" for i in kept)]


def test_another_runs_files_are_left_alone(run, tmp_path):
    run((4, "iteration"), extensions.snapshot(n_retains=-1), (2, "iteration"))
    it = run((3, "iteration"), extensions.snapshot(n_retains=1), (1, "iteration"))
    assert names(it) == ["log", "snapshot_iter_3.npz", "snapshot_iter_4.npz"]


def test_what_was_written_last_is_loaded_not_what_counts_most_iterations(run):
    run((4, "iteration"), extensions.snapshot(), (4, "iteration"))
    run((2, "iteration"), extensions.snapshot(), (2, "iteration"))  # another run in the same folder
    for path in sorted(out(run((1, "iteration"), extensions.snapshot(), lambda t: False)).glob("snap*")):
        os.utime(path, (0, 0))  # a copied folder has other times
    assert run((3, "iteration"), trigger=lambda t: False).trainer.get_extension("LogReport").log[-1]["iteration"] == 3


@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_goes_back_loses_nothing(run, monkeypatch, restarted):
    """An hour back after iteration 6; the newest snapshot is of iteration 12, or 4 of a run begun anew since."""
    clock = [10**18]
    monkeypatch.setattr(time, "time_ns", lambda: clock[0])

    def turn(it):
        it.trainer.extend(lambda t: clock.append(clock.pop() + (10**9 if t.updater.iteration != 6 else -36 * 10**11)))

    run((12, "iteration"), extensions.snapshot(n_retains=-1), (2, "iteration"), turn)
    if restarted:
        run((4, "iteration"), extensions.snapshot(), (2, "iteration"))
    stays = run((1, "iteration"), before=lambda it: None)
    assert stays.updater.iteration == (4 if restarted else 12)


def damage_newest(it, how):
    path = out(it) / f"snapshot_iter_{it.updater.iteration}.npz"
    whole = path.read_bytes()
    if how == "cut off":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        place = whole.index(b"\x93NUMPY", len(whole) // 2) + 200
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    return path


@pytest.mark.parametrize("how", ["cut off", "empty", "a flipped bit"])
def test_a_damaged_snapshot_is_named_and_the_one_before_is_used(run, how):
    straight = run((4, "epoch"), out="straight")
    damaged = damage_newest(run((3, "epoch")), how)
    with pytest.warns(RuntimeWarning, match=f"damaged snapshot is skipped.*{damaged.name}"):
        it = run((4, "epoch"))
    assert_same(it, straight)


def test_without_a_whole_snapshot_a_run_begins_anew(run):
    it = run((1, "epoch"))
    damage_newest(it, "cut off")
    with pytest.warns(RuntimeWarning, match="is skipped"):
        assert run((2, "iteration")).updater.iteration == 2


def test_a_snapshot_of_another_training_is_an_error(run):
    it = run((1, "epoch"))
    with pytest.raises(ValueRangeError, match="n_example"):
        run((2, "epoch"), dataset=it.train[:-1])


def test_extensions_that_came_since_are_named(run):
    run((1, "epoch"))
    with pytest.warns(RuntimeWarning, match="'PrintReport' is not in the state: it starts from the beginning"):
        run((2, "epoch"), before=lambda it: it.trainer.extend(extensions.PrintReport(["epoch"])))


def test_what_a_killed_process_left_is_swept_up(run, tmp_path):
    (tmp_path / "result").mkdir()
    (tmp_path / "result/.snapshot_iter_7.npz.abc.part").write_bytes(b"half")
    (tmp_path / "result/.other.part").write_bytes(b"not ours")
    assert names(run((1, "epoch"))) == ["log", ".other.part", "snapshot_iter_5.npz"]


def test_a_full_disk_is_told_and_loses_nothing(run):
    """The first snapshots fit, then none does until there is room again."""
    size = None

    def fill(trainer):
        nonlocal size
        iteration = trainer.updater.iteration
        size = size or resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000 if iteration in (3, 4) else size[0], size[1]))

    try:
        with pytest.warns(RuntimeWarning, match=r"snapshot_iter_[34].npz could not be written: File too large") as told:
            it = run(
                (6, "iteration"),
                extensions.snapshot(n_retains=2),
                (1, "iteration"),
                lambda it: it.trainer.extend(fill, priority=0),
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
    saved = read_state(out(it) / "snapshot_iter_6.npz")["extensions"]["snapshot"]["state"]["written"]
    assert len([each for each in told if "snapshot" in str(each.message)]) == 2
    assert names(it) == ["log", "snapshot_iter_5.npz", "snapshot_iter_6.npz"]
    assert [int(name[14:-4]) for name in saved][-2:] == [5, 6]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
def test_whatever_keeps_a_file_from_being_written_the_old_ones_stay(run, monkeypatch, error):
    def full(descriptor):
        raise OSError(error, os.strerror(error))

    def break_disk(trainer):
        if trainer.updater.iteration > 2:
            monkeypatch.setattr(os, "fsync", full)

    before = lambda it: it.trainer.extend(break_disk, priority=300)  # noqa: E731
    with pytest.warns(RuntimeWarning, match=os.strerror(error)):
        it = run((5, "iteration"), extensions.snapshot(n_retains=1), (1, "iteration"), before)
    assert it.updater.iteration == 5
    assert names(it) == ["log", "snapshot_iter_2.npz"]
    assert read_state(out(it) / "snapshot_iter_2.npz")["updater"]["iteration"] == 2
    monkeypatch.undo()
    assert_same(run((5, "iteration"), extensions.snapshot(autoload=True)), it)


def test_ctrl_c_saves_and_says_how_to_go_on(run, capsys):
    straight = run((4, "epoch"), out="straight")
    stop = lambda it: it.trainer.extend(lambda t: os.kill(os.getpid(), signal.SIGINT), trigger=(7, "iteration"))  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        run((4, "epoch"), before=stop)
    said = capsys.readouterr().err
    assert "stopped after iteration 7" in said
    assert "saved in" in said
    assert "resume with: a trainer with extensions.snapshot(autoload=True)" in said
    never = lambda it: it.trainer.extend(lambda t: None, trigger=lambda t: False)  # noqa: E731
    assert_same(run((4, "epoch"), before=never), straight)


def test_ctrl_c_on_a_full_disk_says_so(run, capsys, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def stop(it):
        it.trainer.extend(lambda t: monkeypatch.setattr(os, "fsync", full), priority=300)
        it.trainer.extend(lambda t: os.kill(os.getpid(), signal.SIGINT), trigger=(2, "iteration"))

    with pytest.warns(RuntimeWarning, match="No space left"), pytest.raises(KeyboardInterrupt):
        run((4, "epoch"), before=stop)
    assert "could not be saved" in capsys.readouterr().err


@pytest.mark.parametrize(
    "kwargs",
    [
        {"filename": "snapshot.npz"},
        {"filename": "a/{iteration}"},
        {"n_retains": 0},
        {"n_retains": -2},
        {"best_is": "max"},
    ],
)
def test_settings_without_sense_are_refused(kwargs):
    with pytest.raises(ValueRangeError, match="snapshot"):
        extensions.snapshot(**kwargs)


def test_a_snapshot_can_have_another_name(run):
    it = run((2, "epoch"), extensions.snapshot("at-{iteration}.state", autoload=True))
    assert names(it) == ["log", "at-5.state", "at-9.state"]
    assert run((3, "epoch"), extensions.snapshot("at-{iteration}.state", autoload=True)).updater.iteration == 14


def test_a_state_without_its_parts_is_told(run, tmp_path):
    (tmp_path / "result").mkdir()
    write_state(tmp_path / "result/snapshot_iter_3.npz", {"something": "else"})
    with pytest.raises(ValueRangeError, match="the state is not a trainer's"):
        run((1, "iteration"))


def test_links_are_written_where_a_trigger_says(run):
    seen = {}

    def extend(it):
        it.trainer.extend(lambda t: t.observation.update(score=-abs(t.updater.iteration - 3)), priority=300)
        best = triggers.MaxValueTrigger("score", (1, "iteration"))
        it.trainer.extend(extensions.snapshot_object(it.model, "best.safetensors"), trigger=best)
        it.trainer.extend(extensions.snapshot_object(it.model.predictor, "net-{iteration}-{epoch}.npz"))
        it.trainer.extend(lambda t: seen.update({t.updater.iteration: it.weights()}))

    it = run((1, "epoch"), before=extend)
    best = read_safetensors(out(it) / "best.safetensors")
    for name, array in seen[3].items():
        np.testing.assert_array_equal(best[name], array)
    assert (out(it) / "net-5-1.npz").is_file()


@pytest.mark.parametrize("filename", ["model_{.updater.epoch}.npz", "model_{epoch}.npz", "model_{.updater.iteration}"])
def test_files_may_be_numbered_by_epochs_and_as_chainer_writes_it(run, filename):
    it = run((2, "epoch"), extensions.snapshot(filename, n_retains=-1))
    numbers = [int("".join(c for c in name if c.isdigit())) for name in names(it) if name.startswith("model_")]
    last = it.trainer.updater.epoch if "epoch" in filename else it.trainer.updater.iteration
    assert numbers == [-(-last // 2), last]
    again = run((2, "epoch"), extensions.snapshot(filename, autoload=True), out="again")
    twin = run((3, "epoch"), extensions.snapshot(filename, autoload=True), out="again")
    assert twin.trainer.updater.epoch == 3
    assert again.trainer.updater.epoch == 2


def test_a_name_without_a_number_is_refused():
    with pytest.raises(ValueRangeError, match="no placeholder for a number"):
        extensions.snapshot("model.npz")
