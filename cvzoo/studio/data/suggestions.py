"""What models propose for the images of data sets: objects that annotators accept, change or refuse."""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Engine, Row, delete, func, insert, select, update

from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import SUGGESTION

State: TypeAlias = Literal["open", "accepted", "changed", "refused"]
REFUSED = "refused"  # a key of objects that are
_AT_ONCE = 500  # images of a statement


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """What a model proposes for an image.

    ordinal: of the image; job: that predicted; model: its key
    objects: as of the image's labels, with score and source in `extra`; those that were refused have "refused"
    score: the largest one; state: "open" while an object is neither refused nor in the labels
    by, at: the user who judged it last, None before, and when
    """

    ordinal: int
    job: str
    model: str
    objects: list[dict[str, Any]]
    score: float
    state: State
    by: str | None
    at: int

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)

    def undecided(
        self, labels: Iterable[Mapping[str, Any]], above: float, ids: Collection[str] | None
    ) -> list[dict[str, Any]]:
        """The objects that are neither refused nor in the labels. above: the least score; ids: None for all"""
        known = {each["id"] for each in labels}
        return [
            each
            for each in self.objects
            if not each.get(REFUSED)
            and each["id"] not in known
            and score_of(each) >= above
            and (ids is None or each["id"] in ids)
        ]


class Suggestions:
    """The proposals for the images of all data sets. engine, clock: of the studio"""

    def __init__(self, engine: Engine, clock: Clock):
        self._engine, self._clock = engine, clock

    def page(self, dataset: str, *, state: str = "open", after: int = -1, limit: int = 100) -> list[Suggestion]:
        """Proposals in the order of the images. state: "" for any; after: the ordinal that the page follows"""
        mine = (SUGGESTION.c.dataset == dataset) & (SUGGESTION.c.ordinal > after)
        if state:
            mine &= SUGGESTION.c.state == state
        query = select(SUGGESTION).where(mine).order_by(SUGGESTION.c.ordinal, SUGGESTION.c.at, SUGGESTION.c.job)
        with reading(self._engine) as connection:
            return [suggestion_of(row) for row in connection.execute(query.limit(limit))]

    def of_image(self, dataset: str, ordinal: int) -> list[Suggestion]:
        """The proposals for an image that were not all refused."""
        mine = (SUGGESTION.c.dataset == dataset) & (SUGGESTION.c.ordinal == ordinal)
        query = select(SUGGESTION).where(mine, SUGGESTION.c.state != "refused").order_by(SUGGESTION.c.at)
        with reading(self._engine) as connection:
            return [suggestion_of(row) for row in connection.execute(query)]

    def counts(self, dataset: str) -> dict[str, int]:
        """The number of proposals by state."""
        query = select(SUGGESTION.c.state, func.count()).where(SUGGESTION.c.dataset == dataset)
        with reading(self._engine) as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(query.group_by(SUGGESTION.c.state))}

    def refuse(
        self,
        dataset: str,
        ordinals: Sequence[int] | None,
        above: float,
        user: str,
        *,
        ids: Collection[str] | None = None,
        labels_of: Callable[[Connection, int], list[dict[str, Any]]],
    ) -> int:
        """The number of objects that were refused. Arguments are those of `Edits.accept`.

        labels_of: the objects of an image
        """
        n, now = 0, self._clock()
        with writing(self._engine) as connection:
            for each in open_suggestions(connection, dataset, ordinals, above):
                labels = labels_of(connection, each.ordinal)
                gone = {one["id"] for one in each.undecided(labels, above, ids)}
                if gone:
                    objects = [one | {REFUSED: True} if one["id"] in gone else one for one in each.objects]
                    n += len(gone)
                    _judge(connection, dataset, dataclasses.replace(each, objects=objects), labels, user, now)
        return n


def score_of(each: Mapping[str, Any]) -> float:
    """The score of a proposed object."""
    return float(each["extra"]["score"])


def suggestion_of(row: Row[Any]) -> Suggestion:
    """The proposals of a row."""
    tree = {field.name: getattr(row, field.name) for field in dataclasses.fields(Suggestion)}
    return Suggestion(**tree | {"objects": json.loads(tree["objects"])})


