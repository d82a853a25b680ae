"""From where images are read: uploads, or a specification as `cvzoo train --data` has."""

import json
from typing import Any

from fastapi import Request

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.api.named_data import require_data
from cvzoo.studio.ids import is_id
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of


def known_source(request: Request, uploads: list[str] | None, spec: str | None, who: Identity) -> dict[str, Any]:
    """What is read: the specification, or the uploads, which do not expire before. Raises Problem 403, 404, 409 or 422
    for those that are not the user's to name, gone, not whole, or empty.
    """
    if uploads is None:
        if not spec:  # which would be the folder that the server was started in
            raise Problem(422, "some values are invalid", fields={"spec": "a folder, such as voc:FOLDER"})
        require_data(request, who, spec)
        return {"spec": spec}
    data = studio_of(request).data
    found = [data.uploads.get(each) if is_id(each, "up") else None for each in uploads]
    known = [each for each in found if each is not None]
    if len(known) != len(found) or not known:
        raise Problem(404, "there is no such upload", hint="it may have been imported, or have expired")
    late = [each.name for each in known if each.offset < each.size]
    if late:
        raise Problem(409, f"{late[0]} is not whole yet", hint="HEAD tells where the upload continues")
    if not data.uploads.renew([each.id for each in known]):
        raise Problem(404, "there is no such upload", hint="it may have been imported, or have expired")
    return {"uploads": [{"id": each.id, "name": each.name} for each in known]}


def source_words(source: dict[str, Any]) -> str:
    """From where images come, in words."""
    if "spec" in source:
        return str(source["spec"])
    if "sample" in source:
        return f"{source['sample']} drawn receipts"
    return ", ".join(str(each["name"]) for each in source.get("uploads", ())) or json.dumps(sorted(source))
