"""Automatic fixes of what was found in a data set."""

from typing import Annotated

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.datasets import audit, require_ready
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.fixes import Fixes, apply_fixes, planned_fixes
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("datasets")


class WantedFixes(BaseModel):
    """Kinds of findings, all open ones of which are fixed; dry: nothing is changed"""

    kinds: Annotated[list[Annotated[str, Field(max_length=40)]], Field(min_length=1, max_length=40)]
    dry: bool = False


@router.post("/datasets/{dataset}:fix")
def fix_dataset(request: Request, dataset: FoundDataset, body: WantedFixes, who: Annotator) -> Response:
    """Fixes findings as `cvzoo data check --fix` does, as one revision.

    `changes`, at most 1,000 of `n_change`, say one by one what was done, or would be; `n` is the number of images. 422
    for kinds that a person has to decide, 409 while the newest revision is not checked, 429 while other fixes are made.
    """
    fixes, rev, n = fix(request, dataset, body, who)
    return JSONText({"rev": rev, "n": n, "n_change": fixes.n_change, "changes": fixes.changes})


def fix(request: Request, dataset: Dataset, body: WantedFixes, who: Identity) -> tuple[Fixes, int, int]:
    """(what is changed, the newest revision, the number of images). Raises Problem 409, 422 or 429."""
    require_ready(dataset)
    studio = studio_of(request)
    data = studio.data
    if not data.fixing.acquire(blocking=False):
        raise Problem(429, "other fixes are being made", hint="again in some seconds")
    try:
        fixes = planned_fixes(data.engine, data.store, dataset, list(dict.fromkeys(body.kinds)), studio.place.tasks)
        if body.dry:
            return fixes, dataset.head_rev, len(fixes.after)
        rev, n = apply_fixes(data.edits, dataset, fixes, who.user)
    finally:
        data.fixing.release()
    audit(request, who, "dataset.fix", dataset.id, {"rev": rev, "n": n, "kinds": body.kinds})
    return fixes, rev, n
