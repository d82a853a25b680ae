"""What users may name: administrators any folder of this machine, others what the studio has shown them."""

import pathlib

from fastapi import Request

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import includes
from cvzoo.studio.evaluations.validation_data import validation_data
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of


def require_data(request: Request, who: Identity, data: str) -> None:
    """Raises Problem 403 unless the data are a version, or of a run, or an administrator names them."""
    if includes(who.role, "administrator") or not data:
        return
    studio = studio_of(request)
    known = {each.data for each in studio.data.versions.ready()}
    judged = [each.data for each in studio.runs.records() if each.state != "draft"]  # what drafts name was not
    known |= {*judged, *(validation_data(each).data for each in judged)}
    if data not in known:
        raise _refused(data, "a version of a data set, or the data of a run")


def require_folder(request: Request, who: Identity, path: str) -> None:
    """Raises Problem 403 unless the images are a version's, or an administrator names them."""
    if includes(who.role, "administrator") or not path or "\0" in path:
        return
    studio = studio_of(request)
    folder = pathlib.Path(path).resolve()
    if not any(folder.is_relative_to(studio.place.version(each.id).resolve()) for each in studio.data.versions.ready()):
        raise _refused(path, "images of a version of a data set")


def _refused(got: str, expected: str) -> Problem:
    return Problem(403, "only administrators name folders of this machine", expected=expected, got=got[:200])
