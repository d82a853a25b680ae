"""Repetition of a run, and a comparison of the results."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.files.file_hash import sha256_of
from cvzoo.reporting.counted import counted
from cvzoo.training.interval_means import WHERE
from cvzoo.training.run.command import RECIPE_FILE, SCRIPT_COPY, Command, read_command
from cvzoo.training.run.data_fingerprint import same_data
from cvzoo.training.run.mark_killed import mark_if_killed
from cvzoo.typing.aliases import FilePath

# they affect the order of summation, and so the last bits
_VARIABLES = ("CVZOO_BACKEND", "CVZOO_NUM_THREADS", "OMP_NUM_THREADS")
# the momentary state of the machine: free memory, other programs; results do not depend on it
_MOMENTARY = ("memory pool", "load", "waiting threads")


class Rerun(NamedTuple):
    """The result of a repetition.

    folder: of the new run; status: exit status of its process
    notes: one line per difference: data, environment, metrics, best.safetensors; empty if the bits are the same
    """

    folder: str
    status: int
    notes: tuple[str, ...]


def rerun(folder: FilePath, out: FilePath, *, python: str = sys.executable) -> Rerun:
    """Repeats the command of a run with a new folder, and compares the results.

    folder: of the run; out: of the new one, which must not have a run. The copy of the script in the folder is run with
        the same arguments, working directory and number of threads; of `cvzoo train`, the recipe is the folder's
    python: the interpreter
    Raises FileFormatError if the folder has no run, UnsupportedError if its command cannot be repeated or does not have
    the folder as an argument, ValueRangeError if `out` has a run.
    """
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    command = read_command(folder)
    mark_if_killed(folder)
    if (out / "config.json").exists():
        raise ValueRangeError(f"{out} already has a run", hint="choose another folder")
    if not command.names_its_folder:
        raise UnsupportedError(
            f"{folder}: the command does not have the folder as an argument, so it cannot be replaced",
            got=list(command.arguments),
        )
    start = pathlib.Path(os.path.normpath(folder.resolve() / command.folder))
    if not start.is_dir():
        raise UnsupportedError(f"{folder}: the run was started in {start}, which no longer exists")
    arguments = _with_recipe(folder, command, command.arguments_for(os.path.abspath(out)))
    words = [python, *_script_words(folder, command), *arguments]
    status = subprocess.run(words, cwd=start, env=_variables(folder, command), check=False).returncode
    notes = [] if status == 0 else [f"its process ended with status {status}"]
    return Rerun(os.fspath(out), status, (*notes, *compare_runs(folder, out)))


def compare_runs(folder: FilePath, out: FilePath) -> tuple[str, ...]:
    """One line per difference of a repetition from its run, as of `Rerun`; empty if the bits are the same.

    folder: of the run; out: of the repetition, which may have been made in another way than by `rerun`
    """
    return tuple(_notes(pathlib.Path(folder), pathlib.Path(out)))


def _script_words(folder: pathlib.Path, command: Command) -> Sequence[str]:
    if command.module is not None:
        return ["-m", command.module]
    copy = folder.resolve() / SCRIPT_COPY
    if command.script is None or not copy.is_file():
        raise UnsupportedError(f"{folder}: the run was not started by a script or a module, so it cannot be repeated")
    return [str(copy)]


def _with_recipe(folder: pathlib.Path, command: Command, arguments: list[str]) -> list[str]:
    """The arguments of `cvzoo train` with the run's own recipe: that of a file or a listing may have changed since."""
    recipe = folder.resolve() / RECIPE_FILE
    if command.module != "cvzoo" or arguments[:1] != ["train"] or not recipe.is_file():
        return arguments
    kept: list[str] = []
    for before, word in zip(["", *arguments], arguments):
        if "--config" not in (before, word) and not word.startswith("--config="):
            kept.append(word)
    return [*kept, "--config", str(recipe)]


def _variables(folder: pathlib.Path, command: Command) -> dict[str, str]:
    variables = dict(os.environ)
    then = _read(folder / "environment.json") or {}
    for name in _VARIABLES:
        if name in then:
            variables[name] = then[name]
        else:
            variables.pop(name, None)
    if command.script is not None:  # so that the copy can import the modules next to the script
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
        return [f"metrics.jsonl has {counted(len(now), 'line')}, not {len(then)}"]
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
