"""Rights that a process gives up, where the kernel has Landlock."""

import subprocess
import sys

import pytest

from cvzoo.studio.worker import landlock

CODE = """
import socket, sys
from cvzoo.studio.worker.landlock import restrict
folder, secret = sys.argv[1:3]
readable = None if sys.argv[3] == "all" else [*sys.argv[3:], sys.prefix, sys.base_prefix, "/usr", "/lib", "/etc"]
print(restrict(readable=readable, writable=[folder, "/dev/null"], network=False))
def tried(what):
    try:
        what()
        print("done")
    except OSError as error:
        print(type(error).__name__)
tried(lambda: open(f"{folder}/new", "w"))
tried(lambda: open(secret).read())
tried(lambda: open(secret, "w"))
tried(lambda: socket.create_connection(("127.0.0.1", 9)))
tried(lambda: open("/nonexistent"))
"""


def lines(*words):
    done = subprocess.run([sys.executable, "-c", CODE, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(landlock.landlock_version() < 4, reason="the kernel's Landlock does not know TCP")
@pytest.mark.parametrize(("readable", "read"), [("all", "done"), ("{folder}", "PermissionError")])
def test_what_was_not_kept_is_refused(tmp_path, readable, read):
    (tmp_path / "own").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("x")
    found = lines(tmp_path / "own", secret, readable.format(folder=tmp_path / "own"))
    assert found[0].startswith("Landlock, version")
    assert found[1:] == ["done", read, "PermissionError", "PermissionError", "FileNotFoundError"]
    assert secret.read_text() == "x"
