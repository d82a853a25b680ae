"""A Ray cluster of several nodes on this machine, with a token, and jobs of `cvzoo launch --engine ray` on it."""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial

import pytest

from cvzoo.distributed.launching.leftovers import end_with_parent

ROOT = pathlib.Path(__file__).resolve().parents[2]
_TRIALS = 3  # starts of a node
_LIMIT = 120  # seconds for the start of a node, on a busy machine
_SETTINGS = {
    # a lost node is noticed by Ray itself after some seconds instead of a minute
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
}


class RayNodes:
    """The cluster. folder: of Ray's files; its first node is the head, at `address`

    Nodes are started by `inside`, words such as `ip netns exec NAME`.
    """

    def __init__(self, folder, address):
        self._folder, self._address, self._nodes = folder, address, []
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = str(free.getsockname()[1])
        token = folder / "token"
        token.write_text(secrets.token_hex(32))
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
            **_SETTINGS,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_ADDRESS": f"{address}:{self._port}",
            "PYTHONPATH": str(ROOT),
        }

    def start(self, *, inside=(), address=None, cores=2, gpus=0):
        """Starts a node, which is ready when this returns; returns what `kill` takes."""
        head = ["--head", "--port", self._port, "--temp-dir", str(self._folder / "t"), "--include-dashboard=false"]
        words = head if not self._nodes else ["--address", self.environment["RAY_ADDRESS"]]
        command = [
            *(*inside, str(pathlib.Path(sys.executable).with_name("ray")), "start", "--block", *words),
            *("--node-ip-address", address or self._address, "--num-cpus", str(cores)),
            *("--num-gpus", str(gpus), "--min-worker-port", "0", "--max-worker-port", "0"),
            *("--object-store-memory", "80000000", "--disable-usage-stats"),
        ]
        for trial in range(_TRIALS):
            log = self._folder / f"node-{len(self._nodes)}-{trial}.log"
            process = self._started(command, log)
            if process is not None:
                self._nodes.append(process)
                return process
        pytest.fail(log.read_text()[-3000:], pytrace=False)

    def _started(self, command, log):
        """The process of a node when it is ready, None if it ended, as after half a minute on a busy machine."""
        environment = {name: value for name, value in self.environment.items() if name != "RAY_ADDRESS"}
        with open(log, "w") as output:
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(end_with_parent, signal.SIGTERM),  # if the tests are killed
            )
        end = time.monotonic() + _LIMIT
        while "Ray runtime started" not in log.read_text():
            if process.poll() is not None or time.monotonic() > end:
                self.kill(process)
                return None
            time.sleep(0.1)
        return process

    def kill(self, node):
        """Kills all processes of a node at once, as if its machine had no power."""
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    if os.getsid(int(folder.name)) == node.pid:
                        os.kill(int(folder.name), signal.SIGKILL)
        node.wait()

    def close(self):
        for node in reversed(self._nodes):
            self.kill(node)

    def launch(self, *words, inside=(), **environment):
        """A process of `cvzoo launch --engine ray` with these words, and its messages."""
        return Launch(
            [*inside, sys.executable, "-m", "cvzoo", "launch", "--engine", "ray", *map(str, words)],
            {**self.environment, **environment},
        )


class Launch:
    """A running job. said: its messages so far"""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.said = ""

    def wait_for(self, text):
        """Reads messages until one has the text; fails if the job ends before."""
        while line := self.process.stderr.readline():
            self.said += line
            if text in line:
                return
        self.ended()
        pytest.fail(f"{text!r} was not said:\n{self.said}", pytrace=False)

    def ended(self):
        """The exit status."""
        with self.process.stderr as errors:
            self.said += errors.read()
        return self.process.wait()


@contextlib.contextmanager
def ray_nodes(address="127.0.0.1"):
    """A cluster without nodes at first; skips the test where Ray is absent."""
    pytest.importorskip("ray", reason='needs Ray: pip install "cvzoo[cluster]"')
    pytest.importorskip("mpi4py")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ray-"))  # the names of Unix sockets in it must be short
    nodes = RayNodes(folder, address)
    try:
        yield nodes
    finally:
        nodes.close()
        shutil.rmtree(folder, ignore_errors=True)
