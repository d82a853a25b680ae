"""Migrations: a newer program changes the schema at its start, after a copy of the file; an older one refuses."""

import pathlib
import sqlite3
from contextlib import closing

from sqlalchemy import Engine, text

from cvzoo.errors.exceptions import ConfigError, FileFormatError
from cvzoo.studio.database.engine import open_database, writing
from cvzoo.studio.database.tables import METADATA
from cvzoo.studio.place import Place

HEAD = "0029"  # the newest revision in migrations/versions
_FOLDER = pathlib.Path(__file__).with_name("migrations")


def ready_database(place: Place) -> Engine:
    """The database with the newest schema.

    Raises FileFormatError if the file is damaged, or was made by a newer version of cvzoo.
    """
    engine = open_database(place.database)
    now = current_revision(engine, place.database)
    if now == HEAD:
        return engine
    if now is not None and now > HEAD:
        raise FileFormatError(
            f"{place.database} was made by a newer version of cvzoo",
            expected=f"schema {HEAD} or older",
            got=now,
            hint="pip install --upgrade cvzoo",
        )
    if now is None:
        _create(engine)
    else:
        copy_database(place.database, place.backups / f"before-{HEAD}-from-{now}.db")
        _upgrade(engine)
    return engine


def present_database(place: Place) -> Engine:
    """The database of a studio, which is neither made nor migrated.

    Raises ConfigError if there is none, or its schema is another one, FileFormatError if the file is damaged.
    """
    if not place.database.is_file():
        raise ConfigError(f"no server has run in {place.home}", hint="--home DIR, the studio's own folder")
    engine = open_database(place.database)
    now = current_revision(engine, place.database)
    if now != HEAD:
        engine.dispose()
        raise ConfigError(f"the database has schema {now}, and this version {HEAD}", hint="cvzoo studio migrate")
    return engine


def schema_of(place: Place) -> str | None:
    """The schema of a studio's database, which is not changed. Raises FileFormatError if it is damaged."""
    engine = open_database(place.database)
    try:
        return current_revision(engine, place.database)
    finally:
        engine.dispose()


def current_revision(engine: Engine, path: pathlib.Path) -> str | None:
    """The revision of the schema, None of an empty file. Raises FileFormatError if it is damaged."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        sound = str(error)
    if sound != "ok":
        raise FileFormatError(
            f"{path} is damaged: {sound}",
            hint="move it away, then cvzoo studio restore BACKUP, or copy the newest backups/hourly-*.db in its place, "
            "or cvzoo studio reindex: runs are not in it",
        )
    with engine.connect() as connection:
        if not connection.execute(text("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'")).first():
            return None
        row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return None if row is None else str(row[0])


def copy_database(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copies a database that may be in use, and checks nothing."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def _create(engine: Engine) -> None:
    """Makes the newest schema in an empty file, the same as by all migrations: Alembic takes 0.5 s and 14 MB."""
    with writing(engine) as connection:
        METADATA.create_all(connection)
        columns = "version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)"
        connection.execute(text(f"CREATE TABLE alembic_version ({columns})"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})


def _upgrade(engine: Engine) -> None:
    # imported here: it takes 0.2 s, and is needed only if the schema is behind
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    with engine.connect().execution_options(is_writer=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
