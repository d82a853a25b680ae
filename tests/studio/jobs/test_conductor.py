"""Jobs with real processes: a training is imitated, its supervisor is not."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import types

import pytest

from cvzoo.studio.jobs import conductor as conductor_module
from cvzoo.studio.jobs.conductor import Conductor, attempt_folder, error_in, is_held
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.worker.attempt import EXIT, LOG, STARTED, Limits
from cvzoo.studio.worker.landlock import landlock_version

TRAINING = pathlib.Path(__file__).with_name("fake_training.py")
SPEC = TrainSpec("ssd300", "voc:shapes", (("lr", "0.1"),))


@pytest.fixture(autouse=True)
def imitated(monkeypatch):
    monkeypatch.setattr(conductor_module, "argv_of", lambda spec, run: [sys.executable, str(TRAINING), str(run)])
    monkeypatch.setenv("PASSWORD", "secret")


class Machine:
    """The conductor of a studio, and a job."""

    def __init__(self, studio):
        self.studio = studio
        self.before = []  # conductors of servers that died
        self.later = 0.0  # seconds
        self.conductor = Conductor(studio.jobs, studio.place, self.clock)
        self.id = studio.jobs.create("mine", SPEC, None).id
        self.run = studio.place.run(self.id)

    @property
    def job(self):
        return self.studio.jobs.get(self.id)

    @property
    def attempt(self):
        return attempt_folder(self.run, self.job.attempt)

    def until(self, *states, attempt=None):
        """Ticks until the job is in one of the states."""
        return self.until_true(lambda: self.job.state in states and (attempt is None or self.job.attempt == attempt))

    def until_true(self, condition):
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end, (self.job, self.log())
            self.conductor.tick()
            time.sleep(0.03)  # the processes that are waited for need the CPU
        return self.job

    def restart(self):
        """As after kill -9 of the server."""
        self.before.append(self.conductor)
        self.conductor = Conductor(self.studio.jobs, self.studio.place, self.clock)

    def clock(self):
        return time.monotonic() + self.later

    def ask(self, event):
        assert self.studio.jobs.apply(self.job, event) is not None

    def log(self):
        path = self.attempt / LOG
        return path.read_text() if path.exists() else ""

    def rows(self):
        return [json.loads(line)["iteration"] for line in (self.run / "live.jsonl").read_text().splitlines()]

    def supervisor(self):
        return json.loads((self.attempt / STARTED).read_text())["pid"]

    def trainer(self):
        """The process id of the training: the supervisor's child."""
        pid = self.supervisor()
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def end(self):
        if self.job.state in ("queued", "paused", "starting", "running", "pausing", "stopping"):
            self.ask("kill")
        self.until("stopped", "succeeded", "failed")
        for conductor in (*self.before, self.conductor):
            self.conductor = conductor
            self.until_true(lambda: not self.conductor.n_child)
        assert not is_held(self.studio.place.lock(self.id, self.job.attempt))


@pytest.fixture
def machine(studio):
    machine = Machine(studio)
    yield machine
    machine.end()


def test_a_job_is_queued_runs_and_succeeds(machine):
    assert machine.job.state == "queued"
    machine.until("running")
    (machine.run / "finish").touch()
    assert machine.until("succeeded").detail == ""
    end = json.loads((machine.attempt / EXIT).read_text())
    assert (end["code"], end["signal"], end["reason"]) == (0, None, None)
    assert machine.log() == "False\n"  # no variable that it does not need


def test_a_job_changes_nothing_but_its_folder(machine, studio, monkeypatch, tmp_path):
    code = (
        "import pathlib, sys, tempfile\n"
        "for path in [tempfile.gettempdir(), *sys.argv[1:]]:\n"
        "    try:\n        pathlib.Path(path, 'new').write_text('x'); print('written')\n"
        "    except OSError as error: print(type(error).__name__)\n"
    )
    folders = [str(each) for each in (machine.run, studio.place.home, tmp_path)]
    monkeypatch.setattr(conductor_module, "argv_of", lambda spec, run: [sys.executable, "-c", code, *folders])
    machine.until("failed")  # it wrote no result
    sandbox = json.loads((machine.attempt / STARTED).read_text())["sandbox"]
    refused = "PermissionError" if landlock_version() else "written"
    assert machine.log().split() == ["written", "written", refused, refused]
    assert sandbox.startswith("Landlock" if landlock_version() else "none")


