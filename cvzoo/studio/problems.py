"""Errors as JSON by RFC 9457, and as pages."""

import errno
import json
import sys
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from sqlalchemy.exc import DatabaseError
from starlette.exceptions import HTTPException

from cvzoo.errors.exceptions import CvzooError
from cvzoo.studio.pages.form_address import page_of_form
from cvzoo.studio.pages.render import render

_TITLES = {
    400: "Malformed request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Not possible now",
    410: "Not there any more",
    413: "Too large",
    415: "Wrong type",
    421: "Unknown host name",
    422: "Invalid values",
    429: "Too many",
    460: "Wrong checksum",
    500: "Error of the server",
    502: "No answer from another server",
    503: "Not available now",
    507: "Disk full",
}


_OF_THE_DISK = {errno.ENOSPC: 507, errno.EDQUOT: 507, errno.EROFS: 503}


class JSONText(JSONResponse):
    """JSON in ASCII, so that names of files that are not UTF-8 can be in it."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode("ascii")


class Problem(HTTPException):
    """An error that a request ends with.

    status: of HTTP; detail: what was wrong
    expected, got, hint: as of CvzooError; fields: name -> what is wrong with its value
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        hint: str | None = None,
        fields: dict[str, str] | None = None,
    ):
        super().__init__(status, detail)
        more = {"expected": expected, "got": got, "try": hint, "fields": fields}
        self.more: dict[str, Any] = {key: value for key, value in more.items() if value is not None}


def words_of(problem: Problem) -> str:
    """What was wrong, with which values, and what to try, as one line of a page."""
    fields = problem.more.get("fields", {})
    parts = [str(problem.detail), *(f"{name}: {text}" for name, text in fields.items()), problem.more.get("try")]
    return "; ".join(part for part in parts if part)


_JOINERS = {0x200C: None, 0x200D: None}  # no letters of their own: in words of Persian and Hindi, and in emoji


def can_be_shown(text: str) -> bool:
    """Whether all of a text's letters can be shown, among them joiners between others."""
    seen = text.translate(_JOINERS)
    return seen.isprintable() and bool(seen) == bool(text)


def shown_name(name: str) -> str:
    """The name without spaces around it, at most 120 letters. Raises Problem 422 if it cannot be shown."""
    name = name.strip()[:120]
    if not can_be_shown(name) or not name:
        raise Problem(422, "some values are invalid", fields={"name": "a name of letters that can be shown"})
    return name


def problem_response(request: Request, status: int, detail: str, more: dict[str, Any] | None = None) -> Response:
    """The response to a request that failed: a page for a browser's navigation, else JSON."""
    title = _TITLES.get(status, "Error")
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        if status == 401:
            return render(request, "signed_out.html", status_code=401)
        values = {"title": title, "detail": detail, "more": more or {}}
        return render(request, "problem.html", status_code=status, values=values)
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **(more or {})}
    return JSONText(body, status_code=status, media_type="application/problem+json")


async def on_http_error(request: Request, error: Any) -> Response:
    """Of Problem, and of the framework's own errors; a form's address that is opened leads to its page."""
    assert isinstance(error, HTTPException)
    page = page_of_form(request) if error.status_code == 405 else None
    if page is not None:
        return RedirectResponse(page, status_code=303)
    more = error.more if isinstance(error, Problem) else None
    return problem_response(request, error.status_code, str(error.detail), more)


async def on_validation_error(request: Request, error: Any) -> Response:
    """Of parameters and bodies that have not the declared types; all fields at once."""
    assert isinstance(error, RequestValidationError)
    fields = {".".join(map(str, each["loc"][1:])) or str(each["loc"][0]): str(each["msg"]) for each in error.errors()}
    return problem_response(request, 422, "some values are invalid", {"fields": fields})


async def on_cvzoo_error(request: Request, error: Exception) -> Response:
    """Of cvzoo's own errors: the first line is what was wrong, the others follow."""
    assert isinstance(error, CvzooError)
    first, *rest = str(error).splitlines()
    pairs = (line.strip().partition(":") for line in rest)
    more = {name: value.strip() for name, _, value in pairs if name in ("expected", "got", "try")}
    return problem_response(request, 409, first, more)


async def on_database_error(request: Request, error: Any) -> Response:
    """Of a database that is locked, damaged, read-only, or on a full disk: the request may work later."""
    assert isinstance(error, DatabaseError)
    print(f"cvzoo studio: the database failed: {error.orig}", file=sys.stderr, flush=True)
    more = {"try": "again; if this stays, the disk may be full, or the studio's folder read-only"}
    response = problem_response(request, 503, f"the database failed: {error.orig}", more)
    response.headers["retry-after"] = "5"
    return response


async def on_os_error(request: Request, error: Any) -> Response:
    """Of a disk that is full or read-only; any other is a defect of the server. Raises it then."""
    assert isinstance(error, OSError)
    if error.errno not in _OF_THE_DISK:
        raise error
    print(f"cvzoo studio: {error}", file=sys.stderr, flush=True)
    more = {"try": "again when there is room; what was accepted before is kept"}
    return problem_response(request, _OF_THE_DISK[error.errno], f"the disk refused to write: {error.strerror}", more)


async def on_error(request: Request, _: Exception) -> Response:
    """Of defects of the server, which prints them."""
    return problem_response(request, 500, "the server could not answer; its terminal shows why")
