"""The database: SQLite with a write-ahead log, whose writers wait for each other."""

import contextlib
import pathlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

_BUSY_MS = 5000


def open_database(path: pathlib.Path) -> Engine:
    """The engine of the file, which is created if it does not exist."""
    engine = create_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        cursor = connection.cursor()
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={_BUSY_MS}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # IMMEDIATE: a transaction that reads first could otherwise not become a writer while another one writes
        is_writer = connection.get_execution_options().get("is_writer", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")

    return engine


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads, and sees one state of the database."""
    with engine.connect() as connection, connection.begin():
        yield connection


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes; it is committed at the end of the block, and rolled back if that raises."""
    with engine.connect().execution_options(is_writer=True) as connection, connection.begin():
        yield connection
