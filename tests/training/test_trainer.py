"""The loop: who is called when, with what, and what happens when something goes wrong."""

import os
import pathlib
import signal
import threading

import numpy as np
import pytest

import cvzoo
from cvzoo.errors import DtypeError, FileFormatError, GraphError, ValueRangeError, WeightsMismatchError
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import MultiprocessIterator, SerialIterator
from cvzoo.optimizers import SGD
from cvzoo.reporting import report
from cvzoo.serializers import load_npz, save_npz
from cvzoo.training import AbstractExtension, StandardUpdater, Trainer, extensions, make_extension, triggers


class Spy(AbstractExtension):
    """Writes down what it is called for."""

    def __init__(self, calls, name="spy"):
        self.calls = calls
        self.default_name = name

    def __call__(self, trainer):
        self.calls.append((self.name, trainer.updater.iteration))

    def restore(self, trainer):
        self.calls.append((self.name, "restore"))

    def initialize(self, trainer):
        self.calls.append((self.name, "initialize"))

    def finalize(self):
        self.calls.append((self.name, "finalize"))

    def on_error(self, trainer, exception):
        self.calls.append((self.name, repr(exception)))

    def on_interrupt(self, trainer):
        return f"{self.name} saved nothing"

    def state(self):
        return {"n": len(self.calls)}


def test_the_loss_falls_and_is_observed(small):
    all_losses = []
    it = small(stop=(10, "epoch"))
    it.trainer.extend(lambda trainer: all_losses.append(float(trainer.observation["main/loss"])))
    it.trainer.run()
    assert len(all_losses) == it.updater.iteration == 44
    assert np.mean(all_losses[-10:]) < 0.5 * np.mean(all_losses[:10])
    assert set(it.trainer.observation) == {"main/loss", "main/accuracy"}
    assert it.optimizer.epoch == 10
    assert it.trainer.elapsed_time > 0


@pytest.mark.parametrize(("stop", "iterations"), [((3, "epoch"), 14), ((7, "iteration"), 7), ((0.5, "epoch"), 3)])
def test_it_stops_when_it_should(small, stop, iterations):
    it = small(stop)
    it.trainer.run()
    assert it.updater.iteration == iterations
    it.trainer.run()  # nothing is left to do
    assert it.updater.iteration == iterations


def test_a_function_can_stop_it(small):
    it = small(lambda trainer: trainer.updater.iteration == 2)
    it.trainer.run()
    assert it.updater.iteration == 2


def test_extensions_are_called_in_the_order_of_priority_then_of_coming(small):
    calls = []
    it = small((1, "iteration"))
    it.trainer.extend(lambda trainer: calls.append("reader"))
    it.trainer.extend(lambda trainer: calls.append("late"), priority=-5)
    it.trainer.extend(lambda trainer: calls.append("reader 2"))
    it.trainer.extend(lambda trainer: calls.append("writer"), priority=300)
    it.trainer.run()
    assert calls == ["writer", "reader", "reader 2", "late"]


def test_an_extension_lives_from_restore_to_finalize(small):
    calls = []
    it = small((2, "iteration"))
    it.trainer.extend(Spy(calls), trigger=(2, "iteration"), call_before_training=True)
    it.trainer.run()
    assert calls == [("spy", "restore"), ("spy", "initialize"), ("spy", 0), ("spy", 2), ("spy", "finalize")]


def test_names_are_made_unique(small):
    it = small()
    spies = [Spy([]) for _ in range(3)]
    for spy in spies:
        it.trainer.extend(spy)
    it.trainer.extend(len, name="spy", trigger=(99, "epoch"))
    assert [spy.name for spy in spies] == ["spy", "spy_1", "spy_2"]
    assert it.trainer.get_extension("spy_1") is spies[1]
    assert it.trainer.get_extension("spy_3") is len
    with pytest.raises(ValueRangeError, match="the trainer has no extension 'spi'"):
        it.trainer.get_extension("spi")


