"""Every kind of kernel x instruction sets x threads, on shapes drawn from a seed: against float64, and against itself.

scripts/sweep runs it. Cases of a kind are numbered, and the same in every run with this seed. Each is computed three
times in other memory, and some again in another process. Ctrl-C ends it with the table of what was done.
"""

import argparse
import collections
import dataclasses
import itertools
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

from side_by_side import write_results

# how many cases of a kind for one of the others: convolutions have the most kernels
KINDS = {
    "convolution": 5,
    "matrices": 2,
    "eight bits": 2,
    "bfloat16": 1,
    "pooling": 2,
    "batch normalization": 1,
    "layer normalization": 1,
    "response normalization": 1,
    "functions": 1,
    "softmax": 1,
    "resizing": 1,
    "moving": 1,
}
FAILURES = ("wrong", "other bits", "beyond memory", "input changed", "raised", "crash", "hang")
_PATIENCE = 120.0  # seconds for a case that takes some hundredths: more is a hang
_TURN = 4  # times so many cases of each kind before another process has its turn
_AGAIN = 6  # cases of a process that the next one computes, too
_Asked = tuple[str, int]  # kind, number


@dataclasses.dataclass
class Row:
    """What was found for one instruction set, number of threads and kind."""

    cases: int = 0
    calls: int = 0
    worst: float = 0.0
    failures: collections.Counter = dataclasses.field(default_factory=collections.Counter)


