"""What differs between two evaluations of the same data: scores, and images that have errors in one of them only."""

import dataclasses
from collections import Counter
from typing import Any, Literal, TypeAlias

from cvzoo.studio.evaluations.results import Results, kinds_of
from cvzoo.studio.jobs.rows import Row

Change: TypeAlias = Literal["fixed", "better", "worse", "broken"]


@dataclasses.dataclass(frozen=True)
class ImageChange:
    """An image that one of the evaluations does better. index: in the data

    change: "fixed" without errors in the second only, "broken" in the first only, else with fewer or more of them
    before, after: errors by kind, as KINDS of `results` names them, in the first and in the second
    """

    index: int
    image: str
    change: Change
    before: dict[str, int]
    after: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Difference:
    """scores: (name, in the first, in the second), of those that both have; images: the largest changes first"""

    scores: list[tuple[str, float, float]]
    images: list[ImageChange]

    @property
    def counts(self) -> dict[str, int]:
        """The number of images of each change."""
        found = Counter(each.change for each in self.images)
        return {name: found[name] for name in ("fixed", "better", "worse", "broken")}


def difference(first: Results, second: Results) -> Difference:
    """What differs from the first to the second, which are of the same data."""
    known, other = dict(first.summary), dict(second.summary)
    scores = [(name, value, other[name]) for name, value in known.items() if name in other]
    rows = _by_index(first), _by_index(second)
    images = []
    for index in sorted({*rows[0], *rows[1]}):
        before, after = (Counter(kinds_of(part[index])) if index in part else Counter() for part in rows)
        n, m = before.total(), after.total()
        if n != m:
            change: Change = "fixed" if not m else "broken" if not n else "better" if m < n else "worse"
            name = str((rows[0].get(index) or rows[1][index])["image"])
            images.append(ImageChange(index, name, change, dict(before), dict(after)))
    images.sort(key=lambda each: -abs(sum(each.before.values()) - sum(each.after.values())))
    return Difference(scores, images)


def _by_index(results: Results) -> dict[int, Row]:
    return {row["index"]: row for row in results.verdicts if isinstance(row.get("index"), int)}
