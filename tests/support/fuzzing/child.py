"""A process that runs cases of one target, under limits; it may die of one of them."""

import gc
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from fuzzing.byte_mutations import MOST
from fuzzing.target import Target, WrongResultError

MAX_POOL = 300
MAX_KEPT = 1 << 16  # bytes of a case that is mutated further
SHRINK_TRIES, SHRINK_SECONDS = 150, 1.0


class Verdict:
    """What became of a case.

    kind: "" if all is well, else "exception", "memory", "time" or "wrong"
    what: in words
    mark: where in the program it ended; cases with new marks are worth mutating further
    """

    def __init__(self, kind: str, what: str, mark: str):
        self.kind, self.what, self.mark = kind, what, mark


def _used() -> float:
    return time.process_time()


def _virtual_size() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}cvzoo{os.sep}" in frame.filename]
    frame = (ours or frames)[-1]
    return f"{pathlib.Path(frame.filename).name}:{frame.lineno}"


def judge(target: Target, data: bytes, folder: pathlib.Path) -> Verdict:
    """Run one case in an empty folder, which is emptied again. A crash, or a call in C that does not end, ends the
    process."""
    folder.mkdir(exist_ok=True)
    hard, hard_seconds = (resource.getrlimit(limit)[1] for limit in (resource.RLIMIT_AS, resource.RLIMIT_CPU))
    seconds = target.seconds_for(len(data))
    begun = _used()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begun + seconds) + 2, hard_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (_virtual_size() + target.memory_for(len(data)), hard))
    try:
        target.run(folder, data)
        verdict = Verdict("", "", "done")
    except target.allowed as error:
        verdict = Verdict("", "", _place(error))
    except MemoryError as error:
        verdict = Verdict("memory", f"wants more than {target.memory_for(len(data)) >> 20} MB", _place(error))
    except WrongResultError as error:
        verdict = Verdict("wrong", str(error), _place(error))
    except Exception as error:
        verdict = Verdict("exception", f"{type(error).__name__}: {error}", _place(error))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        resource.setrlimit(resource.RLIMIT_CPU, (hard_seconds, hard_seconds))
        shutil.rmtree(folder, ignore_errors=True)
    used = _used() - begun
    if not verdict.kind and used > seconds:
        verdict = Verdict("time", f"{used:.1f} s of the processor for {len(data)} bytes", verdict.mark)
    return verdict


class Cases:
    """The cases of one run, which seed and number determine."""

    def __init__(self, target: Target, seed: int):
        self._target, self._seed = target, seed
        self._seeds = list(target.seeds())
        self._pool = list(self._seeds)
        self._marks: set[str] = set()

    def case(self, number: int) -> bytes:
        """First the examples as they are, then changed ones."""
        if number < len(self._seeds):
            return self._seeds[number]
        rng = random.Random(f"{self._target.name} {self._seed} {number}")
        data = rng.choice(self._pool if rng.random() < 0.7 else self._seeds)
        for _ in range(rng.choice((1, 1, 2, 3, 5))):
            data = rng.choice(self._target.mutations)(rng, data)
        return data[: 4 * MOST]

    def learn(self, data: bytes, verdict: Verdict) -> None:
        """Keep a case that ended in a new place."""
        if verdict.mark not in self._marks and len(data) <= MAX_KEPT:
            self._marks.add(verdict.mark)
            self._pool.append(data)
            del self._pool[len(self._seeds) + MAX_POOL :]