def test_one_runs_after_the_other(machine, studio, clock):
    clock.now += 1
    second = studio.jobs.create("second", SPEC, None)
    machine.until("running")
    assert studio.jobs.get(second.id).state == "queued"
    (machine.run / "finish").touch()
    machine.until_true(lambda: studio.jobs.get(second.id).state == "running")
    assert machine.job.state == "succeeded"
    assert studio.jobs.apply(studio.jobs.get(second.id), "kill") is not None
    machine.until_true(lambda: studio.jobs.get(second.id).state == "stopped")


def test_a_paused_job_resumes_where_it_was(machine):
    machine.until("running")
    machine.ask("pause")
    machine.until("paused")
    before = machine.rows()
    machine.ask("resume")
    machine.until("running", attempt=2)
    machine.until_true(lambda: len(machine.rows()) > len(before))
    rows = machine.rows()
    assert rows == list(range(1, len(rows) + 1))


def test_a_failed_job_says_what_its_log_says_and_can_be_retried(machine):
    machine.until("running")
    (machine.run / "fail").touch()
    assert machine.until("failed").detail == "the data are gone; try: find them"
    (machine.run / "fail").unlink()
    machine.ask("retry")
    machine.until("running", attempt=2)


def test_kill_ends_a_training_that_hears_nothing(machine):
    (machine.run / "deaf").touch()
    machine.until("running")
    machine.ask("stop")
    machine.until_true(lambda: (machine.attempt / "control" / "interrupt").exists())
    assert machine.job.state == "stopping"
    machine.ask("kill")
    assert machine.until("stopped").detail == "Killed."


def test_a_pause_that_is_not_heard_becomes_a_kill(machine):
    (machine.run / "deaf").touch()
    machine.until("running")
    machine.ask("pause")
    machine.until_true(lambda: (machine.attempt / "control" / "interrupt").exists())
    machine.later += 11 * 60
    assert "killed" in machine.until("paused").detail


def test_a_machine_that_was_suspended_while_a_training_pauses_kills_nothing(machine, clock):
    (machine.run / "deaf").touch()
    machine.until("running")
    machine.ask("pause")
    machine.until_true(lambda: (machine.attempt / "control" / "interrupt").exists())
    clock.now += 11 * 3600 * 1000
    machine.conductor.tick()
    assert not (machine.attempt / "control" / "kill").exists()


def test_a_training_that_is_deaf_and_lost_its_supervisor_can_be_killed(machine):
    (machine.run / "deaf").touch()
    machine.until("running")
    trainer = machine.trainer()
    os.kill(machine.supervisor(), signal.SIGKILL)
    machine.ask("kill")
    assert machine.until("stopped").detail == "Killed."
    assert not pathlib.Path(f"/proc/{trainer}/exe").exists()


def test_a_pause_of_a_deaf_training_without_a_supervisor_ends(machine):
    (machine.run / "deaf").touch()
    machine.until("running")
    os.kill(machine.supervisor(), signal.SIGKILL)
    machine.ask("pause")
    machine.conductor.tick()
    machine.later += 11 * 60
    machine.until("paused")


@pytest.mark.parametrize("who", ["supervisor", "trainer"])
def test_what_is_suspended_can_be_killed(machine, who):
    machine.until("running")
    supervisor, trainer = machine.supervisor(), machine.trainer()
    os.kill(supervisor if who == "supervisor" else trainer, signal.SIGSTOP)
    machine.ask("kill")
    machine.conductor.tick()
    machine.later += 11
    assert machine.until("stopped").detail == "Killed."
    assert not pathlib.Path(f"/proc/{trainer}/exe").exists()
    assert not pathlib.Path(f"/proc/{supervisor}/exe").exists()


