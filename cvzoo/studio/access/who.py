"""Dependencies of routes: who makes the request, and whether the role and the token allow it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import Role, includes
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of


async def identity_of(request: Request) -> Identity | None:
    """Who makes the request: by a token if there is one, else by the session's cookie."""
    studio = studio_of(request)
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind:
        return await studio.identities.of("token", secret.strip()) if kind.lower() == "bearer" else None
    cookie = request.cookies.get(studio.cookie)
    return None if cookie is None else await studio.identities.of("session", cookie)


async def require_reader(request: Request) -> Identity:
    """Who makes the request. Raises Problem 401 without a session or a token."""
    identity = await identity_of(request)
    if identity is None:
        raise Problem(401, "this needs a session or a token", hint="cvzoo studio open prints a link")
    request.state.who = identity  # pages show what this user may do
    return identity


def required(role: Role, *, writes: bool = True) -> Callable[[Request], Awaitable[Identity]]:
    """A dependency that gives who makes the request. It raises Problem 401, or 403 if the role or the token forbids."""

    async def require(request: Request) -> Identity:
        identity = await require_reader(request)
        if not includes(identity.role, role):
            raise Problem(403, f"this needs the role {role}", got=identity.role, hint="ask an administrator")
        if writes and not identity.may_write:
            raise Problem(403, "this token only reads", hint="cvzoo studio token NAME --scope write")
        return identity

    return require


def require_owner(who: Identity, created_by: str | None) -> None:
    """Raises Problem 403 unless the user created the thing, or is an administrator."""
    if created_by != who.user and not includes(who.role, "administrator"):
        raise Problem(403, "this belongs to another user", hint="ask its creator or an administrator")


def address_of(request: Request) -> str:
    """The address of who makes the request, "" if it is not known."""
    return request.client.host if request.client else ""


def require_session(who: Identity) -> None:
    """Raises Problem 403 for a token."""
    if who.via != "session":
        raise Problem(403, "a token cannot do this", expected="a session", hint="sign in with a browser")


Reader: TypeAlias = Annotated[Identity, Depends(require_reader)]
# changes something of one's own, such as the password
Writer: TypeAlias = Annotated[Identity, Depends(required("viewer"))]
Annotator: TypeAlias = Annotated[Identity, Depends(required("annotator"))]
Trainer: TypeAlias = Annotated[Identity, Depends(required("trainer"))]
Administrator: TypeAlias = Annotated[Identity, Depends(required("administrator"))]
# of what only administrators see
Overseer: TypeAlias = Annotated[Identity, Depends(required("administrator", writes=False))]
