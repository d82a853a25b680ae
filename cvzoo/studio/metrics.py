"""Numbers of a running server for monitoring, in the text format of Prometheus."""

import importlib
import shutil
from collections.abc import Mapping
from typing import Literal, get_args

from sqlalchemy import func, select

from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import JOB, TASK
from cvzoo.studio.jobs.queue import read_queue
from cvzoo.studio.jobs.states import LIVING, JobState
from cvzoo.studio.state import Studio

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STATES: tuple[JobState, ...] = get_args(JobState)
_Kind = Literal["gauge", "counter"]


def metrics_of(studio: Studio) -> str:
    """The metrics of the server and of what it does now."""
    import psutil  # 1.2 MB, which an idle server does without

    with reading(studio.engine) as connection:
        query = select(JOB.c.state, func.count()).where(JOB.c.trashed_at.is_(None)).group_by(JOB.c.state)
        jobs = {str(state): 0 for state in _STATES} | {str(state): n for state, n in connection.execute(query)}
        open_tasks = select(TASK.c.state, func.count()).where(TASK.c.state.in_(("queued", "running")))
        rows = connection.execute(open_tasks.group_by(TASK.c.state))
        tasks = {"queued": 0, "running": 0} | {str(state): n for state, n in rows}
    queue, disk, process = read_queue(studio.engine), shutil.disk_usage(studio.place.home), psutil.Process()
    with process.oneshot():
        memory, times, start = process.memory_info().rss, process.cpu_times(), process.create_time()
        n_file, n_thread = process.num_fds(), process.num_threads()
    lanes = {lane: len(queue.lane(lane)) for lane in ("long", "short")}
    version = str(importlib.import_module("cvzoo").__version__)
    return "".join(
        (
            _family("cvzoo_studio_info", "gauge", "The version of cvzoo.", "version", {version: 1}),
            _family("cvzoo_studio_jobs", "gauge", "Jobs that are not in the trash, by state.", "state", jobs),
            _one("cvzoo_studio_jobs_running", "gauge", "Jobs with a process.", sum(jobs[state] for state in LIVING)),
            _family("cvzoo_studio_queue_length", "gauge", "Jobs that wait; long are trainings.", "lane", lanes),
            _family("cvzoo_studio_data_tasks", "gauge", "Imports, checks and other work on data.", "state", tasks),
            _one("cvzoo_studio_model_processes", "gauge", "Processes with a model.", len(studio.inference.pids)),
            _one("cvzoo_studio_disk_free_bytes", "gauge", "Free on the disk of the studio's folder.", disk.free),
            _one("cvzoo_studio_disk_size_bytes", "gauge", "Size of that disk.", disk.total),
            _family("cvzoo_studio_answers_total", "counter", "Answered requests.", "status", studio.answers.n),
            _one("process_resident_memory_bytes", "gauge", "Memory of the server.", memory),
            _one("process_cpu_seconds_total", "counter", "CPU time of the server.", times.user + times.system),
            _one("process_start_time_seconds", "gauge", "When the server started, since 1970.", start),
            _one("process_open_fds", "gauge", "Open files of the server.", n_file),
            _one("process_threads", "gauge", "Threads of the server.", n_thread),
        )
    )


def _one(name: str, kind: _Kind, text: str, value: float) -> str:
    return f"{_head(name, kind, text)}{name} {value}\n"


def _family(name: str, kind: _Kind, text: str, label: str, values: Mapping[str, float]) -> str:
    return _head(name, kind, text) + "".join(f'{name}{{{label}="{key}"}} {value}\n' for key, value in values.items())


def _head(name: str, kind: _Kind, text: str) -> str:
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