def test_what_cannot_be_called_is_no_extension(small):
    with pytest.raises(ValueRangeError, match="an extension, an evaluator or a function"):
        small().trainer.extend(3)


def test_made_extensions_bring_their_settings(small):
    calls = []

    @make_extension(
        trigger=(1, "epoch"),
        priority=200,
        initializer=lambda trainer: calls.append("first"),
        finalizer=lambda: calls.append("last"),
    )
    def tell(trainer):
        calls.append(trainer.updater.iteration)

    it = small((2, "epoch"))
    it.trainer.extend(tell)
    it.trainer.run()
    assert calls == ["first", 5, 9, "last"]
    assert it.trainer.get_extension("tell") is tell


def test_values_reported_by_extensions_are_observed(small):
    seen = []
    it = small((1, "iteration"))
    it.trainer.extend(lambda trainer: report({"mine": 3}), priority=300)
    it.trainer.extend(lambda trainer: seen.append(trainer.observation["mine"]))
    it.trainer.run()
    assert seen == [3]


def test_all_are_told_of_an_error_and_ended(small):
    calls = []
    it = small((5, "iteration"))
    it.trainer.extend(Spy(calls, "a"), trigger=lambda trainer: False)
    it.trainer.extend(Spy(calls, "b"), trigger=lambda trainer: False)

    @it.trainer.extend
    def fail(trainer):
        if trainer.updater.iteration == 2:
            raise GraphError("broken")

    with pytest.raises(GraphError, match="broken"):
        it.trainer.run()
    assert it.updater.iteration == 2
    told = [call for call in calls if call[1] not in ("restore", "initialize")]
    assert told == [
        ("a", "GraphError('broken')"),
        ("b", "GraphError('broken')"),
        ("a", "finalize"),
        ("b", "finalize"),
    ]


def test_one_that_fails_at_its_end_does_not_keep_others_from_theirs(small):
    calls = []
    it = small((1, "iteration"))

    def refuse():
        raise GraphError("no end")

    it.trainer.extend(make_extension(finalizer=refuse)(lambda trainer: None))
    it.trainer.extend(Spy(calls), trigger=lambda trainer: False)
    with pytest.raises(GraphError, match="no end"):
        it.trainer.run()
    assert calls[-1] == ("spy", "finalize")


def test_the_output_folder_is_made(small, tmp_path):
    it = small((1, "iteration"), out="a/b/c")
    assert not (tmp_path / "a").exists()
    it.trainer.run()
    assert (tmp_path / "a/b/c").is_dir()


def test_an_output_folder_that_cannot_be_is_told_before_training(small, tmp_path):
    (tmp_path / "file").write_text("")
    it = small(out="file/below")
    with pytest.raises(OSError, match=r"the output folder is not writable.*below"):
        it.trainer.run()
    assert it.updater.iteration == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_folder_without_permission_is_told(small, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(PermissionError, match=r"the output folder is not writable.*locked"):
        small(out="locked").trainer.run()


def test_ctrl_c_finishes_the_iteration_and_says_that_nothing_was_saved(small, capsys):
    finished = []
    it = small((50, "epoch"))
    it.trainer.extend(lambda t: os.kill(os.getpid(), signal.SIGINT), trigger=(3, "iteration"), priority=400)
    it.trainer.extend(lambda t: finished.append(t.updater.iteration))
    with pytest.raises(KeyboardInterrupt):
        it.trainer.run()
    assert finished == [1, 2, 3]
    said = capsys.readouterr().err
    assert "stops after this iteration" in said
    assert "stopped after iteration 3" in said
    assert "nothing was saved: extend the trainer with extensions.snapshot()" in said
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_other_signals_finish_the_iteration_and_end_with_the_status_of_a_shell(small, capfd, number, status):
    finished = []
    it = small((50, "epoch"))
    it.trainer.extend(extensions.snapshot(), trigger=(50, "epoch"))
    it.trainer.extend(lambda t: os.kill(os.getpid(), number), trigger=(3, "iteration"), priority=400)
    it.trainer.extend(lambda t: finished.append(t.updater.iteration))
    with pytest.raises(SystemExit) as caught:
        it.trainer.run()
    assert caught.value.code == status
    assert finished == [1, 2, 3]
    assert pathlib.Path(it.trainer.out, "snapshot_iter_3.npz").is_file()
    said = capfd.readouterr().err
    assert f"{number.name}: stops after this iteration" in said
    assert "stopped after iteration 3" in said
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_signal_that_is_ignored_or_handled_stays_so(small):
    heard = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        it = small((3, "iteration"))
        it.trainer.extend(lambda t: [os.kill(os.getpid(), each) for each in (signal.SIGHUP, signal.SIGTERM)])
        it.trainer.run()
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])
    assert it.updater.iteration == len(heard) == 3


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)]
)
def test_a_second_signal_stops_at_once(small, number, error):
    finished = []
    it = small((50, "epoch"))

    @it.trainer.extend
    def twice(trainer):
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        signal.pthread_kill(threading.get_ident(), 0)

    it.trainer.extend(lambda t: finished.append(1))
    with pytest.raises(error):
        it.trainer.run()
    assert finished == []


