"""The doctor's findings of a data set: a list of work, each open or waived by a person."""

import dataclasses
import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, func, insert, select, update

from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import FINDING
from cvzoo.studio.ids import new_id

SEVERITIES = ("error", "warning", "note")
_OF_CHECK = ("digest", "origin", "kind", "severity", "meaning", "message", "ordinal", "object")
_AT_ONCE = 500


@dataclasses.dataclass(frozen=True)
class StoredFinding:
    """A row of the table.

    origin: "import": of files that the data set does not have any more; "check": of the images and annotations
    ordinal: of the image, None for the whole data set; object: the identifier of an annotated object
    others: ordinals of other images; state: "open", "waived" or "fixed"
    """

    id: str
    digest: str
    origin: str
    kind: str
    severity: str
    meaning: str
    message: str
    ordinal: int | None
    object: str | None
    others: list[int]
    state: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


class Findings:
    """The findings of all data sets. engine, clock: of the studio"""

    def __init__(self, engine: Engine, clock: Clock):
        self._engine, self._clock = engine, clock

    def summary(self, dataset: str) -> list[dict[str, Any]]:
        """{"kind", "severity", "meaning", "n_open", "n_waived"} of each kind, errors first."""
        key = FINDING.c.severity, FINDING.c.state, FINDING.c.kind  # as in the index
        mine = FINDING.c.dataset == dataset
        found: dict[str, dict[str, Any]] = {}
        with reading(self._engine) as connection:
            for severity, state, kind, n in connection.execute(select(*key, func.count()).where(mine).group_by(*key)):
                if kind not in found:
                    this = mine & (key[0] == severity) & (key[1] == state) & (key[2] == kind)
                    meaning = connection.execute(select(FINDING.c.meaning).where(this).limit(1)).scalar()
                    start = {"kind": kind, "severity": severity, "meaning": meaning, "n_open": 0, "n_waived": 0}
                    found[kind] = start
                if state in ("open", "waived"):
                    found[kind][f"n_{state}"] += n
        shown = [each for each in found.values() if each["n_open"] or each["n_waived"]]
        return sorted(shown, key=lambda each: (SEVERITIES.index(each["severity"]), -each["n_open"], each["kind"]))

    def page(
        self, dataset: str, *, kind: str = "", state: str = "", ordinal: int | None = None, after: str = "", limit: int
    ) -> list[StoredFinding]:
        """Findings in the order of their identifiers. after: the identifier that the page follows"""
        query = select(FINDING).where(FINDING.c.dataset == dataset, FINDING.c.id > after)
        if kind:
            query = query.where(FINDING.c.kind == kind)
        if state:
            query = query.where(FINDING.c.state == state)
        if ordinal is not None:
            query = query.where(FINDING.c.ordinal == ordinal)
        with reading(self._engine) as connection:
            return [_finding_of(row) for row in connection.execute(query.order_by(FINDING.c.id).limit(limit))]

    def n_open_error(self, dataset: str) -> int:
        """The number of errors because of which no version can be made."""
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.severity == "error") & (FINDING.c.state == "open")
        with reading(self._engine) as connection:
            return int(connection.execute(select(func.count()).select_from(FINDING).where(mine)).scalar() or 0)

    def waive(self, dataset: str, ids: Iterable[str], kind: str, reason: str, user: str, *, waived: bool = True) -> int:
        """The number of findings that are waived now, or open again. kind: all of this kind, in addition to ids"""
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.id.in_(list(ids)) | (FINDING.c.kind == kind))
        before, after = ("open", "waived") if waived else ("waived", "open")
        values = {"state": after, "reason": reason[:400], "by": user, "at": self._clock()}
        with writing(self._engine) as connection:
            return connection.execute(update(FINDING).where(mine, FINDING.c.state == before).values(**values)).rowcount

    def waived(self, connection: Connection, dataset: str) -> list[str]:
        """The digests of what is waived or fixed."""
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.state != "open")
        return list(connection.execute(select(FINDING.c.digest).where(mine)).scalars())

    def of_import(self, connection: Connection, dataset: str) -> list[dict[str, str]]:
        """{"severity", "digest"} of the findings of files that the data set does not have any more."""
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.origin == "import")
        rows = connection.execute(select(FINDING.c.severity, FINDING.c.digest).where(mine))
        return [{"severity": row.severity, "digest": row.digest} for row in rows]


def take_in_findings(engine: Engine, dataset: str, path: pathlib.Path, now: int) -> None:
    """Takes in the findings of a check: what is gone is removed, what was waived stays so, the rest is new.

    path: a file of a line per finding: its digest, a space and the finding as JSON
    Transactions are short, as edits wait for them; after a crash the same is done again. Raises OSError, ValueError.
    """
    mine = FINDING.c.dataset == dataset
    with reading(engine) as connection:
        known = {
            row.digest: row.origin for row in connection.execute(select(FINDING.c.digest, FINDING.c.origin).where(mine))
        }
    found: set[str] = set()
    rows: list[dict[str, Any]] = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            digest, _, text = line.partition(" ")
            if digest not in known and digest not in found:
                rows.append(_row_of(json.loads(text), dataset, now))
            found.add(digest)
            if len(rows) == _AT_ONCE:
                _insert(engine, rows)
                rows = []
    _insert(engine, rows)
    gone = [digest for digest, origin in known.items() if origin == "check" and digest not in found]
    for start in range(0, len(gone), _AT_ONCE):
        with writing(engine) as connection:
            connection.execute(delete(FINDING).where(mine, FINDING.c.digest.in_(gone[start : start + _AT_ONCE])))


def add_findings(connection: Connection, dataset: str, path: pathlib.Path, now: int) -> None:
    """Takes in the findings of files that were added; those that are known stay. path: as of `take_in_findings`"""
    known = set(connection.scalars(select(FINDING.c.digest).where(FINDING.c.dataset == dataset)))
    with open(path, encoding="utf-8") as lines:
        new = dict(line.split(" ", 1) for line in lines)
    rows = [_row_of(json.loads(text), dataset, now) for digest, text in new.items() if digest not in known]
    if rows:
        connection.execute(insert(FINDING), rows)


def _insert(engine: Engine, rows: list[dict[str, Any]]) -> None:
    if rows:
        with writing(engine) as connection:
            connection.execute(insert(FINDING), rows)


def _row_of(each: Mapping[str, Any], dataset: str, now: int) -> dict[str, Any]:
    fields = {key: each[key] for key in _OF_CHECK}
    state = ("fixed", "corrected by the import") if each.get("corrected") else ("open", "")
    more = {"others": json.dumps(each["others"]), "state": state[0], "reason": state[1], "by": None, "at": now}
    return {"id": new_id("fi"), "dataset": dataset, **fields, **more}


def _finding_of(row: Row[Any]) -> StoredFinding:
    tree = {field.name: getattr(row, field.name) for field in dataclasses.fields(StoredFinding)}
    return StoredFinding(**tree | {"others": json.loads(tree["others"])})