def open_suggestions(
    connection: Connection, dataset: str, ordinals: Sequence[int] | None, above: float
) -> list[Suggestion]:
    """The open proposals with an object of this score, those of images that are named, or all, in their order."""
    mine = (SUGGESTION.c.dataset == dataset) & (SUGGESTION.c.state == "open") & (SUGGESTION.c.score >= above)
    query = select(SUGGESTION).where(mine).order_by(SUGGESTION.c.ordinal, SUGGESTION.c.at)
    if ordinals is None:
        return [suggestion_of(row) for row in connection.execute(query)]
    wanted, found = sorted(set(ordinals)), []
    for start in range(0, len(wanted), _AT_ONCE):
        part = SUGGESTION.c.ordinal.in_(wanted[start : start + _AT_ONCE])
        found += [suggestion_of(row) for row in connection.execute(query.where(part))]
    return found


def add_suggestions(connection: Connection, dataset: str, found: Sequence[Suggestion]) -> None:
    """Adds what a job proposes; open proposals of other jobs for these images are replaced.

    What is there of the job already stays, so that it may be added twice.
    """
    for start in range(0, len(found), _AT_ONCE):
        part = {each.ordinal: each for each in found[start : start + _AT_ONCE]}
        job = next(iter(part.values())).job
        mine = (SUGGESTION.c.dataset == dataset) & SUGGESTION.c.ordinal.in_(part)
        known = set(connection.scalars(select(SUGGESTION.c.ordinal).where(mine, SUGGESTION.c.job == job)))
        connection.execute(delete(SUGGESTION).where(mine, SUGGESTION.c.state == "open", SUGGESTION.c.job != job))
        rows = [
            dataclasses.asdict(each) | {"dataset": dataset, "objects": json.dumps(each.objects)}
            for ordinal, each in part.items()
            if ordinal not in known
        ]
        if rows:
            connection.execute(insert(SUGGESTION), rows)


def follow_labels(
    connection: Connection, dataset: str, labels: Mapping[int, list[dict[str, Any]]], user: str, now: int
) -> None:
    """Brings the states of proposals in line with the objects of images that were changed, by whatever: an accepted
    one that is undone is open again. labels: of each image
    """
    ordinals = list(labels)
    by_image: dict[int, list[Suggestion]] = defaultdict(list)
    for start in range(0, len(ordinals), _AT_ONCE):
        part = SUGGESTION.c.ordinal.in_(ordinals[start : start + _AT_ONCE])
        mine = (SUGGESTION.c.dataset == dataset) & (SUGGESTION.c.state != "refused") & part
        for row in connection.execute(select(SUGGESTION).where(mine)):
            by_image[row.ordinal].append(suggestion_of(row))
    for ordinal, found in by_image.items():
        for each in found:
            if _state_of(each, labels[ordinal]) != each.state:
                _judge(connection, dataset, each, labels[ordinal], user, now)


def _judge(
    connection: Connection, dataset: str, each: Suggestion, labels: list[dict[str, Any]], user: str, now: int
) -> None:
    this = (SUGGESTION.c.dataset == dataset) & (SUGGESTION.c.ordinal == each.ordinal) & (SUGGESTION.c.job == each.job)
    values = {"objects": json.dumps(each.objects), "state": _state_of(each, labels), "by": user, "at": now}
    connection.execute(update(SUGGESTION).where(this).values(**values))


def _state_of(each: Suggestion, labels: Iterable[Mapping[str, Any]]) -> State:
    known = {one["id"]: one for one in labels}
    taken = [one for one in each.objects if one["id"] in known]
    if any(one["id"] not in known and not one.get(REFUSED) for one in each.objects):
        return "open"
    if not taken:
        return "refused"
    return "accepted" if all(known[one["id"]] == label_of(one) for one in taken) else "changed"


def label_of(each: dict[str, Any]) -> dict[str, Any]:
    """A proposed object as one of the image's."""
    return {key: value for key, value in each.items() if key != REFUSED}