def test_ctrl_c_in_the_last_iteration_is_heard_too(small):
    it = small((3, "iteration"))
    it.trainer.extend(lambda t: os.kill(os.getpid(), signal.SIGINT), trigger=(3, "iteration"))
    with pytest.raises(KeyboardInterrupt):
        it.trainer.run()
    assert it.updater.iteration == 3


def test_it_runs_in_another_thread(small):
    it = small((2, "iteration"))
    thread = threading.Thread(target=it.trainer.run)
    thread.start()
    thread.join()
    assert it.updater.iteration == 2


def test_worker_processes_end_with_training_and_with_errors(small):
    for fails in (False, True):
        it = small()
        iterator = MultiprocessIterator(it.train, 5, n_processes=1, seed=0)
        trainer = Trainer(StandardUpdater(iterator, it.optimizer), (2, "iteration"), out=it.trainer.out)

        @make_extension(trigger=(2, "iteration"))
        def fail(trainer, fails=fails):
            if fails:
                raise GraphError("broken")

        trainer.extend(fail)
        if fails:
            with pytest.raises(GraphError):
                trainer.run()
        else:
            trainer.run()
        assert iterator._pool is None


class Finder:
    """Finds each object of an image, which holds its number, but those of image 1."""

    def __init__(self, bboxes, labels):
        self.bboxes, self.labels = bboxes, labels

    def predict(self, imgs):
        found = [int(img[0, 0, 0]) for img in imgs]
        bboxes = [self.bboxes[i] if i != 1 else self.bboxes[i][:0] for i in found]
        labels = [self.labels[i] if i != 1 else self.labels[i][:0] for i in found]
        return bboxes, labels, [np.ones(len(label), np.float32) for label in labels]


