"""Two programs measured in turn, A B A B ..., each in a process of its own.

A worker is a script that calls `serve(cases)`: cases maps a name to a function that does the work once. Two OpenMP
runtimes in one process disturb each other; two processes of which one sleeps do not.
"""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

_TURN = 1.0  # seconds, after which a case is not repeated in the same turn


def serve(
    cases: Mapping[str, Callable[[], object]], *, repeat: int = 1, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Answer the driver: for each line with a case's name, run it `repeat` times and print the median seconds.

    A case that takes long is repeated less often. clock: gives seconds; time.process_time counts the CPU's
    """
    print(json.dumps({"ready": sorted(cases)}), flush=True)
    for line in sys.stdin:
        case = cases[line.strip()]
        times = []
        end = time.perf_counter() + _TURN
        for _ in range(repeat):
            start = clock()
            given = case()  # seconds, if a case looks at the clock itself
            times.append(given if isinstance(given, float) else clock() - start)
            if time.perf_counter() > end:
                break
        print(json.dumps(statistics.median(times)), flush=True)


class Worker:
    """A process that runs cases on demand."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]):
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.cases = self._answer()["ready"]

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker {self.name} died with exit status {self.process.wait()}")
        return json.loads(line)

    def run(self, case: str) -> float:
        # the other worker's threads go on spinning for some milliseconds after their work, on the same processors
        time.sleep(0.05)
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def compare(workers: Sequence[Worker], case: str, *, runs: int, warmup: int = 3, seconds: float = float("inf")) -> dict:
    """Seconds of each worker for one case, in turn; the ratio is taken pair by pair against the first worker.

    seconds: after which no further run is begun, once three have been measured
    """
    end = time.perf_counter() + seconds
    times: dict[str, list[float]] = {worker.name: [] for worker in workers}
    for round_number in range(warmup + runs):
        for worker in workers:
            spent = worker.run(case)
            if round_number >= warmup:
                times[worker.name].append(spent)
        if round_number >= warmup + 2 and time.perf_counter() > end:
            break
    first = times[workers[0].name]
    row: dict = {"case": case, "runs": len(first)}
    for worker in workers:
        own = sorted(times[worker.name])
        ratios = sorted(a / b for a, b in zip(first, times[worker.name]))
        row[worker.name] = {
            "median_ms": round(statistics.median(own) * 1e3, 3),
            "min_ms": round(own[0] * 1e3, 3),
            "max_ms": round(own[-1] * 1e3, 3),
            f"{workers[0].name}_over_this": round(statistics.median(ratios), 3),
        }
    cells = [f"{case:32s}"]
    for worker in workers:
        own = row[worker.name]
        cells.append(f"{worker.name} {own['median_ms']:.2f} ms [{own['min_ms']:.2f} .. {own['max_ms']:.2f}]")
    for worker in workers[1:]:
        ratio = f"{workers[0].name}_over_this"
        cells.append(f"{workers[0].name}/{worker.name} {row[worker.name][ratio]:.2f}")
    print("  ".join(cells), flush=True)
    return row


def largest_memory() -> float:
    """MB: the largest resident memory of this process; getrusage would count its parent's before exec."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def machine() -> dict:
    """What the numbers were measured on."""
    model = platform.processor()
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "date": datetime.date.today().isoformat(),
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def write_results(path: str, *, title: str, rows: Sequence[dict], versions: Mapping[str, str], notes: str = "") -> None:
    """One dated JSON file under benchmarks/results."""
    content = {"title": title, "machine": machine(), "versions": dict(versions), "rows": list(rows), "notes": notes}
    pathlib.Path(path).write_text(json.dumps(content, indent=1) + "\n")
