"""What processes that meet files of strangers cannot do: each probe is tried by a process with their real rights."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

from cvzoo.studio.jobs.conductor import kept_rights
from cvzoo.studio.jobs.spec import EvaluateSpec
from cvzoo.studio.place import Place
from cvzoo.studio.worker.attempt import EXIT, LOG, ORDER, STARTED, kept_environment
from cvzoo.studio.worker.landlock import landlock_version

PROBES = str(pathlib.Path(__file__).with_name("probes.py"))
REFUSED = {"EACCES", "EPERM", "EXDEV", "ENOENT", "EROFS"}
DONE = {"done"}
ALL, WITHOUT_JOBS = ("job", "imaging", "inference", "import"), ("imaging", "inference", "import")
# probe: (processes that are refused, the Landlock that knows it); all others may
JUDGED = {
    "reads a file of another user": (WITHOUT_JOBS, 1),  # a job reads data anywhere: it is given by their folders
    "reads the studio's database": (ALL, 1),
    "reads a key of the user": (ALL, 1),
    "reads the passwords of the system": (ALL, 1),
    "writes a file outside its folder": (ALL, 1),
    "empties a file outside its folder": (ALL, 3),
    "deletes a file outside its folder": (ALL, 1),
    "renames a folder over another": (ALL, 1),
    "writes into its own folder": (("imaging", "inference"), 1),
    "connects by TCP": (ALL, 4),
    "listens by TCP": (ALL, 4),
    "connects to an abstract socket": (ALL, 6),
    "traces another process": (ALL, 1),
    "signals another process": (ALL, 6),
    "reads the environment of another process": (ALL, 1),
    "reads the memory of another process": (ALL, 1),
    "reads the command line of another process": (WITHOUT_JOBS, 1),
    "reads through a link out": (ALL, 1),
    "writes through a link out": (ALL, 1),
    "makes a hard link of a file outside": (ALL, 1),
    "opens a disk": (ALL, 1),
    "mounts": (ALL, 1),
}
# limits, which hold on every kernel
LIMITED = {
    "finds secrets in its environment": ({"KeyError"}, ALL),
    "maps 64 GB of memory": ({"ENOMEM", "MemoryError"}, WITHOUT_JOBS),
    "may start 20,000 processes": ({"EAGAIN"}, ALL),
    "mounts": (REFUSED, ALL),
    "keeps the capabilities of the superuser": ({"EPERM"}, ALL),
    "outlives the server when memory is short": ({"EPERM"}, ALL),
}


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A studio, a user's folder with a key, a file elsewhere, a server, and a process to attack."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "cvzoo"))
    monkeypatch.setenv("PASSWORD", "hunter2")
    place = Place(tmp_path / "home")
    place.make()
    found = {"database": place.database, "key": tmp_path / "user" / ".ssh" / "id", "elsewhere": tmp_path / "elsewhere"}
    for path in found.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    for name in ("own", "outside"):
        (tmp_path / name).mkdir()
        found[name] = tmp_path / name
    disk = next((each for each in ("/dev/vda", "/dev/sda", "/dev/mem") if os.path.exists(each)), "/dev/kmsg")
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0cvzoo-{os.getpid()}")
        abstract.listen()
        found |= {"port": server.getsockname()[1], "abstract": f"cvzoo-{os.getpid()}"}
        found |= {"victim": victim.pid, "disk": disk}
        yield {key: str(each) if isinstance(each, pathlib.Path) else each for key, each in found.items()}
    assert victim.poll() in (None, -signal.SIGTERM)
    victim.kill()
    victim.wait()


def confinement(kind, own, place):
    """The arguments of a process's `confine`, whose own folder it is."""
    if kind == "import":
        order = {"kind": "import", "images": own, "source": {"uploads": []}, "hidden": place.secrets}
        pathlib.Path(own, ORDER).write_text(json.dumps(order))
        return [own]
    return [own] if kind == "imaging" else ["zoo:none", f"voc:{own}"]


