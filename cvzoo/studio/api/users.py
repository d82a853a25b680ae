"""Users and tokens, and the audit, for administrators; the own name, password and tokens, for all."""

import dataclasses
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import Query, Request
from pydantic import BaseModel, Field

from cvzoo.studio.access.audit import Entry, entries
from cvzoo.studio.access.identity import Identity, Scope
from cvzoo.studio.access.quotas import Quota, set_quota
from cvzoo.studio.access.roles import Role
from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.tokens import new_token, revoke_token, tokens_of
from cvzoo.studio.access.users import (
    User,
    add_user,
    all_users,
    change_own,
    change_user,
    find_user,
    forget_password,
    set_password,
)
from cvzoo.studio.access.who import Administrator, Overseer, Reader, Writer, address_of, require_session
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.ids import is_id
from cvzoo.studio.problems import Problem, can_be_shown, shown_name
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("users")
_Password: TypeAlias = Annotated[str, Field(max_length=1000)]
MAX_DAYS, MAX_SHOWN = 3650, 80


class NewUser(BaseModel):
    """A user, who gets a one-time link."""

    name: Annotated[str, Field(max_length=80)]
    role: Role = "viewer"


class NewQuota(BaseModel):
    """What a user's jobs may take at most, null: as much as there is. bytes: of their folders"""

    running: Annotated[int, Field(ge=0, le=1000)] | None = None
    queued: Annotated[int, Field(ge=0, le=100_000)] | None = None
    bytes: Annotated[int, Field(ge=0, le=2**60)] | None = None


class ChangedUser(BaseModel):
    """What changes of a user. is_active: false: may not sign in; quota: replaces all of its limits"""

    role: Role | None = None
    is_active: bool | None = None
    quota: NewQuota | None = None


class ChangedMe(BaseModel):
    """What a user chooses; null: it stays. shown_name: what others read, "": the name; keys: whether single letters are
    keys of the pages
    """

    shown_name: Annotated[str, Field(max_length=MAX_SHOWN)] | None = None
    keys: bool | None = None


class NewPassword(BaseModel):
    """The own password. current: not needed if there is none yet"""

    current: _Password = ""
    new: _Password


class NewToken(BaseModel):
    """A token of one's own for programs."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    scope: Literal["read", "write"] = "read"
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] = 90


@router.get("/me")
def get_me(who: Reader) -> dict[str, Any]:
    """Who makes the request, and what the user chose."""
    own = {"id": who.user, "name": who.name, "shown_name": who.shown_name, "keys": who.has_keys}
    return {**own, "role": who.role, "may_write": who.may_write, "via": who.via}


@router.patch("/me")
def patch_me(request: Request, body: ChangedMe, who: Writer) -> dict[str, Any]:
    """Another name that is shown, 409 if another user's, or whether single letters are keys of the pages."""
    return get_me(change_me(request, who, body))


@router.put("/me/password", status_code=204)
def put_password(request: Request, body: NewPassword, who: Writer) -> None:
    """Sets one's own password; all sessions of the user end. 403 for a token."""
    change_password(request, who, body.current, body.new)


@router.get("/tokens")
def list_tokens(request: Request, who: Reader) -> dict[str, Any]:
    """One's own tokens that are valid; their secrets are not stored."""
    studio = studio_of(request)
    return {"items": [each.to_json() for each in tokens_of(studio.engine, who.user, studio.clock)]}


@router.post("/tokens", status_code=201)
def create_token(request: Request, body: NewToken, who: Writer) -> dict[str, Any]:
    """A token of one's own, which is shown this once. 403 for a token, which would outlive its own end."""
    return {"token": add_token(request, who, body.name, body.scope, body.days)}


@router.delete("/tokens/{token}", status_code=204)
def delete_token(request: Request, token: str, who: Writer) -> None:
    """Revokes one of one's own tokens."""
    end_token(request, who, token)


@router.get("/users")
def list_users(request: Request, _: Overseer) -> dict[str, Any]:
    """All users."""
    return {"items": [each.to_json() for each in all_users(studio_of(request).engine)]}


@router.post("/users", status_code=201)
def create_user(request: Request, body: NewUser, who: Administrator) -> dict[str, Any]:
    """A new user, with the path of a link that signs in once, within ten minutes; 409 if the name is taken."""
    user, path = invite(request, who, body.name, body.role)
    return {**user.to_json(), "link": path}


@router.patch("/users/{user}")
def patch_user(request: Request, user: str, body: ChangedUser, who: Administrator) -> dict[str, Any]:
    """Another role or state; 409 if no active administrator would be left."""
    if body.quota is not None:
        change_quota(request, who, user, Quota(body.quota.running, body.quota.queued, body.quota.bytes))
    return update_user(request, who, user, body.role, body.is_active).to_json()


@router.post("/users/{user}/link", status_code=201)
def create_link(request: Request, user: str, who: Administrator) -> dict[str, Any]:
    """A link that signs the user in once; the password, sessions and tokens that the user had are removed."""
    return {"link": new_link(request, who, user)}


