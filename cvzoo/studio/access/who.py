"""Dependencies of routes: who makes the request, and whether it may write."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.sessions import session_identity
from cvzoo.studio.access.tokens import token_identity
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of


def identity_of(request: Request) -> Identity | None:
    """Who makes the request: by a token if there is one, else by the session's cookie."""
    studio = studio_of(request)
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind:
        return token_identity(studio.engine, secret.strip(), studio.clock) if kind.lower() == "bearer" else None
    cookie = request.cookies.get(studio.cookie)
    return None if cookie is None else session_identity(studio.engine, cookie, studio.clock)


def require_reader(request: Request) -> Identity:
    """Who makes the request. Raises Problem 401 without a session or a token."""
    identity = identity_of(request)
    if identity is None:
        raise Problem(401, "this needs a session or a token", hint="cvzoo studio open prints a link")
    return identity


def require_writer(request: Request) -> Identity:
    """Who makes a request that changes something. Raises Problem 401 or 403."""
    identity = require_reader(request)
    if not identity.may_write:
        raise Problem(403, "this token only reads", hint="cvzoo studio token NAME --scope write")
    return identity


Reader: TypeAlias = Annotated[Identity, Depends(require_reader)]
Writer: TypeAlias = Annotated[Identity, Depends(require_writer)]
