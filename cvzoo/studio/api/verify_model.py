"""Verifying a model: its file is loaded anew, and its hash compared with the one that is known."""

import dataclasses
from typing import Any

from fastapi import Request

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Trainer
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.models import FoundModel, loaded_of, require_loadable
from cvzoo.studio.models.found import Model
from cvzoo.studio.models.verified import Verified
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("models")


@router.post("/models/{model}:verify")
def verify(request: Request, found: FoundModel, who: Trainer) -> dict[str, Any]:
    """Loads the model's file anew in a process with few rights: its hash is the one that is known, its parameters and
    its outputs for a fixed image are finite. `problems` is what is not so; 409 of a model that is none of cvzoo's.
    """
    return verify_model(request, found, who).to_json()


def verify_model(request: Request, found: Model, who: Identity) -> Verified:
    """Verifies the model, keeps what was found, and records it in the audit.

    Raises Problem 409, 429, or 503 without a finding: the process was killed, or took too long.
    """
    require_loadable(found)
    studio = studio_of(request)
    now, before = studio.clock(), studio.verifications.get(found.key)
    first = before.sha256 if before is not None and before.changed_at == found.changed_at else ()
    try:
        # a process of its own: another one may have loaded the file before it was damaged
        answer, _ = studio.inference.ask(dataclasses.replace(loaded_of(found), changed_at=-now), {"op": "verify"})
        sha256, problems = tuple(answer["sha256"]), list(answer["problems"])
    except Problem as problem:
        if problem.status_code != 422:
            raise
        sha256, problems = (), [str(problem.detail)]
    problems += _differences(request, found, sha256, first)
    result = Verified(now, found.changed_at, first or sha256, tuple(problems))
    studio.verifications.put(found.key, result)
    audit(request, who, "model.verify", found.key, {"problems": problems})
    return result


def _differences(request: Request, found: Model, sha256: tuple[str, ...], first: tuple[str, ...]) -> list[str]:
    """What the hash of a file contradicts: the one of its upload, or of the first verification of the same file."""
    if not sha256 or found.path is None:
        return []
    uploads = studio_of(request).models.register.uploaded()
    uploaded = next((each.sha256 for each in uploads if each.id == found.key), "")
    wanted = uploaded or "".join(first)
    if wanted in ("", sha256[0]):
        return []
    when = "uploaded" if uploaded else "verified first"
    return [f"the file has the SHA-256 {sha256[0]}, and {wanted} when it was {when}"]
