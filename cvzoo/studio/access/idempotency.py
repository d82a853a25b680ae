"""Requests that are sent twice, as after a lost connection: the second one gets the answer of the first.

A program names its request by the header `Idempotency-Key`. Answers are kept for a day. A refused request has changed
nothing, so that it may be corrected and sent again with the same key.
"""

import asyncio
import base64
import dataclasses
import hashlib
import json
import re

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from sqlalchemy import delete, insert, select, update
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cvzoo.studio.access.guard import BodyTooLargeError
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import identity_of
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import SEEN_KEY
from cvzoo.studio.problems import problem_response
from cvzoo.studio.state import Studio

KEPT_MS = 24 * 3600 * 1000
_KEY = re.compile(r"[!-~]{1,80}")
_MAX_ANSWER = 1 << 20
# answers with secrets, which are stored nowhere, and predictions, which change nothing
_OTHERS = ("/api/v1/session", "/api/v1/tokens", "/api/v1/users", "/api/v1/predict")
_NOT_KEPT = ("content-length", "set-cookie")  # headers


@dataclasses.dataclass(frozen=True)
class _Answer:
    """status: of HTTP; headers: name -> text; body: bytes"""

    status: int
    headers: dict[str, str]
    body: bytes

    def to_text(self) -> str:
        return json.dumps([self.status, self.headers, base64.b64encode(self.body).decode()])


class Idempotency:
    """Middleware that answers a POST of the REST interface whose key was seen before as it was answered then.

    app: what answers; studio: whose database keeps the answers

    422 with the key of another request; 409 if the server failed or was killed before it had answered the first one,
    since it is not known then whether that took effect. Keys are those of a user.
    """

    def __init__(self, app: ASGIApp, studio: Studio):
        self._app, self._studio = app, studio
        self._answering: dict[tuple[str, str], asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        key = request.headers.get("idempotency-key")
        who = None if key is None else await identity_of(request)
        if key is None or who is None or not who.may_write:
            await self._app(scope, receive, send)  # which refuses those who may not
            return
        refusal = _refusal(key, scope["path"])
        if refusal is not None:
            await problem_response(request, 400, refusal)(scope, receive, send)
            return
        try:
            body = await request.body()
        except BodyTooLargeError as error:
            await problem_response(request, 413, str(error.detail))(scope, receive, send)
            return
        mine = (who.user, key)
        while mine in self._answering:  # the same request, sent while the first one is answered
            await self._answering[mine].wait()
        self._answering[mine] = asyncio.Event()
        try:
            await self._answer(request, who, key, body, send)
        finally:
            self._answering.pop(mine).set()

    async def _answer(self, request: Request, who: Identity, key: str, body: bytes, send: Send) -> None:
        asked = "\n".join((request.url.path, request.url.query, hashlib.sha256(body).hexdigest()))
        digest = hashlib.sha256(asked.encode()).hexdigest()
        known = await run_in_threadpool(self._taken, who.user, key, digest)
        if known is not None:
            response = known if isinstance(known, Response) else problem_response(request, *known)
            await response(request.scope, request.receive, send)
            return
        messages: list[Message] = []
        is_read = False

        async def again() -> Message:
            nonlocal is_read
            if is_read:
                return await request.receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(request.scope, again, keep)
        answer = _answer_of(messages)
        if answer.status < 500:  # else the key stays without an answer: what was done by then is not known
            is_kept = answer.status < 400 and len(answer.body) <= _MAX_ANSWER
            await run_in_threadpool(self._finish, who.user, key, answer if is_kept else None)
        for message in messages:
            await send(message)

    def _taken(self, user: str, key: str, digest: str) -> Response | tuple[int, str] | None:
        """The answer of before, or a refusal (status, detail); None if the key is new, which it is no more then."""
        now = self._studio.clock()
        mine = (SEEN_KEY.c.user == user) & (SEEN_KEY.c.key == key)
        with writing(self._studio.engine) as connection:
            connection.execute(delete(SEEN_KEY).where(SEEN_KEY.c.expires_at <= now))
            row = connection.execute(select(SEEN_KEY.c.digest, SEEN_KEY.c.answer).where(mine)).first()
            if row is None:
                values = {"user": user, "key": key, "digest": digest, "answer": "", "expires_at": now + KEPT_MS}
                connection.execute(insert(SEEN_KEY).values(**values))
                return None
        if row.digest != digest:
            return 422, "this Idempotency-Key was sent with another request; a new request needs a new key"
        if not row.answer:
            return 409, (
                "the server failed before it had answered the first request with this Idempotency-Key, which may have "
                "taken effect; look, and send it with a new key if it has not"
            )
        status, headers, body = json.loads(row.answer)
        response = Response(base64.b64decode(body), status_code=status, headers=headers)
        response.headers["idempotent-replayed"] = "true"
        return response

    def _finish(self, user: str, key: str, answer: _Answer | None) -> None:
        """Keeps the answer, or forgets the key."""
        mine = (SEEN_KEY.c.user == user) & (SEEN_KEY.c.key == key)
        change = delete(SEEN_KEY) if answer is None else update(SEEN_KEY).values(answer=answer.to_text())
        with writing(self._studio.engine) as connection:
            connection.execute(change.where(mine))


def _refusal(key: str, path: str) -> str | None:
    if not _KEY.fullmatch(key):
        return "the Idempotency-Key is not one of 1 to 80 printable characters without spaces"
    if path.startswith(_OTHERS):
        return "this route keeps no answers, and takes no Idempotency-Key"
    return None


def _answer_of(messages: list[Message]) -> _Answer:
    start = next(each for each in messages if each["type"] == "http.response.start")
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in start["headers"]}
    body = b"".join(each.get("body", b"") for each in messages if each["type"] == "http.response.body")
    return _Answer(start["status"], {name: text for name, text in headers.items() if name not in _NOT_KEPT}, body)