class Worker:
    """A process that computes cases with an instruction set and a number of threads."""

    def __init__(self, isa: str, threads: int, seed: int):
        environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": isa, "CVZOO_NUM_THREADS": str(threads)}
        # NumPy's, which compute what is expected
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": str(threads)}
        program = str(pathlib.Path(__file__).with_name("worker.py"))
        self.process = subprocess.Popen(
            [sys.executable, program, str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.about = self._answer()
        if "what" in self.about:
            raise SystemExit(f"the sweep cannot compute with {isa}: {self.about['why']}")

    def _answer(self) -> dict:
        out = self.process.stdout
        if not select.select([out], [], [], _PATIENCE)[0]:
            self.process.kill()
            self.process.communicate()
            return {"what": "hang", "why": f"no answer within {_PATIENCE:.0f} s"}
        line = out.readline()
        if not line:
            _, errors = self.process.communicate()
            if self.process.returncode == 130:
                raise KeyboardInterrupt
            code = self.process.returncode
            why = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return {"what": "crash", "why": " ".join([why, *errors.decode(errors="replace").splitlines()[-1:]])}
        return json.loads(line)

    def ask(self, asked: _Asked) -> dict:
        """The answer to a case; with "what" if the process did not live to give one."""
        try:
            self.process.stdin.write("{}\t{}\n".format(*asked).encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self._answer()

    def close(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.process.communicate()


class Sweep:
    """What was found so far."""

    def __init__(self, seed: int):
        self.seed = seed
        self.rows: dict[tuple[str, int, str], Row] = collections.defaultdict(Row)
        self.kernels: dict[str, set[str]] = collections.defaultdict(set)
        self.failures: list[dict] = []
        self.version = ""
        self.names: dict[str, str] = {}
        self._bits: dict[tuple[str, int], dict[_Asked, str]] = collections.defaultdict(dict)

    def note(self, isa: str, threads: int, asked: _Asked, answer: dict) -> None:
        """Count an answer."""
        row = self.rows[isa, threads, asked[0]]
        row.cases += 1
        row.calls += answer.get("checks", 0)
        row.worst = max(row.worst, answer.get("worst", 0.0))
        self.kernels[isa].update(answer.get("kernels", ()))
        found = [answer] if "what" in answer else list(answer["failures"])
        known = self._bits[isa, threads]
        if "digest" in answer and known.setdefault(asked, answer["digest"]) != answer["digest"] and not found:
            found.append({"what": "other bits", "why": "in another process"})
        for failure in found:
            row.failures[failure["what"]] += 1
            again = f"scripts/sweep --seed {self.seed} --isa {isa} --threads {threads}"
            again += f" --kind '{asked[0]}' --first {asked[1]} --cases 1"
            told = {"isa": isa, "threads": threads, "kind": asked[0], "case": answer.get("words", ""), **failure}
            self.failures.append(told | {"again": again})
            print(f"\n{failure['what']}: {failure.get('call', '')} {failure['why']}\n  {again}", flush=True)

    def turn(self, isa: str, threads: int, cases: list[_Asked]) -> None:
        """Compute some cases in a process of their own, and some of an earlier one again."""
        again = list(self._bits[isa, threads])[-_AGAIN:]
        worker = None
        try:
            for asked in [*again, *cases]:
                if worker is None:
                    worker = Worker(isa, threads, self.seed)
                    self.version, self.names[isa] = worker.about["version"], worker.about["isa"]
                answer = worker.ask(asked)
                self.note(isa, threads, asked, answer)
                if "what" in answer:
                    worker = None
        finally:
            if worker is not None:
                worker.close()

    def table(self) -> str:
        """A line per instruction set and number of threads."""
        lines = [f"{'instruction set':34s} threads   cases   calls  " + "  ".join(FAILURES)]
        for isa, threads in dict.fromkeys(key[:2] for key in self.rows):
            rows = [row for key, row in self.rows.items() if key[:2] == (isa, threads)]
            cells = [sum(row.failures[what] for row in rows) for what in FAILURES]
            line = f"{isa + ': ' + self.names.get(isa, ''):34s} {threads:7d} {sum(row.cases for row in rows):7d}"
            line += f" {sum(row.calls for row in rows):7d}  "
            lines.append(line + "  ".join(f"{n:{len(what)}d}" for n, what in zip(cells, FAILURES)))
        lines.append(f"kernels seen: {len(set().union(*self.kernels.values()))}")
        return "\n".join(lines)

    def write(self, path: str, minutes: float) -> None:
        """Everything as JSON."""
        rows = [
            {
                "isa": isa,
                "instructions": self.names.get(isa, ""),
                "threads": threads,
                "kind": kind,
                "cases": row.cases,
                "calls": row.calls,
                "worst_share_of_allowed": round(row.worst, 3),
                "failures": dict(row.failures),
            }
            for (isa, threads, kind), row in self.rows.items()
        ]
        rows += [{"isa": isa, "kernels": sorted(names)} for isa, names in self.kernels.items()]
        rows += [{"failure": failure} for failure in self.failures]
        notes = f"scripts/sweep, seed {self.seed}, {minutes:.0f} minutes; three repetitions of every call"
        write_results(path, title="kernels against float64", rows=rows, versions={"oneDNN": self.version}, notes=notes)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="what the shapes and numbers are drawn from (default: 0)")
    parser.add_argument("--isa", default="SSE41,AVX,AVX2,ALL", help="names as ONEDNN_MAX_CPU_ISA has them, by commas")
    parser.add_argument("--threads", default="1,2,3,4", help="numbers of threads, by commas")
    parser.add_argument("--kind", choices=KINDS, help="only this kind of kernel")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case of each kind")
    parser.add_argument("--cases", type=int, help="how many cases of each kind; until the time is over if not given")
    parser.add_argument("--out", help="where the JSON goes; nowhere if not given")
    return parser.parse_args()


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def run(given: argparse.Namespace, sweep: Sweep, begun: float) -> None:
    """Turn by turn, until all is computed or the time is over."""
    kinds = [given.kind] if given.kind else KINDS
    where = [(isa, int(threads)) for isa, threads in itertools.product(given.isa.split(","), given.threads.split(","))]
    end = sys.maxsize if given.cases is None else given.first + given.cases
    for turn in itertools.count():
        cases = []
        for kind in kinds:
            first, number = given.first + turn * _TURN * KINDS[kind], _TURN * KINDS[kind]
            cases += [(kind, k) for k in range(first, min(first + number, end))]
        if not cases:
            return
        for isa, threads in where:
            minutes = (time.monotonic() - begun) / 60
            if minutes > given.minutes:
                return
            done, bad = sum(row.cases for row in sweep.rows.values()), len(sweep.failures)
            _say(f"{minutes:.1f} of {given.minutes:g} minutes: {done} cases, {bad} failures; {isa}, {threads} threads")
            sweep.turn(isa, threads, cases)


def main() -> int:
    """Whether anything was wrong: 1; 0 if all is well."""
    given, begun = _arguments(), time.monotonic()
    sweep = Sweep(given.seed)
    try:
        run(given, sweep, begun)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
    print("\n" + sweep.table(), flush=True)
    if given.out:
        sweep.write(given.out, (time.monotonic() - begun) / 60)
    return 1 if sweep.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
