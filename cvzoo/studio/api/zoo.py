"""A model of the zoo, and the download of its weights."""

import shutil
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Request

from cvzoo.files.home import cvzoo_home
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.models import found_model
from cvzoo.studio.jobs.conductor import MIN_FREE
from cvzoo.studio.models.found import ZOO, Model
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("models")


def _of_path(request: Request, name: str, _: Reader) -> Model:
    return found_model(request, f"{ZOO}{name}")


FoundMember: TypeAlias = Annotated[Model, Depends(_of_path)]


@router.get("/zoo/{name}")
def get_member(request: Request, found: FoundMember, _: Reader) -> dict[str, Any]:
    """A model of the zoo as `cvzoo models --json` lists it, and `fetch`, the last download of its weights."""
    return _row(request, found)


@router.post("/zoo/{name}:fetch", status_code=202)
def fetch(request: Request, found: FoundMember, who: Trainer) -> dict[str, Any]:
    """Downloads the weights, unless they are here, in a process; `fetch` says how far it is.

    502 if the publisher does not give them, 429 while two others are downloaded, 507 if the disk has no room.
    """
    fetch_member(request, found, who)
    return _row(request, found)


def fetch_member(request: Request, found: Model, who: Identity) -> None:
    """Begins the download of a model of the zoo, and records it in the audit. Raises Problem 409, 429, 502, 507."""
    studio, member = studio_of(request), found.member
    if member is None:
        raise Problem(409, "only models of the zoo are downloaded")
    if member["here"]:
        return
    folder = cvzoo_home()
    folder.mkdir(parents=True, exist_ok=True)
    needed = MIN_FREE + sum(each.get("size") or each.get("about_size") or 0 for each in member["files"])
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Problem(507, "the disk has no room for the weights", expected=f"{needed} bytes", got=f"{free} bytes")
    audit(request, who, "zoo.fetch", found.key, {})
    studio.fetches.start(found.word)


def _row(request: Request, found: Model) -> dict[str, Any]:
    last = studio_of(request).fetches.get(found.word)
    return {**(found.member or {}), "key": found.key, "fetch": None if last is None else last.to_json()}