@router.get("/audit")
def list_audit(
    request: Request,
    _: Overseer,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    action: Annotated[str, Query(max_length=40)] = "",
) -> dict[str, Any]:
    """Who did what, the newest first, 200 at a time. action: what the entries' actions begin with"""
    found = entries(studio_of(request).engine, before=before, action=action, limit=200)
    return {"items": [each.to_json() for each in found], "next": _next(found, 200)}


def change_me(request: Request, who: Identity, body: ChangedMe) -> Identity:
    """Who makes the request, after what the user chose. Raises Problem 422, ConfigError as `change_own`."""
    shown = None if body.shown_name is None else " ".join(body.shown_name.split())
    if shown is not None and not can_be_shown(shown):
        raise Problem(422, "some values are invalid", fields={"shown_name": "a name of letters that can be shown"})
    change_own(studio_of(request).engine, who.user, shown_name=shown, has_keys=body.keys)
    after = dataclasses.replace(
        who,
        shown_name=who.shown_name if shown is None else shown or who.name,
        has_keys=who.has_keys if body.keys is None else body.keys,
    )
    detail: dict[str, list[Any]] = {
        "shown_name": [who.shown_name, after.shown_name],
        "keys": [who.has_keys, after.has_keys],
    }
    audit(request, who, "user.own", who.user, {key: pair for key, pair in detail.items() if pair[0] != pair[1]})
    return after


def change_quota(request: Request, who: Identity, user: str, quota: Quota) -> None:
    """Sets a user's quota and records it in the audit. Raises Problem 403, 404."""
    require_session(who)
    found = known_user(request, user)
    set_quota(studio_of(request).engine, found.id, quota)
    audit(request, who, "user.quota", found.id, quota.to_json())


def known_user(request: Request, user: str) -> User:
    """The user of an identifier. Raises Problem 404."""
    found = find_user(studio_of(request).engine, user) if is_id(user, "us") else None
    if found is None:
        raise Problem(404, "there is no such user")
    return found


def invite(request: Request, who: Identity, name: str, role: Role) -> tuple[User, str]:
    """A new user, and the path of the one-time link. Raises Problem 403 for a token."""
    require_session(who)
    studio = studio_of(request)
    user = add_user(studio.engine, name, role, studio.clock)
    audit(request, who, "user.create", user.id, {"name": user.name, "role": role})
    return user, f"/open?ticket={new_ticket(studio.engine, studio.clock, user.id)}"


def update_user(request: Request, who: Identity, user: str, role: Role | None, is_active: bool | None) -> User:
    """Changes a user. Raises Problem 403 for a token, 404."""
    require_session(who)
    before = known_user(request, user)
    change_user(studio_of(request).engine, user, role=role, is_active=is_active)
    after = known_user(request, user)
    detail: dict[str, list[Any]] = {"role": [before.role, after.role], "is_active": [before.is_active, after.is_active]}
    audit(request, who, "user.change", user, {key: pair for key, pair in detail.items() if pair[0] != pair[1]})
    return after


def new_link(request: Request, who: Identity, user: str) -> str:
    """The path of a one-time link for a user, whose password is forgotten. Raises Problem 403, 404, 409."""
    require_session(who)
    studio = studio_of(request)
    if not known_user(request, user).is_active:
        raise Problem(409, "this user may not sign in", hint="activate the user first")
    if user != who.user:  # one's own link is for another browser
        forget_password(studio.engine, user)
    audit(request, who, "user.link", user, {})
    return f"/open?ticket={new_ticket(studio.engine, studio.clock, user)}"


def change_password(request: Request, who: Identity, current: str, new: str) -> None:
    """Sets one's own password. Raises Problem 403 for a token, ConfigError as `set_password`."""
    require_session(who)
    studio = studio_of(request)
    address = address_of(request)
    wait = studio.attempts.begin(who.name, address)
    if wait:
        raise Problem(429, "too many wrong passwords", hint=f"wait {wait} seconds")
    set_password(studio.engine, who.user, current, new)
    studio.attempts.succeeded(who.name, address)
    audit(request, who, "password.set", who.user, {})


def add_token(request: Request, who: Identity, name: str, scope: Scope, days: int) -> str:
    """The secret of a new token. Raises Problem 403 for a token."""
    require_session(who)
    studio = studio_of(request)
    name = shown_name(name)
    secret = new_token(studio.engine, name, scope, days, studio.clock, who.user)
    audit(request, who, "token.create", who.user, {"name": name, "scope": scope, "days": days})
    return secret


def end_token(request: Request, who: Identity, token: str) -> None:
    """Revokes a token of one's own. Raises Problem 404."""
    studio = studio_of(request)
    if not is_id(token, "tk") or not revoke_token(studio.engine, who.user, token, studio.clock):
        raise Problem(404, "there is no such token")
    audit(request, who, "token.revoke", token, {})


def _next(found: list[Entry], limit: int) -> int | None:
    return found[-1].id if len(found) == limit else None