def test_a_pause_that_a_suspended_supervisor_does_not_hear_ends(machine):
    machine.until("running")
    os.kill(machine.supervisor(), signal.SIGSTOP)
    machine.ask("pause")
    machine.conductor.tick()
    machine.later += 11 * 60
    assert "killed" in machine.until("paused").detail
    assert (machine.run / "live.jsonl").exists()


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", '{"code": "x", "signal": null}'),
        *(pytest.param(text, marks=pytest.mark.slow) for text in ("{", '{"code": ', "\0" * 20)),
    ],
)
def test_a_malformed_end_is_that_of_a_lost_attempt(machine, text, monkeypatch):
    machine.until("running")
    trainer = machine.trainer()
    os.kill(machine.supervisor(), signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(trainer, signal.SIGKILL)
    lock = machine.studio.place.lock(machine.id, 1)
    end = time.monotonic() + 20
    while is_held(lock):
        assert time.monotonic() < end
    (machine.attempt / EXIT).write_text(text)
    with monkeypatch.context() as patched:
        patched.setattr(Conductor, "_admit", lambda *_: None)
        machine.conductor.tick()
    assert machine.job.detail.startswith("Its supervisor and its process were lost")
    machine.until("running", attempt=2)


def test_a_clock_that_was_set_back_does_not_keep_a_job_starting(machine):
    machine.conductor.tick()
    machine.until_true(lambda: (machine.attempt / STARTED).exists() or machine.job.state != "starting")
    later = time.time() + 3600
    os.utime(machine.attempt / STARTED, (later, later))
    machine.until("running")


def test_on_a_disk_that_is_nearly_full_no_job_starts_and_says_why(machine, studio, monkeypatch):
    free = [1 << 30]
    monkeypatch.setattr(Conductor, "_free", lambda self: free[0])
    for _ in range(3):
        machine.conductor.tick()
    assert machine.job.state == "queued"
    assert machine.job.detail == "Waits: the disk has 1.1 GB free, and 2.1 GB are needed to start a job."
    free[0] = 4 << 30
    assert machine.until("running").detail == ""
    free[0] = 1 << 30
    machine.conductor.tick()
    assert machine.job.state == "running"
    free[0] = 100 << 20  # a snapshot still fits
    paused = machine.until("paused")
    assert paused.detail == "Paused, as the disk has 0.1 GB free; resume it when there is more."
    assert (machine.run / "snapshot").exists()
    machine.ask("resume")
    machine.conductor.tick()
    assert machine.job.state == "queued"
    free[0] = 4 << 30
    machine.until("running", attempt=2)


def test_the_disk_of_the_runs_is_looked_at_every_ten_seconds(machine, monkeypatch):
    found = iter([1, 2])
    monkeypatch.setattr(conductor_module.shutil, "disk_usage", lambda path: types.SimpleNamespace(free=next(found)))
    assert [machine.conductor._free() for _ in range(3)] == [1, 1, 1]
    machine.later += 10
    assert machine.conductor._free() == 2


def test_a_supervisor_that_cannot_write_is_started_five_times_ever_later(machine):
    machine.conductor.tick()  # admitted
    (machine.attempt / ".started.json.part").mkdir()  # as on a full disk
    starts = []
    for _ in range(5):
        machine.later += 60
        machine.conductor.tick()
        starts += machine.conductor._children.values()
        machine.until_true(lambda: not machine.conductor.n_child)
        machine.conductor.tick()  # too early for the next one
    assert [each.n_start for each in starts] == [1, 2, 3, 4, 5]
    assert machine.until("failed").detail == "Its supervisor could not be started: Is a directory."


def test_an_error_of_one_job_does_not_keep_the_others_from_running(machine, studio, clock, monkeypatch):
    clock.now += 1
    second = studio.jobs.create("second", SPEC, None)
    machine.conductor.tick()
    monkeypatch.setattr(conductor_module, "lane_of", lambda spec: object())
    machine.conductor.tick()
    follow = Conductor._follow

    def broken(self, job):
        if job.id == machine.id:
            raise OSError("no space left on device")
        follow(self, job)

    with monkeypatch.context() as patched:
        patched.setattr(Conductor, "_follow", broken)
        end = time.monotonic() + 30
        while studio.jobs.get(second.id).state != "running":
            assert time.monotonic() < end
            with pytest.raises(OSError, match="no space left"):
                machine.conductor.tick()
            time.sleep(0.01)
    studio.jobs.apply(studio.jobs.get(second.id), "kill")
    machine.until_true(lambda: studio.jobs.get(second.id).state == "stopped")


def test_a_job_that_cannot_be_admitted_does_not_block_the_queue(machine, studio, clock):
    clock.now += 1
    second = studio.jobs.create("second", SPEC, None)
    (machine.run / "attempts").write_text("no folder")
    with pytest.raises(OSError, match="attempts"):
        machine.conductor.tick()
    assert studio.jobs.get(second.id).state == "starting"
    (machine.run / "attempts").unlink()
    studio.jobs.apply(studio.jobs.get(second.id), "kill")
    machine.until_true(lambda: studio.jobs.get(second.id).state == "stopped")


def test_another_server_goes_on_with_what_runs(machine):
    machine.until("running")
    pid = machine.supervisor()
    machine.restart()
    for _ in range(5):
        machine.conductor.tick()
    assert (machine.job.state, machine.job.attempt, machine.supervisor()) == ("running", 1, pid)
    (machine.run / "finish").touch()
    machine.until("succeeded")


def test_a_server_that_died_before_it_started_the_supervisor(machine):
    machine.conductor.tick()  # admitted
    assert machine.job.state == "starting"
    machine.restart()
    machine.until("running")
    assert machine.job.attempt == 1


def test_a_supervisor_that_is_not_born_in_time_is_ended_before_another_is_started(machine, studio):
    for _ in range(2):  # admitted, and started
        machine.conductor.tick()
    (first,) = [each.process for each in machine.conductor._children.values()]
    os.kill(first.pid, signal.SIGSTOP)  # as on a machine with so much load that it does not come to its first step
    assert not is_held(studio.place.lock(machine.id, 1))
    machine.later += conductor_module._UNBORN_S
    machine.until("running")
    assert first.returncode == -signal.SIGKILL  # it would take the lock when the job has ended
    assert machine.job.attempt == 1


def test_a_killed_training_is_started_again(machine):
    machine.until("running")
    os.kill(machine.trainer(), signal.SIGKILL)
    assert machine.until("running", attempt=2).n_lost <= 1
    (machine.run / "finish").touch()
    machine.until("succeeded")


def test_a_killed_supervisor_makes_the_training_save_and_it_is_started_again(machine):
    machine.until("running")
    os.kill(machine.supervisor(), signal.SIGKILL)
    machine.until("running", attempt=2)
    assert (machine.run / "snapshot").exists()
    # two never trained at the same time, so that no iteration is there twice
    rows = machine.rows()
    assert rows == sorted(set(rows))


@pytest.mark.parametrize("n", [3, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("who", ["trainer", "supervisor", "server"])
def test_kills_at_random_moments_lose_no_row(machine, who, n):
    rng = random.Random(f"{who} {n}")
    (machine.run / "often").touch()
    for _ in range(n):
        machine.until("running")
        attempt, wanted = machine.job.attempt, len(machine.rows()) + rng.randrange(1, 9)
        machine.until_true(lambda wanted=wanted: len(machine.rows()) >= wanted)
        if who == "server":
            machine.restart()
            continue
        os.kill(machine.trainer() if who == "trainer" else machine.supervisor(), signal.SIGKILL)
        machine.until("running", attempt=attempt + 1)
    (machine.run / "finish").touch()
    machine.until("succeeded")
    rows = machine.rows()
    assert sorted(set(rows)) == list(range(1, rows[-1] + 1))
    assert machine.job.attempt == (1 if who == "server" else n + 1)


def test_a_command_that_cannot_be_started_fails(machine, monkeypatch):
    monkeypatch.setattr(conductor_module, "argv_of", lambda spec, run: ["/nonexistent/program"])
    assert machine.until("failed").detail == "It ended with exit status 127."


def test_a_second_supervisor_of_an_attempt_does_nothing(machine, studio):
    machine.until("running")
    pid = machine.supervisor()
    lock = studio.place.lock(machine.id, 1)
    again = [sys.executable, "-m", "cvzoo.studio.worker.supervise", str(machine.attempt), str(lock)]
    assert os.spawnv(os.P_WAIT, sys.executable, again) == 1
    assert machine.supervisor() == pid


def test_jobs_are_found_again_without_the_database(machine, studio, tmp_path):
    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.jobs.job import Jobs

    machine.until("running")
    machine.ask("stop")
    machine.until("stopped")
    studio.engine.dispose()
    for path in studio.place.home.glob("studio.db*"):
        path.unlink()
    engine = ready_database(studio.place)
    jobs = Jobs(engine, studio.place, studio.clock)
    assert jobs.reindex() == 1
    assert jobs.reindex() == 0
    (job,) = jobs.all()
    assert (job.id, job.name, job.spec, job.state, job.attempt) == (machine.id, "mine", SPEC, "stopped", 1)
    engine.dispose()


def test_the_last_error_of_a_log_is_told(tmp_path):
    log = tmp_path / "log.txt"
    assert error_in(log) == ""
    log.write_text("cvzoo train: error: first\nTraceback (most recent call last):\n  x\nValueError: second\nmore\n")
    assert error_in(log) == "ValueError: second"


def test_a_malformed_job_folder_does_not_keep_the_server_from_starting(studio):
    for job, text in (("jb_" + "a" * 16, '{"recipe": "ssd300"}'), ("jb_" + "b" * 16, '{"settings": {}}')):
        studio.place.run(job).mkdir()
        (studio.place.run(job) / "job.json").write_text(text)
    assert studio.jobs.reindex() == 0


HANGS = """
import os, sys, threading, time
run, how = sys.argv[1:]
alive = os.path.join(os.environ["CVZOO_LAUNCH_FOLDER"], f"alive-{os.environ['CVZOO_LAUNCH_RANK']}")
def step(i):
    with open(alive, "r+") as file:
        file.write("%-20d" % i)
def looks():
    try:
        with open(os.path.join(os.path.dirname(alive), "usage.jsonl")) as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0
open(os.path.join(run, "live.jsonl"), "a").write('{"iteration": 1}\\n')
step(2)
n = looks()
while looks() < n + 2:  # a line is written before each look
    time.sleep(0.01)
if how != "start":
    step(42)  # an iteration takes a 40th of the time, so that ten of them are less than the limit
def waits_for_ever():
    if how == "crash":
        os.abort()
    threading.Event().wait()
waits_for_ever()
"""


@pytest.fixture
def hanging(monkeypatch):
    """Sets how the training of the machine hangs; that it does is seen at the next look."""

    def hang(how):
        # only the wait that is tested is short: on a busy machine, the process takes long to begin
        limits = {"iteration": 0.1, "validation": 0.1, "setup": 60.0, "start": 0.1 if how == "start" else 60.0}
        monkeypatch.setattr(conductor_module, "LIMITS", limits)
        assert set(limits) == {field.name for field in dataclasses.fields(Limits)}
        monkeypatch.setattr(conductor_module, "argv_of", lambda spec, run: [sys.executable, "-c", HANGS, str(run), how])

    return hang


def test_a_training_that_hangs_is_ended_with_its_stacks_and_started_again(machine, hanging):
    hanging("iteration")
    machine.until("queued", "starting", "running")
    machine.until_true(lambda: machine.job.outcome is not None)
    outcome = machine.job.outcome
    assert (outcome.word, outcome.step, outcome.is_final) == ("hung", 42, False)
    first = attempt_folder(machine.run, 1)
    log = (first / LOG).read_text()
    assert "Fatal Python error: Aborted" in log
    assert "in waits_for_ever" in log
    assert json.loads((first / EXIT).read_text())["reason"] == "hung"
    job = machine.until("failed")  # at the same iteration again
    assert (job.attempt, job.outcome.word) == (2, "poisoned")
    assert "second time at iteration 42" in job.detail
    rows = [json.loads(line) for line in (first / "usage.jsonl").read_text().splitlines()]
    assert rows
    assert rows[-1]["processes"] >= 1
    assert rows[-1]["memory"] > 1 << 20


def test_what_crashes_twice_at_one_iteration_is_not_tried_a_third_time(machine, hanging):
    hanging("crash")
    job = machine.until("failed")
    assert (job.attempt, job.outcome.word, job.outcome.signal) == (2, "poisoned", signal.SIGABRT)


def test_what_does_not_begin_is_ended(machine, hanging):
    hanging("start")
    machine.until_true(lambda: machine.job.outcome is not None)
    assert machine.job.outcome.word == "start-timeout"


STACKS = """
import faulthandler, os, signal, subprocess, sys, time
run = sys.argv[1]
faulthandler.register(signal.SIGUSR1)
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])  # has no handler
open(os.path.join(run, "live.jsonl"), "a").write('{"iteration": 1}\\n')
def waits_for_the_end():
    while not os.path.exists(os.path.join(run, "finish")):
        time.sleep(0.05)
waits_for_the_end()
sys.exit(3 if other.poll() is not None else 0)
"""


def test_a_job_that_is_asked_for_its_stacks_writes_them_and_goes_on(machine, monkeypatch, browser):
    monkeypatch.setattr(conductor_module, "argv_of", lambda spec, run: [sys.executable, "-c", STACKS, str(run)])
    assert browser.post(f"/api/v1/jobs/{machine.id}:dump").status_code == 409  # it waits
    machine.until("running")
    pid = machine.trainer()
    machine.until_true(lambda: len(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()) == 1)
    for n in (1, 2):
        assert browser.post(f"/api/v1/jobs/{machine.id}:dump").status_code == 202
        machine.until_true(lambda n=n: machine.log().count("in waits_for_the_end") >= n)
    assert "stacks of 1 processes were asked for" in machine.log()
    assert "Write its stacks into the log" in browser.get(f"/jobs/{machine.id}/facts").text
    assert machine.job.state == "running"
    (machine.run / "finish").touch()
    machine.until("failed")  # it left no model
    assert json.loads((machine.attempt / EXIT).read_text())["code"] == 0


def test_the_command_writes_its_stacks_only_in_a_job():
    lines = (
        "import os, runpy, signal, sys",
        "sys.argv[1:] = ['doctor', '--help']",
        "try: runpy.run_module('cvzoo', run_name='__main__')",
        "except SystemExit: os.kill(os.getpid(), signal.SIGUSR1)",
    )
    words = [sys.executable, "-c", "\n".join(lines)]
    for environment, code in (({"CVZOO_STACKS": "1"}, 0), ({}, -signal.SIGUSR1)):
        done = subprocess.run(words, env=os.environ | environment, capture_output=True, check=False)
        assert done.returncode == code
        assert (b"most recent call first" in done.stderr) == (code == 0)


def test_a_job_does_not_read_the_token_of_the_command_line(studio, tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_STUDIO_TOKEN_FILE", str(tmp_path / "token"))
    rights = conductor_module.kept_rights(SPEC, tmp_path, ["x"])
    assert {"x", str(tmp_path / "token")} <= set(rights["hidden"])
