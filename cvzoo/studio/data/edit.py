"""Changes of data sets: each is a revision, which is whole or absent after a crash, and can be reverted."""

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from cvzoo.studio.clock import Clock
from cvzoo.studio.data.classes import checked_colors
from cvzoo.studio.data.datasets import classes_at
from cvzoo.studio.data.facets import change_facets
from cvzoo.studio.data.items import COLUMNS, Item, item_at, item_of, tags_text, valid_at
from cvzoo.studio.data.objects import checked_objects
from cvzoo.studio.data.rows import MAX_NAME, text_of
from cvzoo.studio.data.suggestions import Suggestion, follow_labels, label_of, open_suggestions
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import DATASET, ITEM, ITEM_CLASS, REVISION
from cvzoo.studio.problems import Problem, can_be_shown

MAX_CLASSES = 1000
_AT_ONCE = 500  # images of a statement


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of one image: before and after it; None: it is not in the data set."""

    before: Item | None
    after: Item | None


class Edits:
    """What changes data sets. engine, clock: of the studio"""

    def __init__(self, engine: Engine, clock: Clock):
        self._engine, self._clock = engine, clock

    def edit(
        self, dataset: str, ordinal: int, base: int, objects: list[Any], edit_id: str, user: str
    ) -> tuple[int, Item | None]:
        """(the revision, None) after the objects of an image were replaced; the same edit again changes nothing.

        base: first_rev of the image that was edited
        Returns (the newest revision, the image as it is) without a change, if another edit came first.
        Raises Problem 404, 410 or 422.
        """
        with writing(self._engine) as connection:
            known = connection.execute(
                select(REVISION.c.rev).where(REVISION.c.dataset == dataset, REVISION.c.edit_id == edit_id)
            ).scalar()
            if known is not None:
                return int(known), None
            head, task = _ready(connection, dataset)
            item = item_at(connection, dataset, ordinal, head)
            if item is None:
                raise Problem(410, "the image was deleted from the data set", hint="revert the deletion")
            checked = checked_objects(objects, classes_at(connection, dataset, head), task, (item.height, item.width))
            if item.first_rev != base and not _has_same_objects(connection, dataset, item, base):
                return head, item
            after = dataclasses.replace(item, labels=checked, n_object=len(checked))
            return self._apply(
                connection, dataset, head, [Change(item, after)], "edit", "", user, edit_id=edit_id
            ), None

    def change_images(
        self,
        dataset: str,
        ordinals: Sequence[int],
        change: Callable[[Item], Item | None],
        kind: str,
        message: str,
        user: str,
    ) -> tuple[int, int]:
        """(the revision, the number of images that changed). change: the image after it, None: deleted"""
        with writing(self._engine) as connection:
            head, _ = _ready(connection, dataset)
            rows = items_at(connection, dataset, head, ordinals)
            changes = [Change(item, after) for item in rows if (after := change(item)) != item]
            if not changes:
                return head, 0
            return self._apply(connection, dataset, head, changes, kind, message, user), len(changes)

    def accept(
        self,
        dataset: str,
        ordinals: Sequence[int] | None,
        above: float,
        user: str,
        *,
        ids: Collection[str] | None = None,
    ) -> tuple[int, int, int]:
        """(the revision, the numbers of images and of objects) after proposed objects were added to the labels.

        ordinals: of the images, None for all; above: the least score; ids: of the objects, None for all
        A class of a whole image replaces the one that is there only if the image is named. Proposals of classes that
        the data set does not have any more stay open.
        """
        with writing(self._engine) as connection:
            head, task = _ready(connection, dataset)
            classes = set(classes_at(connection, dataset, head))
            found: dict[int, list[Suggestion]] = defaultdict(list)
            for each in open_suggestions(connection, dataset, ordinals, above):
                found[each.ordinal].append(each)
            changes, n, models = [], 0, []
            for item in items_at(connection, dataset, head, found):
                if task == "classes" and item.labels and ordinals is None:
                    continue
                proposed = {
                    each["id"]: label_of(each)
                    for suggestion in found[item.ordinal]
                    for each in suggestion.undecided(item.labels, above, ids)
                    if each["class"] in classes
                }
                if proposed:
                    more = list(proposed.values())
                    labels = more[:1] if task == "classes" else [*item.labels, *more]
                    checked_objects(labels, classes, task, (item.height, item.width))
                    changes.append(Change(item, dataclasses.replace(item, labels=labels, n_object=len(labels))))
                    n += 1 if task == "classes" else len(more)
                    models += [each.model for each in found[item.ordinal]]
            if not changes:
                return head, 0, 0
            words = f"{n} object{'' if n == 1 else 's'} of {', '.join(dict.fromkeys(models))}"
            return self._apply(connection, dataset, head, changes, "accept", words, user), len(changes), n

    def set_classes(
        self,
        dataset: str,
        names: Sequence[str],
        renamed: Mapping[str, str],
        user: str,
        colors: Mapping[str, str] | None = None,
    ) -> int:
        """The revision in which the data set has these classes, in this order.

        renamed: names before and after; two that become one are merged
        colors: of classes after it, None as before; they have no history
        Raises Problem 422 for impossible names, 409 if a class that goes has objects.
        """
        names = [" ".join(name.split()) for name in names]
        if len(set(names)) != len(names) or not all(1 <= len(name) <= MAX_NAME for name in names):
            raise Problem(422, "the classes need different names", expected=f"1 to {MAX_NAME} letters")
        if len(names) > MAX_CLASSES:
            raise Problem(422, f"the data set has {len(names)} classes", expected=f"at most {MAX_CLASSES}")
        with writing(self._engine) as connection:
            head, _ = _ready(connection, dataset)
            before = classes_at(connection, dataset, head)
            if not all(can_be_shown(name) for name in names if name not in before):
                raise Problem(422, "the classes need names of letters that can be shown")
            after = {name: renamed.get(name, name) for name in before}
            _keep_colors(connection, dataset, names, after, colors)
            lost = [name for name in before if after[name] not in names]
            used = _images_with(connection, dataset, lost)
            if used:
                raise Problem(409, f"{used[0][1]} has objects, and can only be renamed or merged", got=f"{len(used)}")
            moved = [name for name in before if after[name] != name]
            changes = [
                Change(item, dataclasses.replace(item, labels=_renamed(item.labels, after)))
                for item in _items_with(connection, dataset, head, moved)
            ]
            if names == before and not changes:
                return head
            words = ", ".join(f"{name} is now {after[name]}" for name in moved)
            return self._apply(connection, dataset, head, changes, "classes", words, user, classes=list(names))

    def revert(self, dataset: str, rev: int, ordinals: Sequence[int] | None, user: str) -> tuple[int, int]:
        """(the new revision, the number of images) after images are as they were at an older one.

        ordinals: None for all images, and the classes, too
        Raises Problem 404 for a revision that does not exist.
        """
        with writing(self._engine) as connection:
            head, _ = _ready(connection, dataset)
            if not 1 <= rev <= head:
                raise Problem(404, f"there is no revision {rev}", expected=f"1 to {head}")
            changes = [
                Change(after, before)
                for before, after in differences(connection, dataset, rev, head)
                if ordinals is None or (before or after).ordinal in ordinals  # type: ignore[union-attr]
            ]
            classes, old = classes_at(connection, dataset, head), classes_at(connection, dataset, rev)
            after = old if ordinals is None else [*classes, *(name for name in old if name not in classes)]
            if not changes and after == classes:
                return head, 0
            words = f"as at revision {rev}"
            new = self._apply(connection, dataset, head, changes, "revert", words, user, classes=after)
            return new, len(changes)

    def undo(self, dataset: str, rev: int, user: str) -> tuple[int, int]:
        """(the new revision, the number of images) after images are as they were before one revision.

        Images that were changed again since stay as they are.
        Raises Problem 404 for a revision that does not exist, 409 for one of classes or the import.
        """
        with writing(self._engine) as connection:
            head, _ = _ready(connection, dataset)
            query = select(REVISION.c.classes).where(REVISION.c.dataset == dataset, REVISION.c.rev == rev)
            row = connection.execute(query).first()
            if row is None:
                raise Problem(404, f"there is no revision {rev}", expected=f"1 to {head}")
            if rev == 1 or row.classes:
                words = "the import, reverts and changes of classes are not undone alone"
                raise Problem(409, words, hint="revert to the revision before")
            changes = []
            for before, after in differences(connection, dataset, rev - 1, rev):
                ordinal = (before or after).ordinal  # type: ignore[union-attr]
                if item_at(connection, dataset, ordinal, head) == after:
                    changes.append(Change(after, before))
            if not changes:
                return head, 0
            words = f"undid revision {rev}"
            return self._apply(connection, dataset, head, changes, "revert", words, user), len(changes)

    def _apply(
        self,
        connection: Connection,
        dataset: str,
        head: int,
        changes: Iterable[Change],
        kind: str,
        message: str,
        user: str,
        *,
        edit_id: str | None = None,
        classes: list[str] | None = None,
    ) -> int:
        rev, changes = head + 1, list(changes)
        n = len(changes)
        for start in range(0, n, _AT_ONCE):
            part = changes[start : start + _AT_ONCE]
            close_items(connection, dataset, [each.before for each in part if each.before is not None], rev)
            insert_items(connection, dataset, rev, [each.after for each in part if each.after is not None])
        change_facets(connection, dataset, (each.before for each in changes), (each.after for each in changes))
        now = self._clock()
        labels = {each.after.ordinal: each.after.labels for each in changes if each.after is not None}
        follow_labels(connection, dataset, labels, user, now)
        row = {"dataset": dataset, "rev": rev, "kind": kind, "message": message[:400], "n_changed": n, "at": now}
        names = "" if classes is None else json.dumps(classes)
        connection.execute(insert(REVISION).values(**row, classes=names, edit_id=edit_id, user=user))
        connection.execute(update(DATASET).where(DATASET.c.id == dataset).values(head_rev=rev, changed_at=now))
        return rev


def _keep_colors(
    connection: Connection, dataset: str, names: list[str], after: Mapping[str, str], colors: Mapping[str, str] | None
) -> None:
    """The colors that were chosen, under the names of the classes afterwards, and the new ones."""
    known = json.loads(connection.execute(select(DATASET.c.colors).where(DATASET.c.id == dataset)).scalar_one())
    kept = {after.get(name, name): color for name, color in known.items()}
    kept = {name: color for name, color in kept.items() if name in names} | checked_colors(colors or {}, names)
    if kept != known:
        connection.execute(update(DATASET).where(DATASET.c.id == dataset).values(colors=json.dumps(kept)))


def close_items(connection: Connection, dataset: str, items: Sequence[Item], rev: int) -> None:
    """The images are not valid from this revision on."""
    mine = (ITEM.c.dataset == dataset) & ITEM.c.last_rev.is_(None)
    these = ITEM.c.ordinal.in_([item.ordinal for item in items])
    connection.execute(update(ITEM).where(mine, these).values(last_rev=rev))
    # by class and ordinal, of which there is an index: by ordinal alone all rows of the data set would be gone through
    used = [
        {"a_class": name, "an_ordinal": item.ordinal}
        for item in items
        for name in {each["class"] for each in item.labels}
    ]
    if used:
        mine = (ITEM_CLASS.c.dataset == dataset) & ITEM_CLASS.c.last_rev.is_(None)
        this = (ITEM_CLASS.c.name == bindparam("a_class")) & (ITEM_CLASS.c.ordinal == bindparam("an_ordinal"))
        connection.execute(update(ITEM_CLASS).where(mine, this).values(last_rev=rev), used)


def insert_items(
    connection: Connection, dataset: str, rev: int, items: Sequence[Item], *, until: int | None = None
) -> None:
    """Images that are valid from this revision on. until: before which one, None for now"""
    rows, classes = [], []
    for item in items:
        texts = {"labels": text_of(item.labels), "extra": json.dumps(item.extra), "n_object": len(item.labels)}
        where = {"dataset": dataset, "ordinal": item.ordinal, "first_rev": rev, "last_rev": until}
        file = {"name": item.name, "sha256": item.sha256, "height": item.height, "width": item.width}
        work = {"tags": tags_text(item.tags), "stage": item.stage, "assignee": item.assignee}
        rows.append(where | file | {"split": item.split} | texts | work)
        for name, n in Counter(each["class"] for each in item.labels).items():
            classes.append(where | {"name": name, "n": n})
    if rows:
        connection.execute(insert(ITEM), rows)
    if classes:
        connection.execute(insert(ITEM_CLASS), classes)


def differences(connection: Connection, dataset: str, first: int, second: int) -> list[tuple[Item | None, Item | None]]:
    """(the image at the first revision, at the second), for each that changed between them; None: it was not there."""
    low, high = sorted((first, second))
    # an image that changed has a row that ended in between, one that began, or both
    has_ended = (ITEM.c.first_rev <= low) & (ITEM.c.last_rev > low) & (ITEM.c.last_rev <= high)
    is_open = ITEM.c.last_rev.is_(None) | (ITEM.c.last_rev > high)
    has_begun = (ITEM.c.first_rev > low) & (ITEM.c.first_rev <= high) & is_open
    found: dict[int, list[Item | None]] = {}
    parsed: dict[str, Any] = {}
    for at, condition in ((low, has_ended), (high, has_begun)):
        for row in connection.execute(select(*COLUMNS).where(ITEM.c.dataset == dataset, condition)):
            found.setdefault(row.ordinal, [None, None])[0 if at == first else 1] = item_of(row, parsed)
    return [(before, after) for _, (before, after) in sorted(found.items()) if not _same(before, after)]


def _same(before: Item | None, after: Item | None) -> bool:
    if before is None or after is None:
        return before is after
    return before.content == after.content and before.work == after.work


def _has_same_objects(connection: Connection, dataset: str, item: Item, base: int) -> bool:
    """Whether what changed since the revision is not the objects, such as the split or a tag."""
    before = item_at(connection, dataset, item.ordinal, base)
    return before is not None and before.labels == item.labels


def _ready(connection: Connection, dataset: str) -> tuple[int, str]:
    """(the newest revision, the task). Raises Problem 404, or 409 while it is imported."""
    row = connection.execute(select(DATASET).where(DATASET.c.id == dataset)).first()
    if row is None:
        raise Problem(404, "there is no such data set")
    if row.state != "ready":
        raise Problem(409, "the data set is not imported yet", got=row.state)
    return row.head_rev, row.task


def _images_with(connection: Connection, dataset: str, names: Sequence[str]) -> list[tuple[int, str]]:
    mine = (ITEM_CLASS.c.dataset == dataset) & ITEM_CLASS.c.last_rev.is_(None) & ITEM_CLASS.c.name.in_(names)
    rows = connection.execute(select(ITEM_CLASS.c.ordinal, ITEM_CLASS.c.name).where(mine))
    return [(row.ordinal, row.name) for row in rows]


def _items_with(connection: Connection, dataset: str, head: int, names: Sequence[str]) -> list[Item]:
    return list(
        items_at(connection, dataset, head, (ordinal for ordinal, _ in _images_with(connection, dataset, names)))
    )


def items_at(connection: Connection, dataset: str, rev: int, ordinals: Iterable[int]) -> Iterator[Item]:
    """The images of these numbers at a revision, in their order; no other one is read."""
    wanted = sorted(set(ordinals))
    for start in range(0, len(wanted), _AT_ONCE):
        part = ITEM.c.ordinal.in_(wanted[start : start + _AT_ONCE])
        query = select(*COLUMNS).where(valid_at(dataset, rev), part).order_by(ITEM.c.ordinal)
        yield from [item_of(row) for row in connection.execute(query)]


def _renamed(labels: list[dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    return [each | {"class": names.get(each["class"], each["class"])} for each in labels]
