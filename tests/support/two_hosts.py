"""Two hosts on one machine: network namespaces, connected by a cable of a given rate. Needs root."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

ADDRESSES = ("10.77.0.1", "10.77.0.2")
# UCX would use shared memory between the hosts, since both are one machine
_ENVIRONMENT = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "e0"}


class TwoHosts:
    """The hosts; `cut` pulls the cable. names: of their namespaces; agent: starts processes on both, as ssh does"""

    def __init__(self, names, agent):
        self.names, self._agent = names, agent

    def command(self, *program, per_host=1):
        """The words that run a program on both hosts, `per_host` ranks each."""
        hosts = ",".join(f"{address}:{per_host}" for address in ADDRESSES)
        mpiexec = pathlib.Path(sys.executable).with_name("mpiexec")
        return [
            *self.inside(0),
            *(str(mpiexec), "-launcher", "ssh", "-launcher-exec", str(self._agent), "-localhost", ADDRESSES[0]),
            *("-hosts", hosts, "-n", str(2 * per_host), sys.executable, "-m", "mpi4py", *map(str, program)),
        ]

    def inside(self, host):
        """The words that run a program on one host, 0 or 1, whose MPI uses the cable."""
        return ["ip", "netns", "exec", self.names[host], "env", *(f"{k}={v}" for k, v in _ENVIRONMENT.items())]

    def cut(self):
        _ip("netns", "exec", self.names[1], "ip", "link", "set", "e0", "down")

    def plug_in(self):
        _ip("netns", "exec", self.names[1], "ip", "link", "set", "e0", "up")
        _wait_for_links(self.names)


def _ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _wait_for_links(names):
    """The kernel reports a link some time after it was set up, and UCX takes only links that are reported."""
    end = time.monotonic() + 10
    for name in names:
        while "state UP" not in _ip("netns", "exec", name, "ip", "link", "show", "e0").stdout:
            assert time.monotonic() < end, f"the link of {name} does not come up"
            time.sleep(0.05)


@contextlib.contextmanager
def two_hosts(folder, rate):
    """Two hosts with a link of `rate`, such as 1gbit; skips the test where they cannot be made.

    folder: for the agent that takes the role of ssh
    """
    pytest.importorskip("mpi4py")
    if os.geteuid() or not all(map(shutil.which, ("ip", "tc"))):
        pytest.skip("two hosts need root, and the programs ip and tc, for network namespaces")
    names = [f"cvzoo{os.getpid()}{letter}" for letter in "ab"]
    made = []
    try:
        try:
            for name in names:
                _ip("netns", "add", name)
                made.append(name)
            _ip("link", "add", "e0", "netns", names[0], "type", "veth", "peer", "name", "e0", "netns", names[1])
            for name, address in zip(names, ADDRESSES):
                inside = ("netns", "exec", name)
                _ip(*inside, "ip", "link", "set", "lo", "up")
                _ip(*inside, "ip", "addr", "add", f"{address}/24", "dev", "e0")
                _ip(*inside, "ip", "link", "set", "e0", "up")
                shaping = ("tc", "qdisc", "add", "dev", "e0", "root", "tbf", "rate", rate, "burst", "256kb")
                _ip(*inside, *shaping, "latency", "400ms")
            _wait_for_links(names)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        agent = pathlib.Path(folder, "agent.sh")
        cases = "".join(f"  {address}) name={name};;\n" for address, name in zip(ADDRESSES, names))
        # as ssh: options, the host, and a command for its shell
        agent.write_text(
            '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
            f'case $1 in\n{cases}esac\nshift\nexec ip netns exec $name sh -c "$*"\n'
        )
        agent.chmod(0o755)
        yield TwoHosts(names, agent)
    finally:
        for name in made:
            _ip("netns", "del", name)
