"""Scores as text for a terminal."""

from collections.abc import Iterable, Mapping, Sequence

from cvzoo.cli.result_table import printable
from cvzoo.reporting.score_meanings import MEANINGS


def comparison_text(columns: Mapping[str, Mapping[str, float]]) -> str:
    """A line a score with a column for each of two, and how much more the second has.

    columns: from a head to scores by name, of the same names
    """
    (first, before), (second, after) = columns.items()
    width = max(map(len, before))
    lines = [f"{'':<{width}}  {first:>8}  {second:>8}  {'difference':>10}"]
    for key, value in before.items():
        known = number(value).strip() != "-" != number(after[key]).strip()
        change = f"{after[key] - value:+.4f}" if known else "-"
        lines.append(f"{key:<{width}}  {number(value):>8}  {number(after[key]):>8}  {change:>10}  {MEANINGS[key]}")
    return "\n".join(lines)


def summary_text(scores: Mapping[str, float]) -> str:
    """A line a score: its name, its number, what it means; "-" where there is nothing to average."""
    width = max(map(len, scores))
    return "\n".join(
        f"{key:<{width}}  {number(value)}  {MEANINGS.get(key, '')}".rstrip() for key, value in scores.items()
    )


def class_table(rows: Iterable[Mapping[str, object]], columns: Sequence[str], *, counted: str = "objects") -> str:
    """A line a class: its name, how many objects (images, pixels) it has, and its scores.

    rows: dictionaries with name, n_objects (n_photos, n_pixels) and the columns, None where there is no number
    """
    rows = list(rows)
    names = [printable(str(row["name"])) for row in rows]
    width = max([len("class"), *map(len, names)])
    head = "images" if counted == "photos" else counted  # `n_photos` is the name in JSON
    lines = [f"{'class':<{width}}  {head:>7}" + "".join(f"  {column:>6}" for column in columns)]
    for name, row in zip(names, rows):
        scores = "".join(f"  {number(row[column]):>{len(column)}}" for column in columns)
        lines.append(f"{name:<{width}}  {row[f'n_{counted}']:>7}{scores}")
    return "\n".join(lines)


def number(value: object) -> str:
    """A score with four decimals, right-aligned; "-" for None, -1 and NaN."""
    if not isinstance(value, float | int) or value != value or value == -1:
        return f"{'-':>6}"
    return f"{value:6.4f}"
