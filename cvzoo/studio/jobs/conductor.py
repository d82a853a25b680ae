"""What makes jobs run: compares their states with their files, starts supervisors, and tells them what is asked for.

Each step follows from the state alone, so that a server that was killed in the middle does the same again at its start.
"""

import dataclasses
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from cvzoo.files.atomic_write import atomic_write
from cvzoo.files.home import cvzoo_home
from cvzoo.studio.client.token_file import token_file
from cvzoo.studio.jobs.copies import has_snapshot
from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.jobs.json_file import open_regular, read_json_object
from cvzoo.studio.jobs.orphans import kill_orphans
from cvzoo.studio.jobs.outcomes import End, Outcome, Word, judge
from cvzoo.studio.jobs.retry import rest_of
from cvzoo.studio.jobs.rows import last_rows
from cvzoo.studio.jobs.run_record import CONFIG, ITERATIONS, LIVE, number
from cvzoo.studio.jobs.run_state import is_locked
from cvzoo.studio.jobs.spec import PREDICTED_FOLDER, PredictSpec, ProposeSpec, Spec, TrainSpec, argv_of
from cvzoo.studio.jobs.states import LIVING, Event, Facts
from cvzoo.studio.jobs.to_predict import set_aside
from cvzoo.studio.jobs.use import Use
from cvzoo.studio.place import Place, inside
from cvzoo.studio.worker.attempt import (
    BEAT,
    CONTROL,
    DUMP,
    EXIT,
    FAILED,
    INTERRUPT,
    KILL,
    LOG,
    ORDER,
    STARTED,
    Limits,
    delete_temporary,
)
from cvzoo.studio.worker.rights import devices, secrets

