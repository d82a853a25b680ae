"""CPU, memory, reads and writes of a process and all that it has started; of the standard library alone."""

import contextlib
import os
from typing import Any

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class TreeUsage:
    """Measures the descendants of a process. root: its identifier; it is not counted itself"""

    def __init__(self, root: int):
        self._root = root
        self._at: float | None = None
        self._before: dict[tuple[int, int], tuple[float, int, int]] = {}
        self.peak = 0  # bytes

    def sample(self, at: float) -> dict[str, Any]:
        """What was used since the last call. at: seconds

        "cpu": cores that were busy; "memory": bytes in RAM, in which pages that processes share are counted in each
        "read", "written": bytes per second from and to disks; "processes"
        """
        found = {(pid, start): self._of(pid, ticks) for pid, start, ticks in self._tree()}
        now = {key: each for key, each in found.items() if each is not None}
        memory = sum(each[1] for each in now.values())
        self.peak = max(self.peak, memory)
        took = 0.0 if self._at is None else at - self._at
        sums = [0.0, 0.0, 0.0]
        for key, (cpu, _, (read, written)) in now.items():
            before = self._before.get(key, (0.0, 0, 0))
            for i, (value, was) in enumerate(zip((cpu, read, written), before)):
                sums[i] += max(value - was, 0)
        self._at = at
        self._before = {key: (cpu, read, written) for key, (cpu, _, (read, written)) in now.items()}
        rates = [round(each / took, 2) if took > 0 else 0.0 for each in sums]
        row = {"elapsed_time": round(at, 2), "cpu": rates[0], "memory": memory}
        return row | {"read": round(rates[1]), "written": round(rates[2]), "processes": len(now)}

    def processes(self) -> list[int]:
        """The identifiers of all descendants."""
        return sorted(pid for pid, _, _ in self._tree())

    def _tree(self) -> list[tuple[int, int, float]]:
        """(process, its start, seconds of CPU) of all descendants."""
        parents: dict[int, tuple[int, int, float]] = {}
        with contextlib.suppress(OSError):  # not every system has /proc
            for name in filter(str.isdigit, os.listdir("/proc")):
                words = _stat(int(name))
                if words is not None:
                    parents[int(name)] = int(words[1]), int(words[19]), (int(words[11]) + int(words[12])) / _TICK
        mine, grew = {self._root}, True
        while grew:
            more = {pid for pid, (parent, _, _) in parents.items() if parent in mine} - mine
            mine |= more
            grew = bool(more)
        return [(pid, parents[pid][1], parents[pid][2]) for pid in mine - {self._root} if pid in parents]

    def _of(self, pid: int, cpu: float) -> tuple[float, int, tuple[int, int]] | None:
        try:
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                memory = int(file.read().split()[1]) * _PAGE
        except (OSError, ValueError, IndexError):
            return None
        moved = {"read_bytes": 0, "write_bytes": 0}
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/io", encoding="ascii") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in moved:
                    moved[name] = int(value)
        return cpu, memory, (moved["read_bytes"], moved["write_bytes"])


def _stat(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return words if len(words) > 21 else None


def n_out_of_memory() -> int:
    """How many processes the kernel has ended since it started, as there was no memory left; 0 if it does not say."""
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat", encoding="ascii") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
