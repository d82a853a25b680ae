"""Idle threads sleep sooner while other programs compete for the CPUs."""

import os
import subprocess
import sys

import pytest

from cvzoo.backends.native.library import native
from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None or native() is None, reason="needs oneDNN and libgomp")

# the scheduler's statistics, and the clock, are what the test says
START = """
import pathlib, threading
import numpy as np
from cvzoo.backends import openmp
from cvzoo.backends.dispatch import get_backend
openmp._SCHEDULING = pathlib.Path({file!r})
openmp._LOAD = pathlib.Path({load!r})
openmp.os.cpu_count = lambda: 2
openmp.os.sched_getaffinity = lambda process: range(openmp.os.cpu_count())
openmp.quota = lambda: None
now = [100.0]
openmp.time.monotonic = lambda: now[0]
def look(ran, waited, others=2):
    openmp._SCHEDULING.write_text(f"{{ran * 10**6}} {{waited * 10**6}} 1")
    openmp._LOAD.write_text(f"0.50 0.40 0.30 {{1 + others}}/234 5678")
    now[0] += 0.2
    if openmp.time.monotonic() >= openmp.idle_threads.next_look:
        openmp.idle_threads.look()
    return openmp.idle_threads.is_brief
def add():
    x = np.ones((8, 64, 64, 64), np.float32)
    return get_backend("onednn").eltwise("relu", x)
openmp._SCHEDULING.write_text("0 0 1")
add()
"""


