"""Databases of older, newer and damaged kinds."""

import pathlib

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.studio.database import migrate
from cvzoo.studio.database.engine import open_database, writing
from cvzoo.studio.database.migrate import HEAD, ready_database
from cvzoo.studio.database.tables import METADATA


def test_the_migrations_make_the_schema_of_the_tables(tmp_path):
    engine = open_database(tmp_path / "migrated.db")
    migrate._upgrade(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def schema_of(engine):
    """What SQLite knows of each table, whose columns migrations may have added in another order."""
    with engine.connect() as connection:
        names = connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars().all()

        def rows(pragma, name):
            return sorted(map(str, (row[1:] for row in connection.execute(text(f"PRAGMA {pragma}('{name}')")))))

        parts = ("table_info", "foreign_key_list", "index_list")
        found = {name: [rows(part, name) for part in parts] for name in names}
        indexes = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type != 'table'")).all()
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    return found, sorted(map(str, indexes)), version


def test_a_new_database_is_the_same_as_one_that_was_migrated(studio, tmp_path):
    engine = open_database(tmp_path / "migrated.db")
    migrate._upgrade(engine)
    assert schema_of(studio.engine) == schema_of(engine)
    assert schema_of(engine)[2] == [HEAD]
    engine.dispose()


def test_a_second_start_changes_nothing(studio):
    before = studio.place.database.read_bytes()
    ready_database(studio.place).dispose()
    assert studio.place.database.read_bytes() == before
    assert list(studio.place.backups.iterdir()) == []


def test_jobs_of_an_older_database_keep_the_order_in_which_they_were_queued(studio, clock):
    from alembic import command
    from alembic.config import Config

    from cvzoo.studio.jobs.job import Jobs
    from cvzoo.studio.jobs.spec import TrainSpec

    for i, later in enumerate((3, 1, 2, 1)):
        clock.now = 1_800_000_000_000 + later
        studio.jobs.create(str(i), TrainSpec("ssd300", "voc:shapes"), None)
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(migrate.__file__).with_name("migrations")))
    with writing(studio.engine) as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0004")
    studio.engine.dispose()
    engine = ready_database(studio.place)
    jobs = Jobs(engine, studio.place, clock).queued()
    engine.dispose()
    assert [job.queued_at % 10 for job in jobs] == [1, 1, 2, 3]
    assert [job.place for job in jobs] == [1, 2, 3, 4]
    assert list(studio.place.backups.iterdir()) == [studio.place.backups / f"before-{HEAD}-from-0004.db"]


def test_a_database_of_a_newer_version_is_refused(studio):
    with writing(studio.engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(FileFormatError, match="newer version"):
        ready_database(studio.place)


def test_a_damaged_database_is_refused(studio):
    studio.engine.dispose()
    studio.place.database.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    with pytest.raises(FileFormatError, match="damaged"):
        ready_database(studio.place)


def test_what_raises_in_a_transaction_is_rolled_back(studio):
    with pytest.raises(ZeroDivisionError), writing(studio.engine) as connection:  # noqa: PT012
        connection.execute(text("INSERT INTO audit (at, address, action, object, detail) VALUES (1, '', '', '', '')"))
        raise ZeroDivisionError
    with studio.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM audit")).scalar() == 0


def test_the_database_is_durable_and_keeps_its_references(studio):
    engine = open_database(studio.place.database)
    with engine.connect() as connection:
        values = [
            connection.execute(text(f"PRAGMA {each}")).scalar()
            for each in ("journal_mode", "synchronous", "foreign_keys")
        ]
    engine.dispose()
    assert values == ["wal", 2, 1]
