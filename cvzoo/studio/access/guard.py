"""Checks before anything else sees a request: the host's name, its origin, the size of its body; and safe headers."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cvzoo.studio.access.answers import Answers
from cvzoo.studio.problems import problem_response
from cvzoo.studio.settings import Settings

MAX_BODY = 1 << 20
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
PAGE_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)


class BodyTooLargeError(HTTPException):
    """A body without a length in its header is too large."""


class Guard:
    """Middleware that refuses requests for other hosts, writes from other origins, and large bodies.

    app: what it protects; settings: of the server; answers: where all are counted
    Paths of `large`, (prefix, bytes), may have larger bodies.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        large: tuple[tuple[str, int], ...] = (),
        answers: Answers | None = None,
    ):
        self._app = app
        self._answers = answers or Answers()
        self._hosts = settings.allowed_hosts
        self._is_https = settings.is_https
        self._large = large

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = next((size for prefix, size in self._large if scope["path"].startswith(prefix)), MAX_BODY)
        problem = self._problem(scope, headers, limit)
        answer = self._with_headers(send, scope["path"])
        if problem is not None:
            response = problem_response(Request(scope), *problem)
            await response(scope, receive, answer)
            return
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLargeError(413, f"the body has more than {limit} bytes")
            return message

        await self._app(scope, limited, answer)

    def _problem(self, scope: Scope, headers: Headers, limit: int) -> tuple[int, str] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _without_port(hosts[0]) not in self._hosts:
            # a page of another site whose name resolves to this address (DNS rebinding)
            return 421, "the server does not answer to this host name; --hostname NAME adds one"
        if scope["method"] not in _SAFE and not is_same_origin(headers, self._is_https):
            return 403, "this request was sent by a page of another site"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 19 or int(length) > limit:  # int() refuses "²" and 5,000 digits
            return 413, f"the body has more than {limit} bytes"
        return None

    def _with_headers(self, send: Send, path: str) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answers.count(message["status"])
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers.setdefault("content-security-policy", PAGE_POLICY)
                headers.setdefault("cache-control", "no-store")
                headers["x-content-type-options"] = "nosniff"
                # not "no-referrer", by which browsers send `Origin: null` with forms
                headers["referrer-policy"] = "same-origin"
                headers["cross-origin-opener-policy"] = "same-origin"
                headers["cross-origin-resource-policy"] = "same-origin"
                camera = "self" if path == "/try" else ""
                headers["permissions-policy"] = f"camera=({camera}), microphone=(), geolocation=()"
            await send(message)

        return sending


def is_same_origin(headers: Headers, is_https: bool) -> bool:
    """Whether a request that writes comes from the studio's own pages, or from a program with a token.

    Browsers send `Sec-Fetch-Site`; older ones `Origin`. A program sends neither, and has no cookie: a token is required
    of it.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    if origin is not None:
        return origin == f"{'https' if is_https else 'http'}://{headers.get('host', '')}"
    return "cookie" not in headers


def _without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
