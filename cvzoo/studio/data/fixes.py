"""The fixes of `cvzoo data check --fix` for the rows of a data set: what they change, and that as a revision.

Rows and findings go to the process that computes, and what changes comes back, by files of a line each: a data set may
have a million objects, and the server answers others meanwhile.
"""

import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, select

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.edit import Edits
from cvzoo.studio.data.items import Item, Items
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import DATASET, FINDING
from cvzoo.studio.jobs.answer_of import answer_of
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.problems import Problem

MAX_CHANGES = 1000  # that are shown
_TIMEOUT_S = 300
_KINDS = (
    *(Fault.PHOTO_EMPTY, Fault.PHOTO_UNREADABLE, Fault.PHOTO_TRUNCATED, Fault.PHOTO_DUPLICATE_SPLIT),
    *(Fault.BOX_NEGATIVE, Fault.BOX_EMPTY, Fault.BOX_OUTSIDE, Fault.BOX_BEYOND, Fault.BOX_DUPLICATE),
    *(Fault.XY_SWAPPED, Fault.NORMALIZED, Fault.CORNERS_FOR_SIZES, Fault.ONE_BASED),
    *(Fault.MASK_MALFORMED, Fault.AREA_WRONG, Fault.POINTS_MALFORMED),
)
FIXES = {each.slug: str(each.fix) for each in _KINDS}


@dataclasses.dataclass(frozen=True)
class Fixes:
    """What fixes do. rev: the revision that they change; after: by ordinal, a line of `fixed_lines` of what changes

    changes: the first `MAX_CHANGES` of n_change: {"kind", "ordinal" (None: of all images), "name", "object" (its
        identifier or None), "done"}
    """

    kinds: tuple[str, ...]
    rev: int
    after: dict[int, str]
    changes: list[dict[str, Any]]
    n_change: int


def planned_fixes(
    engine: Engine, store: ImageStore, dataset: Dataset, kinds: Sequence[str], scratch: pathlib.Path
) -> Fixes:
    """What the fixes of all open findings of these kinds would change; nothing is changed.

    scratch: a folder for files, which are removed
    Raises Problem 422 for kinds without a fix, 409 while the newest revision is not checked.
    """
    wrong = [kind for kind in kinds if kind not in FIXES]
    if wrong or not kinds:
        words = f"{wrong[0]} has no fix" if wrong else "name one"
        raise Problem(422, "some values are invalid", fields={"kinds": words}, expected=", ".join(FIXES))
    with tempfile.TemporaryDirectory(prefix="fix-", dir=scratch) as name:
        files = {key: pathlib.Path(name, f"{key}.jsonl") for key in ("rows", "findings", "fixed")}
        with reading(engine) as connection:
            columns = DATASET.c.head_rev, DATASET.c.checked_rev
            row = connection.execute(select(*columns).where(DATASET.c.id == dataset.id)).one()
            if row.checked_rev < row.head_rev:
                words = f"revision {row.head_rev} is not checked yet, and what was found before may have changed"
                raise Problem(409, words, hint="again in some seconds")
            is_any = _write_question(connection, Items(engine), dataset.id, row.head_rev, kinds, files)
        if not is_any:
            return Fixes(tuple(kinds), row.head_rev, {}, [], 0)
        _ask({"images": str(store.root)} | {key: str(path) for key, path in files.items()})
        with open(files["fixed"], encoding="utf-8") as lines:
            return _read_fixes(tuple(kinds), row.head_rev, lines)


def apply_fixes(edits: Edits, dataset: Dataset, fixes: Fixes, user: str) -> tuple[int, int]:
    """(the revision, the number of images that changed). Raises Problem 409 if one of them was changed meanwhile."""

    def change(item: Item) -> Item | None:
        if item.first_rev > fixes.rev:
            raise Problem(409, f"{item.name} was changed meanwhile", hint="again when it is checked")
        tree = json.loads(fixes.after[item.ordinal])
        labels = tree["labels"]
        if labels is None:
            return None
        return dataclasses.replace(item, labels=labels, n_object=len(labels), split=tree["split"])

    n = fixes.n_change
    words = f"{', '.join(fixes.kinds)}: {n} change{'' if n == 1 else 's'}"
    return edits.change_images(dataset.id, list(fixes.after), change, "fix", words, user)


def _write_question(
    connection: Connection,
    items: Items,
    dataset: str,
    rev: int,
    kinds: Sequence[str],
    files: Mapping[str, pathlib.Path],
) -> bool:
    """Whether there are findings, after they and the rows of their images were written."""
    open_ones = (FINDING.c.dataset == dataset) & (FINDING.c.state == "open") & (FINDING.c.origin == "check")
    mine = open_ones & FINDING.c.kind.in_(kinds)
    query = select(FINDING.c.kind, FINDING.c.message, FINDING.c.ordinal, FINDING.c.object).where(mine)
    is_any = is_of_all = False
    with open(files["findings"], "w", encoding="utf-8") as file:
        for row in connection.execute(query.execution_options(yield_per=500)):
            file.write(f"{json.dumps(dict(row._mapping))}\n")
            is_any, is_of_all = True, is_of_all or row.ordinal is None
    if is_any:
        among = None if is_of_all else select(FINDING.c.ordinal).where(mine)
        with open(files["rows"], "w", encoding="utf-8") as file:
            file.writelines(items.lines(connection, dataset, rev, among))
    return is_any


def _read_fixes(kinds: tuple[str, ...], rev: int, lines: Iterable[str]) -> Fixes:
    after: dict[int, str] = {}
    changes: list[dict[str, Any]] = []
    n_change = 0
    for line in lines:
        tree = json.loads(line)
        n_change += len(tree["changes"])
        changes += tree["changes"][: MAX_CHANGES - len(changes)]
        if "labels" in tree:
            after[tree["ordinal"]] = line
    return Fixes(kinds, rev, after, changes, n_change)


def _ask(asked: dict[str, Any]) -> None:
    answer_of(
        ["cvzoo.studio.worker.fix_data"], failed="the fixes could not be computed", timeout=_TIMEOUT_S, question=asked
    )
