"""The fixes of `cvzoo data check --fix` for the rows of a data set: what they change, and that as a revision."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, select

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.studio.data.datasets import Dataset, classes_at
from cvzoo.studio.data.edit import Edits, items_at
from cvzoo.studio.data.items import Item, Items
from cvzoo.studio.data.rows import item_line, text_of
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import DATASET, FINDING
from cvzoo.studio.jobs.answer_of import answer_of
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.problems import Problem

_TIMEOUT_S = 300
_LEAK = Fault.PHOTO_DUPLICATE_SPLIT  # an image has one split, which it loses
_KINDS = (
    *(Fault.PHOTO_EMPTY, Fault.PHOTO_UNREADABLE, Fault.PHOTO_TRUNCATED, _LEAK),
    *(Fault.BOX_NEGATIVE, Fault.BOX_EMPTY, Fault.BOX_OUTSIDE, Fault.BOX_BEYOND, Fault.BOX_DUPLICATE),
    *(Fault.XY_SWAPPED, Fault.NORMALIZED, Fault.CORNERS_FOR_SIZES, Fault.ONE_BASED),
    *(Fault.MASK_MALFORMED, Fault.AREA_WRONG, Fault.POINTS_MALFORMED),
)
FIXES = {each.slug: str(each.fix) for each in _KINDS}


@dataclasses.dataclass(frozen=True)
class Fixes:
    """What fixes do. after: by ordinal, the image as it was and as it is, None: deleted

    changes: {"kind", "ordinal" (None: of all images), "name", "object" (its identifier or None), "done"} of each
    """

    kinds: tuple[str, ...]
    after: dict[int, tuple[Item, Item | None]]
    changes: list[dict[str, Any]]


def planned_fixes(engine: Engine, store: ImageStore, dataset: Dataset, kinds: Sequence[str]) -> Fixes:
    """What the fixes of all open findings of these kinds would change; nothing is changed.

    Raises Problem 422 for kinds without a fix, 409 while the newest revision is not checked.
    """
    wrong = [kind for kind in kinds if kind not in FIXES]
    if wrong or not kinds:
        words = f"{wrong[0]} has no fix" if wrong else "name one"
        raise Problem(422, "some values are invalid", fields={"kinds": words}, expected=", ".join(FIXES))
    with reading(engine) as connection:
        columns = DATASET.c.head_rev, DATASET.c.checked_rev
        row = connection.execute(select(*columns).where(DATASET.c.id == dataset.id)).one()
        if row.checked_rev < row.head_rev:
            words = f"revision {row.head_rev} is not checked yet, and what was found before may have changed"
            raise Problem(409, words, hint="again in some seconds")
        found = _open_findings(connection, dataset.id, kinds)
        if any(each["ordinal"] is None for each in found):
            items = list(Items(engine).rows(connection, dataset.id, row.head_rev))
        else:
            items = list(items_at(connection, dataset.id, row.head_rev, {each["ordinal"] for each in found}))
        classes = classes_at(connection, dataset.id, row.head_rev)
    leaking = {each["ordinal"]: each for each in found if each["kind"] == _LEAK.slug}
    others = [each for each in found if each["kind"] != _LEAK.slug]
    named = {each["ordinal"] for each in others}
    asked = {
        "images": str(store.root),
        "classes": classes,
        "extra": dataset.source.get("extra", {}),
        "rows": [_row(item) for item in items if None in named or item.ordinal in named],
        "findings": others,
    }
    answer = _ask(asked) if others else {"images": [], "changes": []}
    labels = {each["ordinal"]: each["labels"] for each in answer["images"]}
    after: dict[int, tuple[Item, Item | None]] = {}
    for item in items:
        new = _after(item, labels.get(item.ordinal, item.labels), is_leaking=item.ordinal in leaking)
        if new != item:
            after[item.ordinal] = item, new
    names = {item.ordinal: item.name for item in items}
    changes = [each | {"name": names.get(each["ordinal"], "")} for each in answer["changes"]]
    for ordinal in sorted(leaking.keys() & names.keys()):
        row_of = {"kind": _LEAK.slug, "ordinal": ordinal, "object": None, "name": names[ordinal]}
        changes.append(row_of | {"done": "removed from the training set"})
    return Fixes(tuple(kinds), after, changes)


def apply_fixes(edits: Edits, dataset: Dataset, fixes: Fixes, user: str) -> tuple[int, int]:
    """(the revision, the number of images that changed). Raises Problem 409 if one of them was changed meanwhile."""

    def change(item: Item) -> Item | None:
        before, after = fixes.after[item.ordinal]
        if (item.first_rev, item.labels) != (before.first_rev, before.labels):
            raise Problem(409, f"{item.name} was changed meanwhile", hint="again when it is checked")
        return after

    n = len(fixes.changes)
    words = f"{', '.join(fixes.kinds)}: {n} change{'' if n == 1 else 's'}"
    return edits.change_images(dataset.id, list(fixes.after), change, "fix", words, user)


def _open_findings(connection: Connection, dataset: str, kinds: Sequence[str]) -> list[dict[str, Any]]:
    columns = FINDING.c.kind, FINDING.c.message, FINDING.c.ordinal, FINDING.c.object
    mine = (FINDING.c.dataset == dataset) & (FINDING.c.state == "open") & (FINDING.c.origin == "check")
    query = select(*columns).where(mine, FINDING.c.kind.in_(kinds))
    return [dict(row._mapping) for row in connection.execute(query)]


def _after(item: Item, labels: list[dict[str, Any]] | None, *, is_leaking: bool) -> Item | None:
    if labels is None:
        return None
    split = "" if is_leaking else item.split
    return dataclasses.replace(item, labels=labels, n_object=len(labels), split=split)


def _row(item: Item) -> dict[str, Any]:
    file = (item.ordinal, item.name, item.sha256, item.height, item.width, item.split)
    row: dict[str, Any] = json.loads(item_line(*file, text_of(item.labels), json.dumps(item.extra)))
    return row


def _ask(asked: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = answer_of(
        ["cvzoo.studio.worker.fix_data"], failed="the fixes could not be computed", timeout=_TIMEOUT_S, question=asked
    )
    return answer
