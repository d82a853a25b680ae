"""The pages of the own account, of users, of what is stored, and of the audit."""

import csv
import io
import json
import re
from typing import Annotated, Any, TypeAlias

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access.audit import entries
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.quotas import Quota, default_quota
from cvzoo.studio.access.roles import ROLES, as_role
from cvzoo.studio.access.tokens import tokens_of
from cvzoo.studio.access.users import all_users, find_user
from cvzoo.studio.access.who import Administrator, Overseer, Reader, Writer
from cvzoo.studio.api.server_settings import change_default_quota, server_settings
from cvzoo.studio.api.storage import begin_backup, collect_unused, storage
from cvzoo.studio.api.users import (
    MAX_SHOWN,
    ChangedMe,
    add_token,
    change_me,
    change_password,
    change_quota,
    end_token,
    invite,
    known_user,
    new_link,
    update_user,
)
from cvzoo.studio.database.names_of import names_of
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem, words_of
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_Text: TypeAlias = Annotated[str, Form(max_length=1000)]
_PAGE = 200
_ID = re.compile(r'"([a-z]{2}_[a-z2-7]{16})"')  # a text of the JSON that is an identifier
_ALL = 1_000_000


@router.get("/account")
def account_page(request: Request, who: Reader) -> Response:
    """The own name, password and tokens."""
    return _account(request, who, {}, 200)


@router.post("/account/own")
def own_by_form(request: Request, who: Writer, shown_name: _Text = "", keys: _Text = "") -> Response:
    """Another name that is shown, and whether single letters are keys."""
    try:
        if len(shown_name) > MAX_SHOWN:
            raise ConfigError(f"at most {MAX_SHOWN} letters")
        change_me(request, who, ChangedMe(shown_name=shown_name, keys=bool(keys)))
    except ConfigError as error:
        return _account(request, who, {"own_error": str(error).replace("\n", ", "), "shown_name": shown_name}, 422)
    except Problem as problem:
        words = problem.more.get("fields", {}).get("shown_name") or words_of(problem)
        return _account(request, who, {"own_error": words, "shown_name": shown_name}, problem.status_code)
    return RedirectResponse("/account", status_code=303)


@router.post("/account/password")
def password_by_form(request: Request, who: Writer, new: _Text = "", current: _Text = "") -> Response:
    """Sets the password; this browser is signed out, as all others."""
    try:
        change_password(request, who, current, new)
    except ConfigError as error:
        return _account(request, who, {"password_error": str(error).replace("\n", ", ")}, 422)
    return RedirectResponse("/sign-in", status_code=303)


@router.post("/account/tokens")
def token_by_form(
    request: Request,
    who: Writer,
    name: Annotated[str, Form(max_length=80)] = "",
    scope: Annotated[str, Form(pattern="^(read|write)$")] = "read",
) -> Response:
    """Makes a token, and shows it this once."""
    if not name.strip():
        return _account(request, who, {"token_error": "the token needs a name"}, 422)
    secret = add_token(request, who, name.strip(), "write" if scope == "write" else "read", 90)
    return _account(request, who, {"secret": secret}, 200)


@router.post("/account/tokens/{token}")
def revoke_by_form(request: Request, token: str, who: Writer) -> Response:
    """Revokes a token."""
    end_token(request, who, token)
    return RedirectResponse("/account", status_code=303)


@router.get("/admin")
def admin_page(request: Request, _: Overseer) -> Response:
    """Users, what is stored, backups, and what the server runs with."""
    return _admin(request, {}, 200)


@router.post("/admin/users")
def add_by_form(request: Request, who: Administrator, name: _Text = "", role: _Text = "") -> Response:
    """Adds a user, and shows the link once."""
    chosen = as_role(role)
    if chosen is None:
        raise Problem(422, "there is no such role", expected=", ".join(ROLES), got=role[:40])
    try:
        user, path = invite(request, who, name, chosen)
    except ConfigError as error:
        return _admin(request, {"error": str(error).replace("\n", ", "), "typed": name}, 422)
    return _admin(request, {"link": path, "linked": user}, 200)


@router.post("/admin/users/{user}")
def change_by_form(
    request: Request,
    user: str,
    who: Administrator,
    role: _Text = "",
    action: _Text = "",
    running: _Text = "",
    queued: _Text = "",
    gigabytes: _Text = "",
) -> Response:
    """Another role, another state, another quota (fields that are empty: no limit), or a new link."""
    try:
        if action == "quota":
            change_quota(request, who, user, _quota(running, queued, gigabytes))
            return RedirectResponse("/admin", status_code=303)
        if action == "link":
            path = new_link(request, who, user)
            return _admin(request, {"link": path, "linked": known_user(request, user)}, 200)
        is_active = {"disable": False, "activate": True}.get(action)
        update_user(request, who, user, as_role(role) if is_active is None else None, is_active)
    except ConfigError as error:
        return _admin(request, {"error": str(error).replace("\n", ", ")}, 409)
    return RedirectResponse("/admin", status_code=303)


