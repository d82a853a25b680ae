"""Tries what a process of the studio must not do, after it gave up its rights: `probes.py ORDER`, a JSON object.

{"kind": which process, "confine": [its arguments], "landlock": whether the kernel's is used, "places": what is
attacked, "names": probes}
Prints {probe: "done", or the error's name}.
"""

import ctypes
import errno
import importlib
import json
import mmap
import os
import pathlib
import resource
import signal
import socket
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
KINDS = {
    "imaging": "cvzoo.studio.photos.imaging_worker",
    "inference": "cvzoo.studio.inference.worker",
    "import": "cvzoo.studio.worker.data_task",
}


def called(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read(path):
    pathlib.Path(path).read_bytes()


def linked(make, use):
    """Makes a link in the process's own folder, and uses it."""

    def probe(own, target):
        path = pathlib.Path(own, f"link-{os.urandom(4).hex()}")
        make(target, path)
        use(path)

    return probe


def forks(limit=6000):
    """Forks until the kernel refuses; the children end at once when this process has."""
    gate, held = os.pipe()
    children = []
    try:
        while len(children) < limit:
            pid = os.fork()
            if not pid:
                os.close(held)
                os.read(gate, 1)
                os._exit(0)
            children.append(pid)
    finally:
        os.close(held)
        for pid in children:
            os.waitpid(pid, 0)


def bound_of_processes():
    """The limit counts those of the user, of whom there are some hundreds; it does not bound the superuser."""
    if resource.getrlimit(resource.RLIMIT_NPROC)[1] < 20_000:
        raise OSError(errno.EAGAIN, "")


def capable():
    status = pathlib.Path("/proc/self/status").read_text()
    if not int(status.split("CapPrm:")[1].split()[0], 16) & ~0b1111:
        raise OSError(errno.EPERM, "")


def goes_first():
    if int(pathlib.Path("/proc/self/oom_score_adj").read_text()) >= 500:
        raise OSError(errno.EPERM, "")


def daemon(own):
    """A process in a session of its own that has no descriptor of the job."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    pathlib.Path(own, "daemon.pid").write_text(str(os.getpid()))
    os.closerange(0, 64)
    signal.pause()


def replace_files(own, foreign):
    """Links in the place of files that the supervisor writes at the end."""
    folder = pathlib.Path(own, "attempts/1")
    for name in (".exit.json.part", "exit.json", "usage.jsonl", "alive-0"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(foreign)


def namespace():
    called(LIBC.unshare, 0x00020000)
    called(LIBC.mount, b"/", b"/mnt", None, 4096, None)


def tried(probe):
    try:
        probe()
    except (OSError, MemoryError) as error:
        return errno.errorcode.get(getattr(error, "errno", None), type(error).__name__)
    return "done"


def probes(p):
    own, victim = p["own"], p["victim"]
    return {
        "reads a file of another user": lambda: read(p["elsewhere"]),
        "reads the studio's database": lambda: read(p["database"]),
        "reads a key of the user": lambda: read(p["key"]),
        "reads the passwords of the system": lambda: read("/etc/shadow"),
        "writes a file outside its folder": lambda: pathlib.Path(p["outside"], "new").write_text("x"),
        "empties a file outside its folder": lambda: os.truncate(p["elsewhere"], 0),
        "deletes a file outside its folder": lambda: os.unlink(p["elsewhere"]),
        "renames a folder over another": lambda: os.rename(p["outside"], p["outside"] + "2"),
        "writes into its own folder": lambda: pathlib.Path(own, "own").write_text("x"),
        "connects by TCP": lambda: socket.create_connection(("127.0.0.1", p["port"])).close(),
        "listens by TCP": lambda: socket.create_server(("127.0.0.1", 0)).close(),
        "connects to an abstract socket": lambda: socket.socket(socket.AF_UNIX).connect("\0" + p["abstract"]),
        "traces another process": lambda: called(LIBC.ptrace, 16, victim, None, None),
        "signals another process": lambda: os.kill(victim, signal.SIGTERM),
        "reads the environment of another process": lambda: read(f"/proc/{victim}/environ"),
        "reads the memory of another process": lambda: open(f"/proc/{victim}/mem", "rb").close(),
        "reads the command line of another process": lambda: read(f"/proc/{victim}/cmdline"),
        "finds secrets in its environment": lambda: os.environ["PASSWORD"] and None,
        "reads through a link out": lambda: linked(os.symlink, read)(own, p["database"]),
        "writes through a link out": lambda: linked(os.symlink, lambda path: path.write_text("x"))(own, p["elsewhere"]),
        "makes a hard link of a file outside": lambda: linked(os.link, read)(own, p["elsewhere"]),
        "maps 64 GB of memory": lambda: mmap.mmap(-1, 64 << 30).close(),
        "may start 20,000 processes": bound_of_processes,
        "outlives the server when memory is short": goes_first,
        "opens a disk": lambda: os.close(os.open(p["disk"], os.O_RDWR)),
        "mounts": namespace,
        "keeps the capabilities of the superuser": capable,
        "leaves a process behind": lambda: daemon(own),
        "puts links in the place of files of its supervisor": lambda: replace_files(own, p["elsewhere"]),
    }


def main(order):
    said = ""
    if not order["landlock"]:
        importlib.import_module("cvzoo.studio.worker.landlock").landlock_version = lambda: 0
    if order["kind"] in KINDS:
        said = importlib.import_module(KINDS[order["kind"]]).confine(*order["confine"])
    table = probes(order["places"])
    answers = {}
    for name in order["names"]:
        try:
            answers[name] = tried(table[name])
        except KeyError:
            answers[name] = "KeyError"
    print(json.dumps({"said": said, "answers": answers}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
