"""Scores by class in a run's report: a sortable table in place of a row and a plot for each class."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.visualizations.report.page import bar, table


class ClassScores(NamedTuple):
    """The keys of a run's log that are scores of one class.

    keys: (title, {class: key}), such as ("ap", {"car": "validation/main/ap/car"})
    """

    keys: tuple[tuple[str, dict[str, str]], ...]

    @property
    def all_keys(self) -> set[str]:
        """The keys of all classes."""
        return {key for _, of_classes in self.keys for key in of_classes.values()}


def class_scores(keys: Sequence[str], label_names: Sequence[str]) -> ClassScores:
    """Those of the keys that end with the name of a class, where there are keys for all classes.

    keys: of the log; label_names: of the data set
    """
    scores: dict[str, dict[str, str]] = {}
    for name in label_names:
        for key in keys:
            prefix = key.removesuffix(f"/{name}")
            if prefix != key and not prefix.endswith("main"):
                scores.setdefault(prefix, {})[name] = key
    whole = {prefix: of_classes for prefix, of_classes in scores.items() if len(of_classes) == len(label_names)}
    return ClassScores(tuple((prefix.rpartition("main/")[2], each) for prefix, each in whole.items()))


def class_table(scores: ClassScores, last: Mapping[str, Any], best: Mapping[str, Any] | None) -> str:
    """HTML of the scores by class, from the highest of the first score; "" without such scores.

    last, best: rows of the log: the last validation, and the one of the best model
    """
    if not scores.keys:
        return ""
    rows = [("last", last)] + ([("best", best)] if best is not None and best is not last else [])
    heads = ["class", *(f"{title}, {which}" for title, _ in scores.keys for which, _ in rows)]
    first = scores.keys[0][1]

    def order(name: str) -> tuple[bool, float]:
        value = last.get(first[name])
        return (value is None, 0.0 if value is None else -value)

    names = sorted(first, key=order)
    lines = [[name, *(bar(row.get(each[name])) for _, each in scores.keys for _, row in rows)] for name in names]
    return f"<h3>By class</h3>{table(heads, lines, sorted_by=heads[1])}"
