"""The HTML report of a run: scores, curves, settings."""

import base64
import html
import json
import pathlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted
from cvzoo.training.output_folder import write_text
from cvzoo.training.run.anchor_reach import FILENAME as ANCHORS
from cvzoo.training.run.anchor_reach import reach_section
from cvzoo.training.run.class_scores import ClassScores, class_scores, class_table
from cvzoo.training.run.run_curves import curves, value_keys
from cvzoo.training.run.run_status import FINISHED, KILLED, RUNNING, RunStatus, read_status
from cvzoo.typing.aliases import FilePath
from cvzoo.visualizations.report.page import report_page, table
from cvzoo.weights.model_header import read_model_header

FILENAME = "report.html"
ITERATIONS = "iterations.jsonl"  # means of few iterations
IMAGES = "images"  # the folder of visualizations during training
_MAX_CLASS_PLOTS = 6  # more scores of classes are in the table only
_CAPTIONS = {
    "first_batch": "the first batch, with data augmentation",
    "predictions": "predictions on images of the validation set, at the last validation",
}


def write_run_report(
    folder: FilePath, *, best: str | None = None, best_is: str = "largest", status: str = ""
) -> pathlib.Path:
    """Writes report.html from the other files of a run's folder; returns its path.

    best: the score that selects the best row, "largest" or "smallest"; None: that of status.json, if it exists
    status: of the run; "": that of status.json
    Raises FileFormatError for a damaged file; missing ones are left out.
    """
    folder = pathlib.Path(folder)
    path = folder / FILENAME
    said = read_status(folder)
    if best is None and said is not None:
        best, best_is = said.best, said.best_is
    rows, iterations = _read_rows(folder / "metrics.jsonl"), _read_rows(folder / ITERATIONS)
    best_row = _best_row(rows, best, best_is)
    by_class = class_scores(value_keys(rows), _label_names(_read_json(folder / "data.json")))
    plotted = by_class.all_keys if len(by_class.all_keys) > _MAX_CLASS_PLOTS else set()
    sections = [
        ("Scores", _tiles(rows, best_row, best, status, said) + _life(said) + _scores(rows, best_row, by_class)),
        ("Curves", curves(_without(rows, plotted), iterations)),
        ("Images", _images(folder)),
        ("Anchors", reach_section(_read_json(folder / ANCHORS))),
        ("The model", _usage(folder)),
        ("Settings", _settings(_read_json(folder / "config.json") or {})),
        ("Data", _data_table(_read_json(folder / "data.json"))),
        ("Environment", _facts(list((_read_json(folder / "environment.json") or {}).items()))),
    ]
    name = folder.resolve().name
    words = status or (said.state if said is not None else "a run")
    seen = f", {said.seen}" if said is not None else ""
    write_text(path, report_page(name, f"{words}{seen}; self-contained: no network requests", sections))
    return path


# --- reading ---
def _read_json(path: pathlib.Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(f"{path} is damaged: {error}") from error


def _read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]  # a killed run may leave an incomplete one
    except ValueError as error:
        raise FileFormatError(f"{path} is damaged: {error}") from error


def _best_row(rows: Sequence[Mapping[str, Any]], best: str | None, best_is: str) -> Mapping[str, Any] | None:
    known = [] if best is None else [row for row in rows if row.get(best) is not None]
    if best is None or not known:
        return None
    choose = max if best_is == "largest" else min
    return choose(reversed(known), key=lambda row: row[best])  # of equal scores the last, as `BestModel`


# --- sections ---
def _tiles(
    rows: Sequence[Mapping[str, Any]],
    best_row: Mapping[str, Any] | None,
    best: str | None,
    status: str,
    said: RunStatus | None,
) -> str:
    words = status or (said.state if said is not None else "")
    tiles = [("status", words)] if words else []
    last = rows[-1] if rows else {}
    epoch, iteration = last.get("epoch"), last.get("iteration")
    if said is not None:
        epoch, iteration = f"{said.epoch:.4g}", said.iteration
    if iteration is not None:
        tiles += [("epochs", f"{epoch}"), ("iterations", f"{iteration:,}")]
    if rows:
        tiles += [
            (f"training time, {counted(last['iteration'], 'iteration', spec=',')}", as_time(last["elapsed_time"]))
        ]
    if best_row is not None and best is not None:
        tiles += [(f"best {best}, epoch {best_row['epoch']}", _number(best_row[best]))]
    if said is not None:
        tiles += [("last sign of life", said.seen)]
    cells = "".join(f'<div class="tile"><b>{html.escape(value)}</b>{html.escape(name)}</div>' for name, value in tiles)
    return f'<div class="tiles">{cells}</div>'