def test_evaluators_of_detectors_report_into_the_trainer(small):
    rng = np.random.default_rng(0)
    bboxes = [np.float32([[0, 0, 10, 10], [5, 5, 20, 30]]) + i for i in range(4)]
    labels = [rng.integers(0, 2, 2).astype(np.int32) for _ in range(4)]
    data = [(np.full((3, 4, 4), i, np.float32), bboxes[i], labels[i]) for i in range(4)]
    iterator = SerialIterator(data, 2, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(iterator, Finder(bboxes, labels), label_names=("cat", "dog"))
    seen = []
    it = small((2, "epoch"))
    it.trainer.extend(evaluator)
    it.trainer.extend(DetectionVOCEvaluator(iterator, Finder(bboxes, labels)), name="again", trigger=(2, "epoch"))
    it.trainer.extend(extensions.LogReport())
    it.trainer.extend(lambda trainer: seen.append(dict(trainer.observation)), trigger=(1, "epoch"))
    it.trainer.run()
    assert it.trainer.get_extension("validation") is evaluator
    assert set(seen[0]) > {"validation/main/map", "validation/main/ap/cat", "validation/main/ap/dog"}
    assert 0 < seen[0]["validation/main/map"] < 1
    assert "again/main/map" not in seen[0]
    assert seen[1]["again/main/map"] == seen[1]["validation/main/map"]
    assert "validation/main/map" in it.trainer.get_extension("LogReport").log[0]
    assert evaluator()["main/map"] > 0  # alone, as before
    it.trainer.extend(
        extensions.snapshot_object(it.model, "best.npz"), trigger=triggers.MaxValueTrigger("again/main/map")
    )


def test_the_state_of_another_training_is_refused(small):
    it = small((2, "iteration"))
    it.trainer.run()
    state = it.trainer.state()
    other = small(dataset=it.train[:-1])
    with pytest.raises(ValueRangeError, match="n_example"):
        other.trainer.load_state(state)
    model = cvzoo.links.Classifier(cvzoo.links.Linear(4, 3))
    other = Trainer(StandardUpdater(it.iterator, SGD().setup(model)), (2, "iteration"))
    with pytest.raises(ValueError, match="predictor"):
        other.load_state(state)


def test_extensions_that_are_only_on_one_side_are_named(small):
    it = small((2, "iteration"))
    it.trainer.extend(Spy([], "old"))
    it.trainer.run()
    other = small((2, "iteration"))
    other.trainer.extend(Spy([], "new"))
    notes = other.trainer.load_state(it.trainer.state())
    assert any("'new'" in note for note in notes)
    assert any("'old'" in note for note in notes)
    assert other.updater.iteration == 2


def test_save_npz_and_load_npz_take_trainers_and_optimizers(small, tmp_path):
    whole = small((4, "epoch"), out="whole")
    whole.trainer.run()
    half = small((2, "epoch"), out="half")
    half.trainer.run()
    save_npz(tmp_path / "trainer.npz", half.trainer)
    rest = small((4, "epoch"), out="rest", seed=5)
    assert load_npz(tmp_path / "trainer.npz", rest.trainer) is None
    rest.trainer.run()
    assert_same(rest, whole)

    parts = {"model": half.model, "optimizer": half.optimizer, "iterator": half.iterator}
    for name, each in parts.items():
        save_npz(tmp_path / f"{name}.npz", each, compression=False)
    step = small(seed=6)
    for name, each in {"model": step.model, "optimizer": step.optimizer, "iterator": step.iterator}.items():
        load_npz(tmp_path / f"{name}.npz", each)
    assert (step.optimizer.t, step.optimizer.epoch) == (half.optimizer.t, half.optimizer.epoch)
    for run in (half, step):
        cvzoo.set_seed(9)
        run.updater.update()
    assert_same(step, half)


def assert_same(a, b):
    mine, theirs = a.weights(), b.weights()
    assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)


def test_files_of_other_things_are_refused(small, tmp_path):
    run = small()
    save_npz(tmp_path / "model.npz", run.model)
    with pytest.raises(FileFormatError, match="not a state that cvzoo wrote"):
        load_npz(tmp_path / "model.npz", run.optimizer)
    save_npz(tmp_path / "optimizer.npz", run.optimizer)
    with pytest.raises(WeightsMismatchError):
        load_npz(tmp_path / "optimizer.npz", run.model)
    with pytest.raises(WeightsMismatchError, match="another optimizer"):
        load_npz(tmp_path / "optimizer.npz", SGD().setup(run.model))
    with pytest.raises(ValueRangeError, match="the state is not a trainer's"):
        load_npz(tmp_path / "optimizer.npz", run.trainer)
    for bad in ({"W": np.zeros(3)}, np.zeros(3), None):
        with pytest.raises(DtypeError, match="nothing to store"):
            save_npz(tmp_path / "x.npz", bad)
    assert not (tmp_path / "x.npz").exists()
