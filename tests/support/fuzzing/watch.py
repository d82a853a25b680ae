"""The parent of the processes that may die: starts them, says how far they are, and keeps what they find."""

import dataclasses
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from fuzzing.child import file_name
from fuzzing.target import Target

SILENCE = 120.0  # seconds of the clock without a word, after which a process is taken to wait for ever


@dataclasses.dataclass
class Finding:
    """kind: "exception", "memory", "time", "wrong", "crash" or "hang"; file: where the case lies."""

    target: str
    kind: str
    what: str
    where: str
    file: pathlib.Path | str


class Child:
    """A process of `fuzzing.worker`; also a context manager, which ends it.

    place: where the child keeps what it is at
    """

    def __init__(self, *words: str, module: str = "fuzzing.worker"):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="cvzoo-fuzz-"))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the pipes
        environment = {**os.environ, "CVZOO_FUZZ_PLACE": str(self.place), "PYTHONUNBUFFERED": "1"}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CVZOO_NUM_THREADS"):
            environment.setdefault(name, "1")  # stacks of threads count as memory
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says, until it ends; a process that says nothing for long is killed."""
        pending = b""
        while True:
            ready, _, _ = select.select([self._process.stdout], [], [], SILENCE)
            if not ready:
                self._process.kill()
                yield {"hang": True}
                return
            block = os.read(self._process.stdout.fileno(), 1 << 16)
            if not block:
                return
            *whole, pending = (pending + block).split(b"\n")
            yield from map(json.loads, filter(None, whole))

    def go_on(self) -> None:
        """Let it go on after a finding."""
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def ended(self) -> tuple[int, str]:
        """(status, how it ended in words)."""
        status = self._process.wait()
        return status, signal.Signals(-status).name if status < 0 else f"status {status}"

    def errors(self) -> str:
        """The end of what it wrote on standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-2000:]

    def current(self, name: str) -> bytes:
        """What the child wrote as `name` last."""
        return next(iter(self.place.glob(f"*/{name}"))).read_bytes()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            pipe.close()
        shutil.rmtree(self.place, ignore_errors=True)


def fuzz(
    targets: Sequence[Target],
    *,
    seed: int,
    seconds: float,
    most: int,
    out: pathlib.Path,
    module: str = "fuzzing.worker",
) -> list[Finding]:
    """The findings of the targets, which share the time and run one after another in one process; one that dies of a
    case is followed by another."""
    ends = time.monotonic() + seconds
    names, number, findings = [target.name for target in targets], 0, []
    known = {target.name: target for target in targets}
    while names and time.monotonic() < ends:
        with Child("fuzz", str(seed), str(number), str(most), str(ends), *names, module=module) as child:
            hangs = False
            for said in child.lines():
                hangs = hangs or "hang" in said
                if "finding" in said:
                    where = said["where"]
                    _keep(findings, out, known[names[0]], said["finding"], said["what"], where, child.current("found"))
                    child.go_on()
                if "done" in said:
                    _summary(names.pop(0), said["cases"], findings)
                    number = 0
                elif "cases" in said:
                    _progress(names[0], said["cases"], findings)
            if not names:
                break
            status, how = child.ended()
            if status >= 0 or not any(child.place.glob("*/number")):  # not killed by a case, but itself wrong
                raise SystemExit(f"{names[0]}: the process that runs it ends by {how}\n{child.errors()}")
            number = int(child.current("number")) + 1
            kind = "hang" if hangs else "time" if how == "SIGXCPU" else "crash"
            _keep(findings, out, known[names[0]], kind, f"the process ends by {how}", "", child.current("case"))
    for name in names:
        _summary(name, number, findings)
        number = 0
    return findings


def _keep(
    findings: list[Finding], out: pathlib.Path, target: Target, kind: str, what: str, where: str, data: bytes
) -> None:
    if sum((each.target, each.kind, each.where) == (target.name, kind, where) for each in findings) >= 3:
        return  # a process that is started anew does not know what was found
    out.mkdir(parents=True, exist_ok=True)
    path = out / file_name(target, kind, data)
    path.write_bytes(data)
    findings.append(Finding(target.name, kind, what, where, path))
    if sys.stderr.isatty():
        sys.stderr.write("\r" + " " * 70 + "\r")
    first = what.splitlines()[0][:160] if what else ""
    print(f"{target.name}: {kind} at {where or '?'}: {first!r}\n  scripts/fuzz --replay {path}", flush=True)


def _summary(name: str, number: int, findings: list[Finding]) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r" + " " * 70 + "\r")
    print(f"{name}: {number} cases, {sum(each.target == name for each in findings)} findings", flush=True)


def _progress(name: str, number: int, findings: list[Finding]) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{name}: {number} cases, {sum(each.target == name for each in findings)} findings ")
        sys.stderr.flush()


def replay(*words: str) -> list[Finding]:
    """What is wrong with the files, or with all bombs: words as of `fuzzing.worker`. One that kills its process is the
    last."""
    findings, at = [], "the start"
    with Child(*words) as child:
        for said in child.lines():
            at = said.get("at", at)
            if "hang" in said:
                findings.append(Finding("", "hang", "does not end", "", at))
                return findings
            if said.get("kind"):
                findings.append(Finding("", said["kind"], said["what"], said["where"], said["file"]))
        status, how = child.ended()
        if status:
            findings.append(Finding("", "crash", f"the process ends by {how}", "", at))
    return findings
