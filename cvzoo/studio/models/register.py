"""What people say of models: aliases, such as "production", and notes; and the files that they brought."""

import dataclasses
import os
import re
import shutil

from sqlalchemy import Engine, delete, insert, select, true, update
from sqlalchemy.dialects.sqlite import insert as insert_or_update

from cvzoo.files.atomic_write import sync_folder
from cvzoo.files.file_hash import sha256_of
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import MODEL, MODEL_ALIAS, MODEL_NOTES
from cvzoo.studio.etag import require_seen
from cvzoo.studio.ids import new_id
from cvzoo.studio.place import Place
from cvzoo.studio.problems import Problem, shown_name

_ALIAS = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
FILE = "model.safetensors"


@dataclasses.dataclass(frozen=True)
class Uploaded:
    """A model that a user brought. created_at, trashed_at: milliseconds since 1970, None of what was not deleted"""

    id: str
    name: str
    sha256: str
    created_at: int
    created_by: str | None
    trashed_at: int | None = None


class Register:
    """The aliases and notes of a studio's models, and uploaded models. engine, place, clock: of the studio"""

    def __init__(self, engine: Engine, place: Place, clock: Clock):
        self._engine, self._place, self._clock = engine, place, clock

    def aliases(self) -> dict[str, str]:
        """The key of the model of each alias."""
        query = select(MODEL_ALIAS).order_by(MODEL_ALIAS.c.name)
        with reading(self._engine) as connection:
            return {row.name: row.model for row in connection.execute(query)}

    def set_alias(self, alias: str, model: str) -> None:
        """The alias is that of this model from now on. Raises Problem 422 for an impossible one."""
        if not _ALIAS.fullmatch(alias):
            expected = "small letters, digits and . _ -, at most 40"
            raise Problem(422, "some values are invalid", fields={"alias": expected})
        query = insert_or_update(MODEL_ALIAS).values(name=alias, model=model, changed_at=self._clock())
        values = {name: query.excluded[name] for name in ("model", "changed_at")}
        with writing(self._engine) as connection:
            connection.execute(query.on_conflict_do_update(index_elements=["name"], set_=values))

    def remove_alias(self, alias: str, model: str) -> bool:
        """Whether the model had the alias, which no model has now."""
        mine = (MODEL_ALIAS.c.name == alias) & (MODEL_ALIAS.c.model == model)
        with writing(self._engine) as connection:
            return connection.execute(delete(MODEL_ALIAS).where(mine)).rowcount > 0

    def notes(self, model: str) -> str:
        """What was noted of the model."""
        with reading(self._engine) as connection:
            query = select(MODEL_NOTES.c.notes).where(MODEL_NOTES.c.model == model)
            return str(connection.execute(query).scalar() or "")

    def set_notes(self, model: str, notes: str, seen: str = "") -> None:
        """Other notes. Raises Problem 412 as `require_seen`."""
        query = insert_or_update(MODEL_NOTES).values(model=model, notes=notes)
        change = query.on_conflict_do_update(index_elements=["model"], set_={"notes": query.excluded.notes})
        with writing(self._engine) as connection:
            known = connection.execute(select(MODEL_NOTES.c.notes).where(MODEL_NOTES.c.model == model)).scalar()
            require_seen(seen, {"notes": str(known or "")}, {"notes": notes})
            connection.execute(change)

    def uploaded(self, *, is_trashed: bool = False) -> list[Uploaded]:
        """The models that users brought, the newest first; or those of them that were deleted."""
        there = MODEL.c.trashed_at.is_not(None) if is_trashed else MODEL.c.trashed_at.is_(None)
        query = select(MODEL).where(there).order_by(MODEL.c.created_at.desc(), MODEL.c.id)
        with reading(self._engine) as connection:
            return [Uploaded(**row._mapping) for row in connection.execute(query)]

    def add(self, name: str, upload: str, user: str) -> Uploaded:
        """A model of the file that was uploaded. Raises OSError, or Problem 422 for an impossible name."""
        path = self._place.upload(upload)
        found = Uploaded(new_id("md"), shown_name(name), sha256_of(path), self._clock(), user)
        folder = self._place.model(found.id)
        folder.mkdir(mode=0o700)
        os.link(path, folder / FILE)  # on the same disk
        sync_folder(folder)
        sync_folder(folder.parent)
        with writing(self._engine) as connection:
            connection.execute(insert(MODEL).values(**dataclasses.asdict(found)))
        return found

    def trash(self, model: str, *, is_trashed: bool = True) -> bool:
        """Whether an uploaded model was deleted so that it can be restored, or was restored."""
        before = MODEL.c.trashed_at.is_(None) if is_trashed else MODEL.c.trashed_at.is_not(None)
        query = update(MODEL).where(MODEL.c.id == model, before)
        with writing(self._engine) as connection:
            return connection.execute(query.values(trashed_at=self._clock() if is_trashed else None)).rowcount > 0

    def remove(self, model: str, *, is_trashed: bool = False) -> None:
        """Deletes an uploaded model for good, with its aliases and notes.

        is_trashed: only if it is in the trash, from which it may have been restored meanwhile
        """
        mine = (MODEL.c.id == model) & (MODEL.c.trashed_at.is_not(None) if is_trashed else true())
        with writing(self._engine) as connection:
            if connection.execute(delete(MODEL).where(mine)).rowcount != 1:
                return
            for table in (MODEL_ALIAS, MODEL_NOTES):
                connection.execute(delete(table).where(table.c.model == model))
        shutil.rmtree(self._place.model(model), ignore_errors=True)

    def clean(self) -> None:
        """Removes files that a server that was killed did not come to register, or to delete."""
        known = {each.id for each in (*self.uploaded(), *self.uploaded(is_trashed=True))}
        for folder in self._place.models.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
