"""A run, once more."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.files.file_hash import sha256_of
from cvzoo.training.interval_means import WHERE
from cvzoo.training.run.command import SCRIPT_COPY, Command, read_command
from cvzoo.training.run.data_fingerprint import same_data
from cvzoo.training.run.mark_killed import mark_if_killed

# they change how sums are split, and with it the last bits
_VARIABLES = ("CVZOO_BACKEND", "CVZOO_NUM_THREADS", "OMP_NUM_THREADS")
# how it was on the machine at the moment: idle memory, other programs, how long threads spin because of them; no bit
# depends on it
_MOMENTARY = ("memory pool", "load", "waiting threads")


class Rerun(NamedTuple):
    """How a repetition went.

    folder: of the new run; status: of its process, 0 if it ended well
    notes: what differs, a line each: data, environment, metrics, best.safetensors; empty if it is the same to the bit
    """

    folder: str
    status: int
    notes: tuple[str, ...]


def rerun(folder: str | os.PathLike, out: str | os.PathLike, *, python: str = sys.executable) -> Rerun:
    """Start the command of a run once more, with another folder, and compare what comes out.

    folder: of the run; out: of the new one, which must not hold a run. The script's copy in the folder is run, with the
        arguments, from where it was run and with the number of threads
    python: the interpreter
    Raises FileFormatError if the folder holds no run, UnsupportedError if it was started in a way that cannot be
    repeated or its script takes its folder from elsewhere than the arguments, ValueRangeError if `out` holds a run.
    """
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    command = read_command(folder)
    mark_if_killed(folder)
    if (out / "config.json").exists():
        raise ValueRangeError(f"{out} holds a run already", hint="choose another folder")
    if not command.names_its_folder:
        raise UnsupportedError(
            f"{folder}: the folder was not among the arguments, so no other can be given", got=list(command.arguments)
        )
    start = pathlib.Path(os.path.normpath(folder.resolve() / command.folder))
    if not start.is_dir():
        raise UnsupportedError(f"{folder}: was started in {start}, which is no more")
    words = [python, *_script_words(folder, command), *command.arguments_for(os.path.abspath(out))]
    status = subprocess.run(words, cwd=start, env=_variables(folder, command), check=False).returncode
    notes = [] if status == 0 else [f"its process ended with status {status}"]
    return Rerun(os.fspath(out), status, (*notes, *_notes(folder, out)))


def _script_words(folder: pathlib.Path, command: Command) -> Sequence[str]:
    if command.module is not None:
        return ["-m", command.module]
    copy = folder.resolve() / SCRIPT_COPY
    if command.script is None or not copy.is_file():
        raise UnsupportedError(f"{folder}: was not started by a script or a module, so it cannot be started again")
    return [str(copy)]


def _variables(folder: pathlib.Path, command: Command) -> dict[str, str]:
    variables = dict(os.environ)
    then = _read(folder / "environment.json") or {}
    for name in _VARIABLES:
        if name in then:
            variables[name] = then[name]
        else:
            variables.pop(name, None)
    if command.script is not None:  # so that the copy finds the modules beside the script
        beside = os.path.dirname(os.path.normpath(folder.resolve() / command.script))
        paths = [beside, *filter(None, [variables.get("PYTHONPATH")])]
        variables["PYTHONPATH"] = os.pathsep.join(paths)
    return variables


def _notes(folder: pathlib.Path, out: pathlib.Path) -> list[str]:
    if not (out / "config.json").exists():
        return ["it ended before the run began"]
    notes = []
    data, again = (_read(each / "data.json") or {} for each in (folder, out))
    for name in sorted({*data, *again}):
        same = same_data(data[name], again[name]) if name in data and name in again else False
        if not same:
            notes.append(f"the data {name!r} " + ("differ" if same is False else "could not be compared"))
    then, now = (_read(each / "environment.json") or {} for each in (folder, out))
    for name in sorted({*then, *now}):
        if name not in _MOMENTARY and then.get(name) != now.get(name):
            notes.append(f"{name}: {then.get(name)} was, {now.get(name)} is")
    notes += _metric_notes(*(_read_metrics(each / "metrics.jsonl") for each in (folder, out)))
    best = [each / "best.safetensors" for each in (folder, out)]
    if any(path.is_file() for path in best) and not (
        all(path.is_file() for path in best) and sha256_of(best[0]) == sha256_of(best[1])
    ):
        notes.append("best.safetensors differs")
    return notes


def _metric_notes(then: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    if len(then) != len(now):
        return [f"metrics.jsonl has {len(now)} lines, not {len(then)}"]
    for a, b in zip(then, now):
        for key in [*a, *(key for key in b if key not in a)]:
            if key != WHERE[2] and a.get(key) != b.get(key):
                return [f"{key} at iteration {a.get('iteration')}: {a.get(key)} was, {b.get(key)} is"]
    return []


def _read(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _read_metrics(path: pathlib.Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError):
        return []