def run(tmp_path, code, **environment):
    start = START.format(file=str(tmp_path / "schedstat"), load=str(tmp_path / "loadavg"))
    unset = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS"}
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    environment = {**kept, "CVZOO_NUM_THREADS": "2", **environment}
    done = subprocess.run([sys.executable, "-c", start + code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_thread_that_waits_makes_the_others_spin_briefly_until_it_has_not_waited_for_half_a_second(tmp_path):
    code = (
        "print(look(100, 10), look(200, 110))\n"
        "print(look(300, 112), threading.active_count())\n"
        "print(*[look(400 + 100 * k, 112) for k in range(4)])\n"
        "print(look(9000, 5000))\n"
        "add()\n"
    )
    assert run(tmp_path, code) == ["False", "True", "True", "2", "True", "True", "True", "False", "True"]


def test_threads_that_wait_for_each_other_spin_for_long_while_other_programs_leave_the_cpus_to_them(tmp_path):
    # they may be woken on one CPU, where each waits half of the time, while the next one is idle
    first, later = (
        "print(look(100, 100, others={}))\n",
        "print(*[look(100 * k, 100 * k, others={}) for k in range(2, 9)])",
    )
    assert run(tmp_path, first.format(1)) == ["False"]  # a helper that spins
    assert run(tmp_path, first.format(2) + later.format(0)) == ["True"] * 5 + ["False"] * 3
    assert run(tmp_path, first.format(2) + later.format(1)) == ["True"] * 8
    three = "openmp.os.cpu_count = lambda: 3\n"
    assert run(tmp_path, three + first.format(2)) == ["False"]
    assert run(tmp_path, three + first.format(3) + later.format(1)) == ["True"] * 5 + ["False"] * 3


@pytest.mark.parametrize(
    "unknown",
    [
        "openmp._LOAD = pathlib.Path('/dev/null')",
        "openmp.quota = lambda: 2.0",
        "openmp.os.sched_getaffinity = lambda process: {1}",
    ],
)
def test_where_threads_that_could_run_are_not_counted_for_our_cpus_alone_only_waiting_decides(tmp_path, unknown):
    code = f"{unknown}\nprint(*[look(100 * k, 100 * k, others=0) for k in range(1, 9)])\n"
    assert run(tmp_path, code) == ["True"] * 8


def test_short_times_tell_nothing_but_add_up(tmp_path):
    assert run(tmp_path, "print(look(5, 5), look(6, 9), look(7, 15))") == ["False", "False", "True"]


def test_without_statistics_or_a_thread_for_it_threads_wait_as_before(tmp_path):
    code = "openmp._SCHEDULING.unlink()\nnow[0] += 9\nadd()\nprint(openmp.idle_threads.is_brief)"
    assert run(tmp_path, code) == ["False"]
    code = "threading.Thread.start = lambda thread: exec('raise RuntimeError')\nprint(look(1000, 1000))\nadd()"
    assert run(tmp_path, code) == ["False"]


@pytest.mark.parametrize(
    "environment", [{"GOMP_SPINCOUNT": "500"}, {"OMP_WAIT_POLICY": "active"}, {"CVZOO_NUM_THREADS": "1"}]
)
def test_settings_of_the_user_and_a_single_thread_are_left_alone(tmp_path, environment):
    assert run(tmp_path, "print(look(1000, 1000))", **environment) == ["False"]


def test_a_child_process_that_inherits_our_setting_adapts_too(tmp_path):
    assert run(tmp_path, "print(look(1000, 1000))", GOMP_SPINCOUNT="20000") == ["True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_look(tmp_path):
    code = (
        "print(look(1000, 1000), flush=True)\n"
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    openmp._SCHEDULING = None\n"
        "    now[0] += 100\n"
        "    add()\n"
        "    os._exit(0)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert run(tmp_path, code) == ["True", "0"]


def test_the_doctor_says_how_threads_wait(tmp_path):
    code = "print(openmp.waiting_threads()); look(1000, 1000); print(openmp.waiting_threads())"
    words = " ".join(run(tmp_path, code))
    assert words == "spin 20000 times, then sleep spin 100 times, then sleep: other programs compete for the CPUs"


PLACES = """
import os, pathlib
import numpy as np
from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import native
from cvzoo.backends.openmp import idle_threads
native()
x = np.ones((8, 64, 64, 64), np.float32)
get_backend("onednn").eltwise("relu", x)
def tasks():
    return [int(each.name) for each in pathlib.Path("/proc/self/task").iterdir()]
def cpus():
    lines = [pathlib.Path(f"/proc/self/task/{task}/stat").read_text().rpartition(")")[2].split() for task in tasks()]
    return [int(line[36]) for line in lines]
def allow(cpus):
    for task in tasks():
        os.sched_setaffinity(task, cpus)
"""


def run_two_threads(code, **environment):
    unset = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS"}
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    # idle threads spin as the user says: ours keep no others
    settings = {"CVZOO_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "GOMP_SPINCOUNT": "20001"}
    environment = {**kept, **settings, **environment}
    done = subprocess.run([sys.executable, "-c", PLACES + code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="needs two CPUs of Linux")
def test_threads_on_one_cpu_are_moved_to_cpus_of_their_own_and_may_move_later():
    code = (
        "allowed = os.sched_getaffinity(0)\n"
        "for k in range(20):\n"
        "    allow({min(allowed)})\n"
        "    idle_threads.spread(2)\n"  # there is no other one
        "    assert set(cpus()) == {min(allowed)}, cpus()\n"
        "    allow(allowed)\n"
        "    idle_threads.spread(2)\n"
        "    print(len(set(cpus())))\n"
        "assert all(os.sched_getaffinity(task) == allowed for task in tasks())\n"
    )
    found = run_two_threads(code)
    assert len(found) == 20
    assert found.count("2") > 10  # the kernel may move one in between


@pytest.mark.parametrize("environment", [{"OMP_THREAD_LIMIT": "1"}, {"OMP_DYNAMIC": "true"}, {"OMP_NUM_THREADS": "1"}])
def test_fewer_threads_than_asked_for_are_not_waited_for(environment):
    assert run_two_threads("for k in range(50): idle_threads.spread(8)\nprint('done')", **environment) == ["done"]


def test_threads_are_woken_before_work_unless_they_spin_or_others_need_the_cpus(tmp_path):
    code = (
        "n = []\n"
        "openmp.idle_threads.spread = n.append\n"
        "now[0] += 0.0001\n"
        "add()\n"
        "print(n)\n"
        "now[0] += 0.1\n"
        "add()\n"
        "print(n)\n"
        "look(1000, 1000)\n"
        "add()\n"
        "print(n)\n"
    )
    assert run(tmp_path, code) == ["[]", "[2]", "[2]"]
    assert run(tmp_path, code, GOMP_SPINCOUNT="500") == ["[]", "[]", "[]"]
    assert run(tmp_path, code, CVZOO_NUM_THREADS="1") == ["[]", "[]", "[]"]