def _life(said: RunStatus | None) -> str:
    """The notice for a run that has not finished, since the page cannot update itself."""
    if said is None:
        return ""
    if said.state == FINISHED:
        return f'<div class="note">{html.escape(said.reason)}</div>' if said.reason else ""
    words = ""
    if said.state == RUNNING:
        words = (
            "This page was written at the time above. During training it is rewritten about every half minute, after "
            "an iteration; reload it. If it does not change for much longer than an iteration or a validation takes, "
            "the process has ended."
        )
    elif said.state == KILLED:
        words = "The process was killed, or the machine stopped, after the time above."
    resume = f" Resume with:<pre>{html.escape(said.resume_with)}</pre>" if said.resume_with else ""
    return f'<div class="note">{words}{resume}</div>' if words or resume else ""


def _scores(rows: Sequence[Mapping[str, Any]], best_row: Mapping[str, Any] | None, by_class: ClassScores) -> str:
    if not rows:
        return "<p>No epoch is complete yet.</p>"
    last = rows[-1]
    heads = ["", f"last (epoch {last['epoch']})"]
    shown = [last]
    if best_row is not None:
        heads.append(f"best (epoch {best_row['epoch']})")
        shown.append(best_row)
    apart = by_class.all_keys
    # without a validation in the last epoch, its scores are those of the one before
    validated = next((row for row in reversed(rows) if any(row.get(key) is not None for key in apart)), last)
    keys = [key for key in value_keys(rows) if key not in apart and any(row.get(key) is not None for row in shown)]
    own = table(heads, [[key, *(_number(row.get(key)) for row in shown)] for key in keys])
    return own + class_table(by_class, validated, best_row)


def _label_names(data: Mapping[str, Any] | None) -> Sequence[str]:
    """The classes of the training set; none if they are unknown."""
    return next((each["label_names"] for each in (data or {}).values() if each.get("label_names")), ())


def _without(rows: Sequence[Mapping[str, Any]], keys: set[str]) -> list[Mapping[str, Any]]:
    return [{key: value for key, value in row.items() if key not in keys} for row in rows]


def _images(folder: pathlib.Path) -> str:
    figures = []
    for path in sorted((folder / IMAGES).glob("*.jpg")):
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        title = html.escape(_CAPTIONS.get(path.stem, path.stem.replace("_", " ")))
        figures.append(
            f'<figure style="max-width:none"><img class="photo" alt="{title}" src="data:image/jpeg;base64,{data}">'
            f"<figcaption>{title}</figcaption></figure>"
        )
    return f'<div class="grid">{"".join(figures)}</div>' if figures else ""


def _usage(folder: pathlib.Path) -> str:
    path = folder / "best.safetensors"
    if not path.is_file():
        return ""
    if read_model_header(path) is None:
        says, code = "The parameters of", 'cvzoo.serializers.load_safetensors("best.safetensors", model)'
    else:
        says = "This folder has"
        code = (
            "cvzoo predict IMAGE.jpg --model best.safetensors --out FOLDER\n\n"
            'model = cvzoo.serializers.load_model("best.safetensors")\nfound = model.predict(["IMAGE.jpg"])'
        )
    return f"<p>{says} the best model, {path.stat().st_size:,} bytes:</p><pre>{html.escape(code)}</pre>"


def _settings(config: Mapping[str, Any]) -> str:
    """The settings of the recipe and the command, with nested settings, such as the network's, collapsed."""
    recipe = config.get("recipe") or {}
    own = {key: each for key, each in recipe.items() if not isinstance(each, dict)}
    if "seed" in config:
        own["seed"] = config["seed"]
    rows = list(_flat("", own)) if own else []
    command = config.get("command")
    if command:
        started = f"python -m {command['module']}" if command["module"] else f"python {command['script']}"
        rows.append(("command", shlex.join([*started.split(" "), *command["arguments"]]).replace("'{out}'", "FOLDER")))
    folded = ""
    for key, each in recipe.items():
        inner = list(_flat(key, each)) if isinstance(each, dict) else []
        if inner:
            folded += f"<details><summary>{html.escape(key)}: {len(inner)} more</summary>{_facts(inner)}</details>"
    return _facts(rows) + folded


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


def _flat(name: str, tree: object) -> Iterator[tuple[str, str]]:
    """(dotted name, text) of every leaf; a list of leaves is one leaf."""
    if isinstance(tree, dict) and tree:
        for key, each in tree.items():
            yield from _flat(f"{name}.{key}" if name else key, each)
    elif isinstance(tree, list) and any(isinstance(each, dict) for each in tree):
        for i, each in enumerate(tree):
            yield from _flat(f"{name}[{i}]", each)
    else:
        yield name, tree if isinstance(tree, str) else json.dumps(tree, ensure_ascii=False)


def _number(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
