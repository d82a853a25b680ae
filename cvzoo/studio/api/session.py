"""Signing in by a one-time link, and signing out."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response

from cvzoo.studio.access.audit import record
from cvzoo.studio.access.sessions import VALID_MS, close_session, open_session
from cvzoo.studio.access.tickets import redeem
from cvzoo.studio.access.users import user_of_password
from cvzoo.studio.access.who import Reader, address_of
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()


@router.get("/open")
def show_open(request: Request, ticket: str = "") -> Response:
    """A page with a button that uses the link: a program that only looks at addresses does not use it up."""
    return render(request, "open.html", values={"ticket": ticket[:100]})


@router.post("/open")
def use_ticket(request: Request, ticket: Annotated[str, Form(max_length=100)]) -> Response:
    """Signs in; the link does not work again."""
    studio = studio_of(request)
    address = address_of(request)
    user = redeem(studio.engine, ticket, studio.clock)
    if user is None:
        record(studio.engine, studio.clock, user=None, address=address, action="open.refused", thing="", detail={})
        raise Problem(403, "this link was used before, or is older than ten minutes", hint="cvzoo studio open")
    return _signed_in(request, user, "open")


@router.get("/sign-in")
def show_sign_in(request: Request) -> Response:
    """The form of name and password."""
    return render(request, "sign_in.html", values={"error": "", "name": ""})


@router.post("/sign-in")
def sign_in(
    request: Request,
    name: Annotated[str, Form(max_length=80)] = "",
    password: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Signs in by name and password; after five wrong ones each waits, twice as long as the one before."""
    studio = studio_of(request)
    address = address_of(request)
    wait = studio.attempts.begin(name.casefold(), address)
    if wait:
        values = {"error": f"too many attempts: wait {wait} seconds", "name": name}
        return render(request, "sign_in.html", status_code=429, values=values)
    user = user_of_password(studio.engine, name, password)
    if user is None:
        record(studio.engine, studio.clock, user=None, address=address, action="sign-in.refused", thing="", detail={})
        values = {"error": "the name or the password is wrong", "name": name}
        return render(request, "sign_in.html", status_code=403, values=values)
    studio.attempts.succeeded(name.casefold(), address)
    return _signed_in(request, user, "sign-in")


def _signed_in(request: Request, user: str, action: str) -> Response:
    studio = studio_of(request)
    address = address_of(request)
    browser = request.headers.get("user-agent", "")
    cookie = open_session(studio.engine, user, address, browser, studio.clock)
    record(studio.engine, studio.clock, user=user, address=address, action=action, thing=user, detail={})
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        studio.cookie,
        cookie,
        max_age=VALID_MS // 1000,
        path="/",
        secure=studio.settings.is_https,
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/sign-out")
def sign_out(request: Request, _: Reader) -> Response:
    """Ends the session of this browser."""
    studio = studio_of(request)
    close_session(studio.engine, request.cookies.get(studio.cookie, ""))
    response = RedirectResponse("/", status_code=303)
    response.delete_cookie(studio.cookie, path="/", secure=studio.settings.is_https, httponly=True, samesite="strict")
    return response
