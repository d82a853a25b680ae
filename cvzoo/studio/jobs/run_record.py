"""A run as lists show it: its state, progress, best score, and what was trained on which data."""

import dataclasses
import functools
import itertools
import json
import math
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.rows import Row, all_rows, last_rows
from cvzoo.studio.jobs.run_state import State, run_state
from cvzoo.studio.jobs.states import JobState

CONFIG, METRICS, ITERATIONS, DATA, LIVE = "config.json", "metrics.jsonl", "iterations.jsonl", "data.json", "live.jsonl"
_MAX_ITERATION = 1e15  # more is no training but a mistake in its files
_RECENT, _LAST = 1 << 15, 1 << 12  # bytes of a log: for the pace of a running training, and for the last row
_PACE_ROWS = 200  # of which the present speed is the mean


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRecord:
    """A run.

    id, name, folder: the name is the path below the watched folder
    state, detail: as of RunState
    recipe, data: names of what is trained on what, "" if unknown
    epoch, iteration: so far; n_epoch, n_iteration: of the whole training, None if unknown
    best_key, best_is: the score that selects the best model, "largest" or "smallest"
    best, best_epoch: its best value and when; None before the first validation
    elapsed: seconds of training; seconds_left: None unless it is running at a known pace
    seen: the last update, as status.json has it
    changed_at: milliseconds since 1970
    longest_gap: seconds between two rows of the recent log of one that runs, validations included; 0 if there are none
    silent_since: milliseconds since 1970 of the last sign of life of one that runs and may hang; None of others
    tags: of a job; outcome, hint: why its last attempt ended, in a word, and what helps
    """

    id: str
    name: str
    folder: pathlib.Path
    state: State | JobState
    detail: str
    recipe: str
    data: str
    epoch: float
    iteration: int
    n_epoch: float | None
    n_iteration: int | None
    best_key: str | None
    best_is: str
    best: float | None
    best_epoch: float | None
    elapsed: float | None
    seconds_left: float | None
    seen: str
    changed_at: int
    longest_gap: float = 0.0
    silent_since: int | None = None
    tags: tuple[str, ...] = ()
    outcome: str = ""
    hint: str = ""

    @property
    def progress(self) -> float | None:
        """The fraction that is done, in [0, 1]; None if the length is unknown."""
        if self.state in ("finished", "succeeded"):
            return 1.0
        if self.n_iteration:
            return min(self.iteration / self.n_iteration, 1.0)
        return min(self.epoch / self.n_epoch, 1.0) if self.n_epoch else None

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        tree = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # asdict() copies values
        return tree | {"folder": str(self.folder), "progress": self.progress}

    @functools.cached_property
    def json_text(self) -> str:
        """`to_json` as text in ASCII, made once for all lists and streams that show the record."""
        return json.dumps(self.to_json(), allow_nan=False)


def read_record(folder: pathlib.Path, run_id: str, name: str) -> RunRecord:
    """The record of the run in the folder."""
    state, detail, status = run_state(folder)
    config = read_json_object(folder / CONFIG)
    recipe = _mapping(config.get("recipe"))
    rows, _ = all_rows(folder / METRICS)
    size = _RECENT if state == "running" else _LAST
    recent = last_rows(folder / LIVE, size) or last_rows(folder / ITERATIONS, size)
    best_key = said if isinstance(said := status.get("best"), str) else None
    best_is = "smallest" if status.get("best_is") == "smallest" else "largest"
    best_row = best_of(rows, best_key, best_is)
    newest = max([*rows[-1:], *recent[-1:]], key=lambda row: number(row.get("iteration")) or 0, default={})
    iteration = max(int(number(newest.get("iteration")) or 0), int(number(status.get("iteration")) or 0))
    n_epoch = number(recipe.get("epochs"))
    n_iteration = _n_iteration(recipe, read_json_object(folder / DATA), n_epoch)
    epoch = max(number(status.get("epoch")) or 0.0, number(newest.get("epoch")) or 0.0)
    return RunRecord(
        id=run_id,
        name=name,
        folder=folder,
        state=state,
        detail=detail,
        recipe=recipe_name(config),
        data=str(recipe.get("data") or ""),
        epoch=min(epoch, n_epoch) if n_epoch and state == "finished" else epoch,
        iteration=iteration,
        n_epoch=n_epoch,
        n_iteration=n_iteration,
        best_key=best_key,
        best_is=best_is,
        best=None if best_row is None or best_key is None else number(best_row[best_key]),
        best_epoch=None if best_row is None else number(best_row.get("epoch")),
        elapsed=number(newest.get("elapsed_time")),
        seconds_left=seconds_left(recent, n_iteration) if state == "running" else None,
        seen=str(status.get("seen", "")),
        changed_at=_changed_at(folder),
        longest_gap=longest_gap(recent) if state == "running" else 0.0,
    )


def recipe_name(config: dict[str, Any]) -> str:
    """What follows `--recipe` or `--model` in the run's command; else the script; "" if unknown."""
    command = _mapping(config.get("command"))
    given = command.get("arguments")
    arguments = [str(each) for each in given] if isinstance(given, list) else []
    for option in ("--recipe", "--model"):
        for before, value in itertools.pairwise(arguments):
            if before == option:
                return pathlib.PurePath(value).name
        for each in arguments:
            if each.startswith(f"{option}="):
                return pathlib.PurePath(each.partition("=")[2]).name
    return pathlib.PurePath(str(command.get("script") or "")).name


def best_of(rows: Sequence[Row], key: str | None, best_is: str) -> Row | None:
    """The row with the best value of the key, the last one of equals; None if no row has it."""
    known = [] if key is None else [row for row in rows if number(row.get(key)) is not None]
    if key is None or not known:
        return None
    choose = max if best_is == "largest" else min
    return choose(reversed(known), key=lambda row: row[key])


def seconds_left(recent: Sequence[Row], n_iteration: int | None) -> float | None:
    """The estimated remaining time by the pace of the last rows, validations included; None if it is not known."""
    known = [row for row in recent[-_PACE_ROWS:] if _has_pace(row)]
    if n_iteration is None or len(known) < 2:
        return None
    first, last = known[0], known[-1]
    done, took = last["iteration"] - first["iteration"], last["elapsed_time"] - first["elapsed_time"]
    return number(max(n_iteration - last["iteration"], 0) * took / done) if done > 0 and took >= 0 else None


def longest_gap(recent: Sequence[Row]) -> float:
    """The longest time between two of the last rows, in seconds; 0 if there are none."""
    times = [row["elapsed_time"] for row in recent[-_PACE_ROWS:] if _has_pace(row)]
    return max([0.0, *(after - before for before, after in itertools.pairwise(times))])


def number(value: object) -> float | None:
    """The value if it is a finite number, else None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None  # type: ignore[return-value]


def _has_pace(row: Row) -> bool:
    return number(row.get("iteration")) is not None and number(row.get("elapsed_time")) is not None


def _n_iteration(recipe: dict[str, Any], data: dict[str, Any], n_epoch: float | None) -> int | None:
    n_example, batch_size = number(_mapping(data.get("train")).get("n_example")), number(recipe.get("batch_size"))
    if not n_example or not batch_size or not n_epoch:
        return None
    n = float(n_epoch) * n_example / batch_size
    return math.ceil(n) if 0 < n < _MAX_ITERATION else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _changed_at(folder: pathlib.Path) -> int:
    newest = 0
    for name in (CONFIG, METRICS, ITERATIONS, LIVE, "status.json"):
        try:
            newest = max(newest, os.stat(folder / name).st_mtime_ns)
        except OSError:
            continue
    return newest // 1_000_000
