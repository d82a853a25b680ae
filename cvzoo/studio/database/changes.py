"""Whether the database has changed, so that what was read of it needs not be read again."""

import sqlite3

from sqlalchemy import Engine, event


class Changes:
    """Counts the changes of a database by all connections and processes; of one thread. engine: of the database"""

    def __init__(self, engine: Engine):
        self._path = str(engine.url.database)
        self._connection: sqlite3.Connection | None = None
        self._n_open = 0
        event.listen(engine, "engine_disposed", self._close)

    def number(self) -> tuple[int, int] | None:
        """Another one after each transaction that was committed; None if the database does not tell.

        It takes microseconds and waits for nothing, as only the head of the log is looked at.
        """
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(self._path, timeout=0, check_same_thread=False)
                self._n_open += 1
            # changes by the own connection would not be counted: it makes none
            return self._n_open, self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            return None

    def _close(self, _: Engine) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