@router.post("/admin/settings")
def settings_by_form(
    request: Request, who: Administrator, running: _Text = "", queued: _Text = "", gigabytes: _Text = ""
) -> Response:
    """Another default quota; fields that are empty: no limit."""
    try:
        change_default_quota(request, who, _quota(running, queued, gigabytes))
    except ConfigError as error:
        return _admin(request, {"settings_error": str(error).replace("\n", ", ")}, 409)
    return RedirectResponse("/admin#h-settings", status_code=303)


@router.post("/admin/backups")
def backup_by_form(request: Request, who: Administrator, incomplete: Annotated[bool, Form()] = False) -> Response:
    """Begins to write a backup, or says that one is being written."""
    try:
        begin_backup(request, who, is_incomplete_allowed=incomplete)
    except Problem as problem:
        return _admin(request, {"backup_error": str(problem.detail)}, problem.status_code)
    return RedirectResponse("/admin#h-backups", status_code=303)


@router.post("/admin/collect")
def collect_by_form(request: Request, who: Administrator, dry: Annotated[bool, Form()] = True) -> Response:
    """Shows what nothing refers to any more, or removes it."""
    try:
        found = collect_unused(request, who, is_dry=dry)
    except ConfigError as error:
        return _admin(request, {"collect_error": str(error).replace("\n", ", ")}, 409)
    return _admin(request, {"collected": found, "is_dry": dry}, 200)


@router.get("/admin/audit")
def audit_page(
    request: Request,
    _: Overseer,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    action: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Who did what."""
    found = entries(studio_of(request).engine, before=before, action=action, limit=_PAGE)
    ids = {each for entry in found for each in (entry.object, *_ID.findall(entry.detail))}
    names = names_of(studio_of(request).engine, ids)
    rows = [(each, _ID.sub(lambda found: json.dumps(names.get(found[1], found[1])), each.detail)) for each in found]
    values = {"rows": rows, "names": names, "action": action, "next": found[-1].id if len(found) == _PAGE else None}
    return render(request, "audit.html", values=values)


@router.get("/admin/audit.csv")
def audit_table(request: Request, _: Overseer) -> Response:
    """All of the audit as CSV."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["id", "at", "user", "address", "action", "object", "detail"])
    for each in reversed(entries(studio_of(request).engine, before=None, action="", limit=_ALL)):
        # a spreadsheet would compute what begins like a formula
        row = [each.user or "", each.address, each.action, each.object, each.detail]
        table.writerow([each.id, each.at, *(f"'{cell}" if cell[:1] in "=+-@" and cell else cell for cell in row)])
    headers = {"content-disposition": 'attachment; filename="audit.csv"'}
    return Response(text.getvalue().encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


def _quota(running: str, queued: str, gigabytes: str) -> Quota:
    """Raises ConfigError."""
    try:
        n_running, n_queued = (int(text) if text.strip() else None for text in (running, queued))
        n_byte = int(float(gigabytes) * 1e9) if gigabytes.strip() else None
    except (ValueError, OverflowError):
        raise ConfigError("a quota is a number, or empty", got=", ".join((running, queued, gigabytes))[:80]) from None
    if any(each is not None and not 0 <= each < 2**60 for each in (n_running, n_queued, n_byte)):
        raise ConfigError("a quota is 0 or more", got=", ".join((running, queued, gigabytes))[:80])
    return Quota(n_running, n_queued, n_byte)


def _account(request: Request, who: Identity, more: dict[str, Any], status: int) -> Response:
    studio = studio_of(request)
    user = find_user(studio.engine, who.user)
    values: dict[str, Any] = {"password_error": "", "token_error": "", "own_error": "", "secret": "", "user": user}
    values["shown_name"] = "" if user is None or user.shown_name == user.name else user.shown_name
    values["tokens"] = tokens_of(studio.engine, who.user, studio.clock)
    return render(request, "account.html", status_code=status, values=values | more)


def _admin(request: Request, more: dict[str, Any], status: int) -> Response:
    studio = studio_of(request)
    values: dict[str, Any] = {"error": "", "typed": "", "link": "", "linked": None, "roles": ROLES}
    values |= {"users": all_users(studio.engine), "storage": storage(studio.place.home)}
    values |= {"backup_error": "", "collect_error": "", "collected": None, "is_dry": True}
    values |= {"backups": studio.backups.kept(), "last_backup": studio.backups.last, "folder": studio.place.backups}
    values |= {"settings": server_settings(studio), "quota": default_quota(studio.engine), "settings_error": ""}
    values["base"] = str(request.base_url).rstrip("/")
    return render(request, "admin.html", status_code=status, values=values | more)
