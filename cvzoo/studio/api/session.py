"""Signing in by a one-time link, and signing out."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from cvzoo.studio.access.audit import record
from cvzoo.studio.access.sessions import VALID_MS, close_session, open_session
from cvzoo.studio.access.tickets import redeem
from cvzoo.studio.access.who import Reader
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of

router = APIRouter(include_in_schema=False)


@router.get("/open")
def show_open(request: Request, ticket: str = "") -> Response:
    """A page with a button that uses the link: a program that only looks at addresses does not use it up."""
    return render(request, "open.html", values={"ticket": ticket[:100]})


@router.post("/open")
def use_ticket(request: Request, ticket: Annotated[str, Form(max_length=100)]) -> Response:
    """Signs in; the link does not work again."""
    studio = studio_of(request)
    address = request.client.host if request.client else ""
    user = redeem(studio.engine, ticket, studio.clock)
    if user is None:
        record(studio.engine, studio.clock, user=None, address=address, action="open.refused", thing="", detail={})
        raise Problem(403, "this link was used before, or is older than ten minutes", hint="cvzoo studio open")
    browser = request.headers.get("user-agent", "")
    cookie = open_session(studio.engine, user, address, browser, studio.clock)
    record(studio.engine, studio.clock, user=user, address=address, action="open", thing=user, detail={})
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