def _shrunk(target: Target, data: bytes, verdict: Verdict, folder: pathlib.Path) -> bytes:
    """A smaller case with the same end."""
    size = max(1, len(data) // 2)
    tries, ends = 0, _used() + SHRINK_SECONDS
    while size and tries < SHRINK_TRIES and _used() < ends:
        at = 0
        while at < len(data) and tries < SHRINK_TRIES and _used() < ends:
            shorter = data[:at] + data[at + size :]
            tries += 1
            again = judge(target, shorter, folder)
            if (again.kind, again.mark) == (verdict.kind, verdict.mark):
                data = shorter
            else:
                at += size
        size //= 2
    return data


def say(**what: Any) -> None:
    """One line of JSON for the parent."""
    print(json.dumps(what), flush=True)


def file_name(target: Target, kind: str, data: bytes) -> str:
    """What a finding is called."""
    return f"{target.name}-{kind}-{hashlib.sha256(data).hexdigest()[:8]}{target.ending}"


def fuzz(target: Target, *, seed: int, first: int, ends: float, most: int, place: pathlib.Path) -> None:
    """Run cases until the clock says `ends`; findings and progress are told to the parent.

    place: a folder of our own; the case that is run lies in it as "case"
    """
    cases = Cases(target, seed)
    told = 0.0
    number, seen = first, set()
    while number < most and time.monotonic() < ends:
        data = cases.case(number)
        (place / "case").write_bytes(data)
        (place / "number").write_text(str(number))
        verdict = judge(target, data, place / "run")
        cases.learn(data, verdict)
        if verdict.kind and (verdict.kind, verdict.mark) not in seen:
            seen.add((verdict.kind, verdict.mark))
            small = data if verdict.kind == "time" else _shrunk(target, data, verdict, place / "run")
            (place / "found").write_bytes(small)
            say(finding=verdict.kind, what=verdict.what[:300], where=verdict.mark)
            sys.stdin.readline()  # until the parent has taken the file
        number += 1
        if time.monotonic() - told > 0.5:
            told = time.monotonic()
            say(cases=number)
    say(cases=number, done=True)


def replay(paths: list[str], targets: Sequence[Target], place: pathlib.Path) -> None:
    """Judge files, each by the target that its folder, or the beginning of its name, names; and every bomb."""
    for text in paths:
        path = pathlib.Path(text)
        target = target_of(path, targets)
        say(at=text, limit=target.seconds_for(path.stat().st_size))
        verdict = judge(target, path.read_bytes(), place / "run")
        say(file=text, kind=verdict.kind, what=verdict.what, where=verdict.mark)


def replay_bombs(targets: Sequence[Target], place: pathlib.Path) -> None:
    """Judge what is too large to be kept."""
    for target in targets:
        for i, data in enumerate(target.bombs()):
            name = f"bomb {i} of {target.name}"
            say(at=name)
            verdict = judge(target, data, place / "run")
            say(file=name, kind=verdict.kind, what=verdict.what, where=verdict.mark)
            gc.collect()


def target_of(path: pathlib.Path, targets: Sequence[Target]) -> Target:
    """The target of a file of a corpus or of a finding."""
    names = {target.name: target for target in targets}
    for name in sorted(names, key=len, reverse=True):
        if path.parent.name == name or path.name.startswith(f"{name}-"):
            return names[name]
    raise SystemExit(f"{path}: neither its folder nor its name begins with one of: {', '.join(names)}")


def main(argv: list[str], targets: Sequence[Target]) -> None:
    """What the parent asks for: `fuzz SEED FIRST MOST ENDS NAME ...`, `replay FILE ...`, `bombs`."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(1000)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="cvzoo-fuzz-", dir=os.environ.get("CVZOO_FUZZ_PLACE")) as folder:
        place = pathlib.Path(folder)
        say(place=folder)
        if argv[0] == "replay":
            replay(argv[1:], targets, place)
        elif argv[0] == "bombs":
            replay_bombs(targets, place)
        else:
            seed, first, most, ends, *names = argv[1:]
            known = {target.name: target for target in targets}
            for i, name in enumerate(names):
                now = time.monotonic()
                share = now + max(0.0, float(ends) - now) / (len(names) - i)
                fuzz(known[name], seed=int(seed), first=0 if i else int(first), ends=share, most=int(most), place=place)