INTERVAL_S = 0.5
_KILL_GRACE_S = 10.0  # of a supervisor that does not obey, as it is suspended: then it is killed, too
MIN_FREE = 2 << 30  # bytes of the disk, below which no job is started
_LAST_FREE = 512 << 20  # below which trainings are paused, while a snapshot still fits
_DISK_S = 10.0  # how often the disk is looked at
_GRACE_S = 10 * 60.0  # of an iteration, a validation and a snapshot, after which it is killed
_UNBORN_S = 10.0  # after which a supervisor that did not start is started again
_MAX_START = 5  # of supervisors that end before they have started anything
_ORPHAN_S = 2.0  # how often it is asked whether a training has lost its supervisor: all processes are looked at
LIMITS: dict[str, float | None] = dataclasses.asdict(Limits())  # of silence, after which a job is taken for hanging
_ERROR = re.compile(r"^cvzoo \w+: error: (.*(?:\n  .*)*)|^((?:\w+\.)*\w+(?:Error|Exception)(?:: .*)?)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class _Child:
    """A supervisor that this server started. at: when; n_start: how many of the attempt there were, with this one"""

    process: subprocess.Popen
    at: float
    n_start: int


class Conductor:
    """Runs jobs on this machine: one training, and one of what takes minutes, at a time.

    jobs, place: of the studio
    clock: seconds that do not pass while the machine is suspended, nor when its time is set
    use: of users, whose quotas are looked at; None: there are none
    """

    def __init__(self, jobs: Jobs, place: Place, clock: Callable[[], float] = time.monotonic, use: Use | None = None):
        self._jobs, self._place, self._clock, self._use = jobs, place, clock, use
        self._children: dict[str, _Child] = {}
        self._asked: dict[str, tuple[int, float]] = {}  # job -> the change by which its end was asked for, and when
        self._looked: dict[str, float] = {}  # job -> when it was looked for orphans
        self._disk: tuple[float, int] | None = None  # when it was looked at, and what was free
        self._lock = threading.Lock()

    @property
    def n_child(self) -> int:
        """The number of supervisors that this server started and that live."""
        return sum(each.process.poll() is None for each in self._children.values())

    def tick(self) -> None:
        """Brings all jobs a step further. Raises the first error of a job, after all others had their step."""
        errors: list[Exception] = []
        with self._lock:
            living = self._jobs.living()
            known = {self._place.lock(job.id, job.attempt).name for job in living}
            # an ended one is no zombie then
            self._children = {
                name: each for name, each in self._children.items() if each.process.poll() is None or name in known
            }
            self._asked = {job.id: self._asked[job.id] for job in living if job.id in self._asked}
            free = self._free()
            for job in living:
                try:
                    self._follow(job)
                    if free < _LAST_FREE and isinstance(job.spec, TrainSpec) and job.state == "running":
                        self._jobs.apply(
                            job, "pause", detail=f"Paused, as {_room(free)}; resume it when there is more."
                        )
                except Exception as error:
                    errors.append(error)
            busy = {lane_of(job.spec) for job in self._jobs.living()}
            now = self._jobs.now
            waits = self._reasons(self._jobs.queued(), free, now)
            try:
                self._wait(waits)
            except Exception as error:  # the database may be on that disk
                errors.append(error)
            for job in self._jobs.queued():
                lane = lane_of(job.spec)
                if job.id in waits and waits[job.id][1] and waits[job.id][1] == rest_of(job, now):
                    busy.add(lane)  # it keeps its turn
                if job.id in waits and not waits[job.id][1] and self._use is not None:
                    # with those that were started just now
                    waits[job.id] = job, self._use.reasons([job], self._jobs.living()).get(job.id, "")
                if lane not in busy and not waits.get(job.id, (job, ""))[1]:
                    try:
                        self._admit(job)
                        busy.add(lane)
                    except Exception as error:  # the next one may have a folder that can be written
                        errors.append(error)
        if errors:
            raise errors[0]

    def ask_for_stacks(self, job: Job) -> bool:
        """Has a living job write the stacks of its processes into its output; False if it has no process now."""
        run = self._place.run(job.id)
        folder = attempt_folder(run, job.attempt)
        control = inside(run, *folder.relative_to(run).parts, CONTROL)
        if job.state not in LIVING or control is None or not is_held(self._place.lock(job.id, job.attempt)):
            return False
        (control / DUMP).touch()
        return True

    def _free(self) -> int:
        """The bytes that are free on the disk of the runs."""
        now = self._clock()
        if self._disk is None or now - self._disk[0] >= _DISK_S:
            self._disk = now, shutil.disk_usage(self._place.runs).free
        return self._disk[1]

    def _reasons(self, queued: list[Job], free: int, now: int) -> dict[str, tuple[Job, str]]:
        """Why each queued job is not started even if it is its turn, "" if it is. now: as of `rest_of`"""
        holder = self._jobs.queue_held_by if queued else None
        over = {} if self._use is None else self._use.reasons(queued, self._jobs.living())
        found = {}
        for job in queued:
            if free < MIN_FREE:
                why = f"Waits: {_room(free)}, and {MIN_FREE / 1e9:.1f} GB are needed to start a job."
            elif job.is_held:
                why = "Waits: it is held until it is released."
            elif holder is not None:
                why = f"Waits: {holder} holds the whole queue."
            elif job.id in over:
                why = over[job.id]
            else:
                why = rest_of(job, now)
            found[job.id] = job, why
        return found

    def _wait(self, reasons: dict[str, tuple[Job, str]]) -> None:
        """Tells, or takes back, why jobs are not started though it is their turn."""
        for job, why in reasons.values():
            if job.detail != why and (why or job.detail.startswith("Waits:")):
                self._jobs.tell(job, why)

    def _admit(self, job: Job) -> None:
        attempt = job.attempt + 1
        run = self._place.run(job.id)
        folder = attempt_folder(run, attempt)
        for each in (folder.parent, folder):  # an attempt before may have put a link there
            if each.is_symlink():
                each.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(job.spec, PredictSpec):
            shutil.rmtree(run / PREDICTED_FOLDER, ignore_errors=True)  # `cvzoo predict` adds to no data set
        if isinstance(job.spec, ProposeSpec):
            set_aside(run)
        with atomic_write(folder / ORDER) as file:
            rights = kept_rights(job.spec, run, self._place.secrets)
            limits = LIMITS if isinstance(job.spec, TrainSpec) else LIMITS | {"setup": None}
            order = {"argv": argv_of(job.spec, run), "folder": str(self._place.runs), "limits": limits, **rights}
            file.write(json.dumps(order).encode())
        self._jobs.apply(job, "admit", attempt=attempt, iteration=iteration_of(run))

    def _follow(self, job: Job) -> None:
        run = self._place.run(job.id)
        folder = attempt_folder(run, job.attempt)
        lock = self._place.lock(job.id, job.attempt)
        if is_held(lock):
            is_training = isinstance(job.spec, TrainSpec)
            # by the times of files, or if those were set back by the number of iterations
            has_begun = (
                not is_training or iteration_of(run, since=folder / STARTED) > 0 or iteration_of(run) > job.iteration
            )
            if job.state == "starting" and has_begun:
                self._jobs.apply(job, "begin")
            self._control(job, run, folder, lock)
        elif (folder / EXIT).is_file():
            # a file system may have lost what was written to it
            self._end(job, run, folder, "exit" if _has_ended(read_json_object(folder / EXIT)) else "lose")
        elif (folder / STARTED).is_file():
            # the lock was free before the file was looked for: between the two it may have been written
            if not (folder / EXIT).is_file():
                self._end(job, run, folder, "lose")
        elif job.state == "starting":
            self._start(job, folder, lock)
        else:
            self._end(job, run, folder, "lose")

    def _control(self, job: Job, run: pathlib.Path, folder: pathlib.Path, lock: pathlib.Path) -> None:
        control = inside(run, *folder.relative_to(run).parts, CONTROL)
        names = {"pausing": {INTERRUPT}, "stopping": {INTERRUPT}, "killing": {KILL}}.get(job.state, set())
        if not names:
            return
        if self._asked.get(job.id, (None, 0.0))[0] != job.rank:
            self._asked[job.id] = job.rank, self._clock()
        waited = self._clock() - self._asked[job.id][1]
        is_deaf = waited > (_GRACE_S if INTERRUPT in names else 0.0) + _KILL_GRACE_S
        if INTERRUPT in names and waited > _GRACE_S:
            names = names | {KILL}
        for name in names:
            if control is not None and not (control / name).exists():
                (control / name).touch()
        if KILL in names and self._clock() - self._looked.get(job.id, -_ORPHAN_S) >= _ORPHAN_S:
            self._looked[job.id] = self._clock()
            pid = number(read_json_object(folder / STARTED).get("pid"))
            kill_orphans(lock, None if pid is None or is_deaf else int(pid))

    def _start(self, job: Job, folder: pathlib.Path, lock: pathlib.Path) -> None:
        known = self._children.get(lock.name)
        n_start = 0 if known is None else known.n_start
        if known is not None:
            code = known.process.poll()
            if code is not None and n_start >= _MAX_START:
                word: Word = "disk-full" if code - FAILED in (errno.ENOSPC, errno.EDQUOT) else "killed"
                outcome = Outcome(word, _unborn(code), "correct that, then start it again")
                self._jobs.apply(job, "exit", Facts(code=1, reason=_unborn(code)), outcome=outcome)
                return
            # each next one later: what keeps it from starting, such as a full disk, lasts
            if self._clock() - known.at < (_UNBORN_S if code is None else INTERVAL_S * 2**n_start):
                return
            known.process.kill()  # one that is born later would hold the lock, be it after the job has ended
            known.process.wait()
            if (folder / STARTED).is_file():  # it was born just now
                return
        process = subprocess.Popen(
            [sys.executable, "-m", "cvzoo.studio.worker.supervise", str(folder), str(lock)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._children[lock.name] = _Child(process, self._clock(), n_start + 1)

    def _end(self, job: Job, run: pathlib.Path, folder: pathlib.Path, event: Event) -> None:
        delete_temporary(str(self._place.lock(job.id, job.attempt)))
        tree = read_json_object(folder / EXIT)
        progressed = iteration_of(run) > job.iteration
        n_lost = 0 if progressed else job.n_lost
        code, signal, error = _integer(tree.get("code")), _integer(tree.get("signal")), error_in(folder / LOG)
        has_result = job.spec.is_done(run)
        end = End(
            code=code,
            signal=signal,
            reason=str(tree.get("reason") or ""),
            has_result=has_result,
            is_asked=job.state in ("pausing", "stopping", "killing"),
            out_of_memory=tree.get("out_of_memory") is True,
            peak=_integer(tree.get("peak")) or 0,
            step=step_of(folder),
            text=tail_of(folder / LOG),
            error=error,
            settings=read_json_object(run / CONFIG).get("recipe") or {},
            has_snapshot=has_snapshot(run),
        )
        outcome = judge(end, job.outcome)
        lost = "" if code is not None else outcome.sentence
        facts = Facts(code, signal, has_result, n_lost, error, lost=lost, is_final=outcome.is_final)
        self._jobs.apply(job, event, facts, n_lost=n_lost + (code is None), outcome=outcome)


def _has_ended(tree: dict[str, Any]) -> bool:
    return number(tree.get("code")) is not None or number(tree.get("signal")) is not None


def _integer(value: object) -> int | None:
    found = number(value)
    return None if found is None else int(found)


def step_of(attempt: pathlib.Path) -> int:
    """The number of iterations that an attempt had made when it told of itself last; 0 if it has not."""
    try:
        with open_regular(attempt / BEAT) as file:
            return int(file.read(20) or b"0")
    except (OSError, ValueError):
        return 0


def tail_of(log: pathlib.Path) -> str:
    """The last 64 kB of a log; "" if there is none."""
    try:
        with open_regular(log) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - (1 << 16), 0))
            return file.read(1 << 16).decode("utf-8", "replace")
    except OSError:
        return ""


def _room(free: int) -> str:
    return f"the disk has {free / 1e9:.1f} GB free"


def _unborn(code: int) -> str:
    why = os.strerror(code - FAILED) if code > FAILED else f"exit status {code}"
    return f"Its supervisor could not be started: {why}."


def lane_of(spec: Spec) -> str:
    """Jobs of one lane run one after the other: minutes of an evaluation do not wait for the hours of a training."""
    return "long" if isinstance(spec, TrainSpec) else "short"


def kept_rights(spec: Spec, run: pathlib.Path, hidden: list[str]) -> dict[str, Any]:
    """What a job may change: its folder, devices, and what it downloads; whether it may use the network; and what it
    may not read: secrets of the user, and those of the studio, which are `hidden`.
    """
    # of a training, weights to start from may have to be downloaded
    network = isinstance(spec, TrainSpec) or not spec.sha256
    downloads = [cvzoo_home() / "weights", cvzoo_home() / "datasets"] if network else []
    for folder in downloads:
        folder.mkdir(parents=True, exist_ok=True)
    writable = [str(run), *map(str, downloads), *devices()]
    return {"writable": writable, "network": network, "hidden": [*hidden, str(token_file()), *secrets()]}


def attempt_folder(run: pathlib.Path, attempt: int) -> pathlib.Path:
    """The folder of an attempt: its order, log and end."""
    return run / "attempts" / str(attempt)


def is_held(lock: pathlib.Path) -> bool:
    """Whether a supervisor or its training lives."""
    return lock.exists() and is_locked(lock) is True


def iteration_of(run: pathlib.Path, since: pathlib.Path | None = None) -> int:
    """The last iteration in the run's logs, 0 if there is none, or none that was written after the file `since`."""
    newest = 0
    for name in (LIVE, ITERATIONS):
        path = run / name
        try:
            if since is not None and os.stat(path).st_mtime_ns < os.stat(since).st_mtime_ns:
                continue
        except OSError:
            continue
        rows = last_rows(path)
        newest = max(newest, int(number(rows[-1].get("iteration")) or 0) if rows else 0)
    return newest


def error_in(log: pathlib.Path) -> str:
    """The last error message in a log, "" if there is none."""
    found = list(_ERROR.finditer(tail_of(log)))
    if not found:
        return ""
    text = found[-1][1] or found[-1][2]
    return "; ".join(" ".join(line.split()) for line in text.splitlines())[:600]