def asked(kind, places, names, *, landlock=True):
    """What a process of the kind says of its rights, and how its probes end."""
    place = Place(pathlib.Path(places["database"]).parent)
    order = {"kind": kind, "places": places, "names": names, "landlock": landlock, "confine": []}
    if kind == "job":
        return asked_of_job(order, place)
    order["confine"] = confinement(kind, places["own"], place)
    words = [sys.executable, PROBES, json.dumps(order)]
    done = subprocess.run(words, env=kept_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["said"], found["answers"]


def asked_of_job(order, place):
    """The same, by a supervisor of an evaluation's command."""
    run = place.run("jb_" + "a" * 16)
    attempt, lock = run / "attempts" / "1", place.lock("jb_" + "a" * 16, 1)
    attempt.mkdir(parents=True, exist_ok=True)
    order["places"] = order["places"] | {"own": str(run)}
    rights = kept_rights(EvaluateSpec("m", "s", "1", "d"), run, place.secrets)
    argv = [sys.executable, PROBES, json.dumps(order | {"landlock": True})]
    (attempt / ORDER).write_text(json.dumps({"argv": argv, "folder": str(run), **rights}))
    code = "import sys; from cvzoo.studio.worker import landlock, supervise; " + (
        "" if order["landlock"] else "landlock.landlock_version = supervise.landlock_version = lambda: 0; "
    )
    words = [sys.executable, "-c", f"{code}sys.exit(supervise.main(*sys.argv[1:]))", str(attempt), str(lock)]
    subprocess.run(words, check=True)
    said = json.loads((attempt / STARTED).read_text())["sandbox"]
    assert json.loads((attempt / EXIT).read_text())["code"] == 0, (attempt / LOG).read_text()
    return said, json.loads((attempt / LOG).read_text())["answers"]


@pytest.mark.skipif(not landlock_version(), reason="the kernel has no Landlock")
@pytest.mark.parametrize("kind", ALL)
def test_each_probe_ends_as_the_table_says(kind, places):
    names = [name for name, (_, version) in JUDGED.items() if version <= landlock_version()]
    said, answers = asked(kind, places, names)
    assert said == f"Landlock, version {landlock_version()}"
    for name in names:
        refused = kind in JUDGED[name][0]
        assert answers[name] in (REFUSED if refused else DONE), (name, answers)
    assert pathlib.Path(places["elsewhere"]).read_text() == "secret"
    assert not any(pathlib.Path(places["outside"]).iterdir())


@pytest.mark.parametrize("landlock", [True, False])
@pytest.mark.parametrize("kind", ALL)
def test_limits_and_the_environment_hold_without_landlock_too(kind, places, landlock):
    said, answers = asked(kind, places, list(LIMITED), landlock=landlock)
    if not landlock:
        assert said == "none: the kernel has no Landlock"
    for name, (expected, kinds) in LIMITED.items():
        assert kind not in kinds or answers[name] in expected, (name, answers)


def test_a_fork_bomb_is_bounded():
    code = (
        "import os, runpy; from cvzoo.studio.worker.limits import limit_tasks\n"
        f"probes = runpy.run_path({PROBES!r})\n"
        "os.getuid() or os.setuid(65534)  # it does not bound the superuser\n"
        "limit_tasks(50)\n"
        "print(probes['tried'](probes['forks']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "EAGAIN\n", done.stderr


def test_what_a_job_leaves_behind_ends_with_it(places):
    _, answers = asked("job", places, ["leaves a process behind"])
    assert answers == {"leaves a process behind": "done"}
    run = pathlib.Path(places["database"]).parent / "runs" / ("jb_" + "a" * 16)
    pid = int((run / "daemon.pid").read_text())
    assert not pathlib.Path(f"/proc/{pid}").exists()


def test_links_in_the_place_of_a_supervisors_files_change_nothing_else(places):
    names = ["puts links in the place of files of its supervisor"]
    _, answers = asked("job", places, names)
    assert answers == dict.fromkeys(names, "done")
    assert pathlib.Path(places["elsewhere"]).read_text() == "secret"
