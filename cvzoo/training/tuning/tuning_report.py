"""The table of a search's trials, as CSV and as an HTML report."""

import csv
import html
import io
import math
import pathlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cvzoo.reporting.as_time import as_time
from cvzoo.training.output_folder import write_text
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.tuning.search import RUNNING, Search, Trial
from cvzoo.training.tuning.search_space import Range, value_text
from cvzoo.visualizations.report.page import report_page, table
from cvzoo.visualizations.svg.line_plot import Line, line_plot
from cvzoo.visualizations.svg.parallel_coordinates import Coordinate, parallel_coordinates


def write_table(path: pathlib.Path, search: Search, metric: str) -> None:
    """Writes trials.csv: a row per trial with its state, score, epochs, seconds, settings and reason.

    metric: the score's name in the log
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["trial", "state", metric, "epochs", "seconds", *search.spaces, "reason"])
    for trial in search.trials:
        score = "" if math.isnan(trial.score) else trial.score
        settings = [value_text(trial.settings[name]) for name in search.spaces]
        writer.writerow(
            [trial.number, trial.state, score, trial.epochs, round(trial.seconds, 1), *settings, trial.reason]
        )
    write_text(path, buffer.getvalue())


def write_tuning_report(
    path: pathlib.Path,
    search: Search,
    recipe: AbstractRecipe,
    *,
    seconds: float,
    stopped: str = "",
    commands: Sequence[tuple[str, str]] = (),
) -> None:
    """Writes report.html: the best trial, parallel coordinates, the table of trials, the search space.

    seconds: spent so far; stopped: why the search ended before its last trial
    commands: (purpose, command line) for the best model
    """
    is_over = not any(trial.state == RUNNING for trial in search.trials)
    state = stopped or ("finished" if is_over else "running")
    sections = [
        ("Best", _tiles(search, recipe, seconds, state) + _best(search, commands)),
        ("Parallel coordinates", _coordinates(search, recipe)),
        ("Trials", _table(search, recipe)),
        ("Progress", _progress(search, recipe)),
        ("Search space", table(["setting", "space"], [(name, str(space)) for name, space in search.spaces.items()])),
        ("Rungs", _rungs(search, recipe)),
        ("Fixed settings", table(["setting", "value"], [(name, value_text(value)) for name, value in recipe.lines()])),
    ]
    subtitle = f"{state}; self-contained: no network requests"
    write_text(path, report_page(f"search in {path.parent.resolve().name}", subtitle, sections))


def _tiles(search: Search, recipe: AbstractRecipe, seconds: float, state: str) -> str:
    best = search.best
    counts = Counter(trial.state for trial in search.trials)
    tiles = [("trials", str(len(search.trials))), *((name, str(n)) for name, n in counts.items())]
    tiles += [("time", as_time(seconds))]
    if best is not None:
        tiles.insert(0, (f"best {recipe.best}, trial {best.number}", f"{best.score:.4g}"))
    cells = "".join(f'<div class="tile"><b>{html.escape(value)}</b>{html.escape(name)}</div>' for name, value in tiles)
    return f'<div class="tiles">{cells}</div>'


def _best(search: Search, commands: Sequence[tuple[str, str]]) -> str:
    best = search.best
    if best is None:
        return "<p>No trial has a score yet.</p>"
    words = "  ".join(f"{name}={value_text(value)}" for name, value in best.settings.items())
    lines = [f"# {purpose}\n{command}" for purpose, command in commands]
    return f"<p>trial {best.number}: {html.escape(words)}</p><pre>{html.escape(chr(10).join(lines))}</pre>"


def _coordinates(search: Search, recipe: AbstractRecipe) -> str:
    trials = [trial for trial in search.trials if trial.scores or trial.reason]
    if not any(trial.scores for trial in trials):
        return ""
    axes = []
    for name, space in search.spaces.items():
        is_log = isinstance(space, Range) and space.is_log
        values = [trial.settings[name] for trial in trials]
        are_numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
        axes.append(Coordinate(name, values if are_numbers else list(map(value_text, values)), is_log))
    axes.append(Coordinate("epochs", [float(trial.epochs) for trial in trials]))
    axes.append(Coordinate(recipe.best.rpartition("/")[2], [trial.score for trial in trials]))
    note = "<p>A line is a trial, stronger with its score; the best is highlighted, failed ones are dashed.</p>"
    return f'<div class="scroll">{parallel_coordinates(axes, title="settings and scores of the trials")}</div>{note}'


def _table(search: Search, recipe: AbstractRecipe) -> str:
    heads = ["trial", recipe.best, "state", "epochs", "time", *search.spaces, "reason"]
    ranked = sorted(search.trials, key=lambda trial: (math.isnan(trial.score), -_finite(trial.score), trial.number))
    return table(heads, [_row(trial, search) for trial in ranked], sorted_by=recipe.best)


def _row(trial: Trial, search: Search) -> list[str | int]:
    score = "–" if math.isnan(trial.score) else f"{trial.score:.4g}"
    settings = [value_text(trial.settings[name]) for name in search.spaces]
    return [trial.number, score, trial.state, f"{trial.epochs:g}", as_time(trial.seconds), *settings, trial.reason]


def _finite(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _progress(search: Search, recipe: AbstractRecipe) -> str:
    """The score of each trial, and the best so far, by the trial's number."""
    scored = [trial for trial in search.trials if trial.scores]
    if len(scored) < 2:
        return ""
    numbers, scores = (np.array(each, np.float64) for each in zip(*((trial.number, trial.score) for trial in scored)))
    lines = [Line(numbers, scores, "trial"), Line(numbers, np.maximum.accumulate(scores), "best so far")]
    return line_plot(lines, x_label="trial", y_label=recipe.best, x_range=None, y_range=None, size=(220, 420))


def _rungs(search: Search, recipe: AbstractRecipe) -> str:
    """Epochs of each rung, how many trials have completed it, and its best score."""
    if len(search.rungs) == 1:
        return "<p>Random search: each trial is trained for all epochs.</p>"
    rows = []
    for rung, epochs in enumerate(search.rungs):
        scores = [trial.scores[rung] for trial in search.trials if trial.n_rung > rung]
        rows.append((epochs, len(scores), f"{max(scores):.4g}" if scores else "–"))
    note = f"<p>Successive halving: the best 1/{search.factor} of a rung are promoted.</p>"
    return note + table(["epochs", "trials", f"best {recipe.best}"], rows)
