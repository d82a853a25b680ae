"""Who has which cookie or token, as long as the database has not changed since it was asked."""

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine

from cvzoo.studio.access.identity import Identity, Via
from cvzoo.studio.access.secret import digest_of
from cvzoo.studio.access.sessions import session_identity
from cvzoo.studio.access.tokens import token_identity
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.changes import Changes

_MAX_KNOWN = 10_000
_FIND = {"session": session_identity, "token": token_identity}


class Identities:
    """Who makes requests. engine, clock: of the studio

    A browser sends a hundred requests for a page of images: the database is asked for the first one, and again after
    any change of it, such as the end of a session, the disabling of a user, or another role.
    """

    def __init__(self, engine: Engine, clock: Clock):
        self._engine, self._clock = engine, clock
        self._changes = Changes(engine)
        self._known: dict[tuple[Via, bytes], tuple[tuple[int, int], Identity]] = {}

    async def of(self, via: Via, secret: str) -> Identity | None:
        """Who has the session's cookie or the token; None if it is unknown, expired or revoked."""
        key: tuple[Via, bytes] = (via, digest_of(secret))
        change = self._changes.number()  # before the database is asked
        known = self._known.get(key)
        if known is not None and known[0] == change and self._clock() < known[1].until:
            return known[1]
        found = await run_in_threadpool(_FIND[via], self._engine, secret, self._clock)
        if found is not None and change is not None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = change, found
        return found
