"""How many requests a session or a token may send: a bucket of each that fills with time, in memory."""

import dataclasses
import math
import re

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from cvzoo.studio.access.secret import digest_of
from cvzoo.studio.clock import Clock
from cvzoo.studio.problems import problem_response

PER_S, FILES_PER_S = 50, 600
BURST_S = 2  # a page of images, or a browser that opens its tabs again, asks for much at once
_MAX_BUCKET = 10_000
_STATIC = "/static/"  # scripts and styles, which cost little, many for a page
_FILES = re.compile(
    r"/api/v1/(?:images|evaluations/[^/]+/images|predictions/[^/]+/images|jobs/[^/]+/files|versions/[^/]+/files"
    r"|models/[^/]+/validation-images)/"
)


@dataclasses.dataclass
class _Bucket:
    left: float  # requests that may be sent now
    at: int  # when that was so


class Rates:
    """Middleware that refuses with 429, and the seconds to wait, what is asked too fast: 50 a second, 600 of images.

    app: what it protects; clock, cookie: of the studio. Requests without a session or a token are not counted.
    """

    def __init__(self, app: ASGIApp, clock: Clock, cookie: str):
        self._app, self._clock, self._cookie = app, clock, cookie
        self._buckets: dict[tuple[bytes, int], _Bucket] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(_STATIC):
            request = Request(scope)
            rate = FILES_PER_S if scope["method"] in ("GET", "HEAD") and _FILES.match(scope["path"]) else PER_S
            secret = self._secret(request)
            wait = self._wait((digest_of(secret), rate)) if secret else 0
            if wait:
                more = {"expected": f"at most {rate} a second", "try": f"again in {wait} s"}
                response = problem_response(request, 429, "there are too many requests", more)
                response.headers["retry-after"] = str(wait)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _secret(self, request: Request) -> str:
        """Of who asks, as `identity_of` reads it, known or not; "" if there is none."""
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        return secret.strip() if kind else request.cookies.get(self._cookie, "")

    def _wait(self, key: tuple[bytes, int]) -> int:
        """Seconds until the request may be sent; 0: now, and it is counted."""
        now, rate = self._clock(), key[1]
        bucket = self._buckets.get(key)
        if bucket is None:
            self._forget(now)
            bucket = self._buckets[key] = _Bucket(rate * BURST_S, now)
        # a clock that was set back fills nothing
        bucket.left = min(bucket.left + rate * max(now - bucket.at, 0) / 1000, rate * BURST_S)
        bucket.at = now
        if bucket.left < 1:
            return math.ceil((1 - bucket.left) / rate)
        bucket.left -= 1
        return 0

    def _forget(self, now: int) -> None:
        """Drops buckets that are full again, or, if secrets are invented, the older half."""
        if len(self._buckets) < _MAX_BUCKET:
            return
        idle = [key for key, each in self._buckets.items() if abs(now - each.at) > 1000 * BURST_S]
        if len(idle) < _MAX_BUCKET // 2:
            idle = sorted(self._buckets, key=lambda key: self._buckets[key].at)[: _MAX_BUCKET // 2]
        for key in idle:
            del self._buckets[key]
