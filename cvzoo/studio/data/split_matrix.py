"""How the objects of each class are divided among the splits."""

import dataclasses
import functools
from typing import Any

from sqlalchemy import Engine, func, select

from cvzoo.studio.data.datasets import classes_at, split_rank
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import ITEM, ITEM_CLASS


@dataclasses.dataclass(frozen=True)
class SplitMatrix:
    """splits: in order, "" of images without one; rows: (class, its number of objects in each split), in order"""

    splits: list[str]
    rows: list[tuple[str, list[int]]]

    @property
    def totals(self) -> list[int]:
        """The number of objects of each split."""
        return [sum(counts[i] for _, counts in self.rows) for i in range(len(self.splits))]

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


@functools.lru_cache(maxsize=32)  # revisions do not change, and counting 100,000 images takes most of a second
def split_matrix(engine: Engine, dataset: str, rev: int) -> SplitMatrix:
    """The matrix of the newest revision, whose number is rev."""
    same = (ITEM.c.dataset == ITEM_CLASS.c.dataset) & (ITEM.c.ordinal == ITEM_CLASS.c.ordinal)
    newest = (ITEM_CLASS.c.dataset == dataset) & ITEM_CLASS.c.last_rev.is_(None) & ITEM.c.last_rev.is_(None)
    query = select(ITEM.c.split, ITEM_CLASS.c.name, func.sum(ITEM_CLASS.c.n)).join(ITEM, same).where(newest)
    with reading(engine) as connection:
        found = connection.execute(query.group_by(ITEM.c.split, ITEM_CLASS.c.name)).all()
        names = classes_at(connection, dataset, rev)
    counts = {(split, name): int(n) for split, name, n in found}
    splits = sorted({split for split, _ in counts}, key=split_rank)
    return SplitMatrix(splits, [(name, [counts.get((split, name), 0) for split in splits]) for name in names])
