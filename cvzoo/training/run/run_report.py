"""A run as one page: curves, scores, settings."""

import html
import json
import math
import os
import pathlib
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.training.interval_means import WHERE
from cvzoo.training.output_folder import write_text
from cvzoo.visualizations.report.page import report_page, table
from cvzoo.visualizations.svg.axis_range import axis_range
from cvzoo.visualizations.svg.line_plot import Line, line_plot
from cvzoo.weights.model_header import read_model_header

FILENAME = "report.html"
_MAX_PLOTS = 60  # a class each of a large data set would bury the page


def write_run_report(
    folder: str | os.PathLike, *, best: str | None = None, best_is: str = "largest", status: str = ""
) -> pathlib.Path:
    """The path of report.html, made anew from the other files of a run's folder.

    best: the score by which the best row is chosen, "largest" or "smallest"; None: no such row
    status: a word on how the run ended
    Raises FileFormatError for a damaged file; those that are missing are left out.
    """
    folder = pathlib.Path(folder)
    path = folder / FILENAME
    rows = _read_rows(folder / "metrics.jsonl")
    best_row = _best_row(rows, best, best_is)
    sections = [
        ("Scores", _tiles(rows, best_row, best, status) + _scores(rows, best_row)),
        ("Curves", _curves(rows)),
        ("The model", _usage(folder)),
        ("Settings", _facts(_settings(_read_json(folder / "config.json") or {}))),
        ("Data", _data_table(_read_json(folder / "data.json"))),
        ("Environment", _facts(list((_read_json(folder / "environment.json") or {}).items()))),
    ]
    name = folder.resolve().name
    write_text(path, report_page(name, f"{status or 'a run'}; this page asks nobody for anything", sections))
    return path


# --- reading ---
def _read_json(path: pathlib.Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(f"{path}: is damaged: {error}") from error


def _read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise FileFormatError(f"{path}: is damaged: {error}") from error


def _best_row(rows: Sequence[Mapping[str, Any]], best: str | None, best_is: str) -> Mapping[str, Any] | None:
    known = [row for row in rows if best is not None and row.get(best) is not None]
    if not known:
        return None
    choose = max if best_is == "largest" else min
    return choose(known, key=lambda row: row[best])


# --- sections ---
def _tiles(rows: Sequence[Mapping[str, Any]], best_row: Mapping[str, Any] | None, best: str | None, status: str) -> str:
    tiles = [("status", status)] if status else []
    if rows:
        last = rows[-1]
        tiles += [("epochs", f"{last['epoch']}"), ("iterations", f"{last['iteration']:,}")]
        tiles += [("time", _duration(last["elapsed_time"]))]
    if best_row is not None:
        tiles += [(f"best {best}, epoch {best_row['epoch']}", _number(best_row[best]))]
    cells = "".join(f'<div class="tile"><b>{html.escape(value)}</b>{html.escape(name)}</div>' for name, value in tiles)
    return f'<div class="tiles">{cells}</div>'


def _scores(rows: Sequence[Mapping[str, Any]], best_row: Mapping[str, Any] | None) -> str:
    if not rows:
        return "<p>Nothing was logged yet.</p>"
    last = rows[-1]
    heads = ["", f"last (epoch {last['epoch']})"]
    shown = [last]
    if best_row is not None:
        heads.append(f"best (epoch {best_row['epoch']})")
        shown.append(best_row)
    keys = [key for key in _value_keys(rows) if any(row.get(key) is not None for row in shown)]
    return table(heads, [[key, *(_number(row.get(key)) for row in shown)] for key in keys])


def _curves(rows: Sequence[Mapping[str, Any]]) -> str:
    if len(rows) < 2:
        return ""
    groups: dict[str, list[str]] = {}  # what ends alike is drawn together: main/loss and validation/main/loss
    for key in _value_keys(rows):
        groups.setdefault(_ending(key), []).append(key)
    x = np.array([row["iteration"] for row in rows], np.float64)
    pieces = []
    for title, keys in list(groups.items())[:_MAX_PLOTS]:
        lines = [Line(*_points(x, rows, key), key if len(keys) > 1 else None) for key in keys]
        lines = [line for line in lines if len(line.x)]
        if not lines:
            continue
        pieces.append(
            line_plot(
                lines,
                title=title if len(keys) > 1 else keys[0],
                x_label="iteration",
                x_range=axis_range(x),
                y_range=axis_range(np.concatenate([line.y for line in lines])),
                size=(240, 360),
            )
        )
    left_out = len(groups) - _MAX_PLOTS
    note = f"<p>{left_out} more values are in metrics.csv.</p>" if left_out > 0 else ""
    return f'<div class="grid">{"".join(pieces)}</div>{note}' if pieces else ""


def _usage(folder: pathlib.Path) -> str:
    path = folder / "best.safetensors"
    if not path.is_file():
        return ""
    if read_model_header(path) is None:
        says, code = "The numbers of", 'cvzoo.serializers.load_safetensors("best.safetensors", model)'
    else:
        says = "In this folder lies"
        code = 'model = cvzoo.serializers.load_model("best.safetensors")\nfound = model.predict(["photo.jpg"])'
    return f"<p>{says} the model at its best, {path.stat().st_size:,} bytes:</p><pre>{html.escape(code)}</pre>"


def _settings(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = list(_flat("", config.get("recipe") or {}))
    if "seed" in config:
        found.append(("seed", str(config["seed"])))
    command = config.get("command")
    if command:
        started = f"python -m {command['module']}" if command["module"] else f"python {command['script']}"
        found.append(("command", shlex.join([*started.split(" "), *command["arguments"]]).replace("'{out}'", "FOLDER")))
    return found


def _data_table(data: Mapping[str, Any] | None) -> str:
    if not data:
        return ""
    rows = []
    for name, each in data.items():
        names = each["label_names"]
        finest = min(each["content"], key=int, default=None)
        read = "" if finest is None else "all" if finest == "1" else f"each {finest}th"
        digest = each["content"].get(finest) or each["files"] or ""
        classes = "–" if names is None else str(len(names))
        rows.append((name, f"{each['n_example']:,}", ", ".join(each["keys"]), classes, digest[:16], read))
    return table(["", "examples", "values", "classes", "SHA-256", "examples in it"], rows)


def _facts(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><td>{html.escape(name)}</td><td style="text-align:left;white-space:normal">{html.escape(text)}</td></tr>'
        for name, text in rows
    )
    return f'<div class="scroll"><table>{cells}</table></div>' if cells else ""


def _flat(name: str, tree: Any) -> Any:
    """(dotted name, text) of every leaf; lists of leaves stay together."""
    if isinstance(tree, dict) and tree:
        for key, each in tree.items():
            yield from _flat(f"{name}.{key}" if name else key, each)
    elif isinstance(tree, list) and any(isinstance(each, dict) for each in tree):
        for i, each in enumerate(tree):
            yield from _flat(f"{name}[{i}]", each)
    else:
        yield name, tree if isinstance(tree, str) else json.dumps(tree, ensure_ascii=False)


# --- numbers ---
def _value_keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [key for key in dict.fromkeys(key for row in rows for key in row) if key not in WHERE]


def _ending(key: str) -> str:
    return key.rpartition("main/")[2]


def _points(x: np.ndarray, rows: Sequence[Mapping[str, Any]], key: str) -> tuple[np.ndarray, np.ndarray]:
    """Where the value is there; NaN where it was no number."""
    there = [i for i, row in enumerate(rows) if key in row]
    y = np.array([math.nan if rows[i][key] is None else rows[i][key] for i in there], np.float64)
    return x[there], y


def _number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
