"""What is stored, what of it nothing needs, and backups, for administrators."""

import dataclasses
import os
import pathlib
from typing import Any

from fastapi import Request
from pydantic import BaseModel

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Administrator, Overseer
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.backups import Written
from cvzoo.studio.collect import Collected, collect
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("administration")


class Collecting(BaseModel):
    """dry: nothing is removed"""

    dry: bool = False


class NewBackup(BaseModel):
    """incomplete: it is kept if files that the database names are missing or damaged, too"""

    incomplete: bool = False


@router.get("/storage")
def get_storage(request: Request, _: Overseer) -> dict[str, Any]:
    """Bytes and files below the studio's own folder, by its subfolders."""
    return {"items": storage(studio_of(request).place.home)}


@router.post("/storage:collect")
def collect_storage(request: Request, body: Collecting, who: Administrator) -> dict[str, Any]:
    """Removes what nothing refers to any more: `items` by kind, `n_byte` of all, and why images were `kept`."""
    found = collect_unused(request, who, is_dry=body.dry)
    return {"items": [dataclasses.asdict(each) for each in found.items], "n_byte": found.n_byte, "kept": found.kept}


@router.get("/backups")
def list_backups(request: Request, _: Overseer) -> dict[str, Any]:
    """The backups in the studio's folder, the newest first, and `last`, the one that is being written, or was last."""
    backups = studio_of(request).backups
    last = None if backups.last is None else dataclasses.asdict(backups.last)
    return {"items": [dataclasses.asdict(each) for each in backups.kept()], "last": last}


@router.post("/backups", status_code=202)
def create_backup(request: Request, body: NewBackup, who: Administrator) -> dict[str, Any]:
    """Begins to write a backup into the studio's folder, as `cvzoo studio backup` does; 409 while one is written."""
    return dataclasses.asdict(begin_backup(request, who, is_incomplete_allowed=body.incomplete))


def begin_backup(request: Request, who: Identity, *, is_incomplete_allowed: bool) -> Written:
    """The backup that is being written from now on. Raises Problem 409."""
    begun = studio_of(request).backups.start(is_incomplete_allowed=is_incomplete_allowed)
    audit(request, who, "backup.create", begun.name, {"is_incomplete_allowed": is_incomplete_allowed})
    return begun


def collect_unused(request: Request, who: Identity, *, is_dry: bool) -> Collected:
    """Removes what nothing refers to, and records it in the audit. Raises ConfigError as `collect`."""
    studio = studio_of(request)
    found = collect(studio.place, studio.engine, studio.clock, studio.trash, is_dry=is_dry)
    if not is_dry:
        audit(request, who, "storage.collect", "", {"n_byte": found.n_byte})
    return found


def storage(home: pathlib.Path) -> list[dict[str, Any]]:
    """{"name", "n_file", "n_byte"} of each subfolder, and of the files beside them; hard links count once."""
    seen: set[tuple[int, int]] = set()
    sums: dict[str, list[int]] = {}
    for folder, _, files in os.walk(home):
        parts = pathlib.Path(folder).relative_to(home).parts
        found = sums.setdefault(parts[0] if parts else "database", [0, 0])
        for name in files:
            try:
                status = os.lstat(os.path.join(folder, name))
            except FileNotFoundError:  # removed meanwhile
                continue
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                found[0] += 1
                found[1] += status.st_size
    return [{"name": name, "n_file": n, "n_byte": size} for name, (n, size) in sorted(sums.items())]
