"""The number of changes of a database."""

import sqlite3

from sqlalchemy import insert, select

from cvzoo.studio.database.changes import Changes
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import SETTING


def add(engine, name):
    with writing(engine) as connection:
        connection.execute(insert(SETTING).values(name=name, value="1"))


def test_each_commit_has_another_number_and_reading_has_none(studio):
    changes = Changes(studio.engine)
    before = changes.number()
    assert before is not None
    with reading(studio.engine) as connection:
        connection.execute(select(SETTING)).all()
    assert changes.number() == before
    add(studio.engine, "a")
    after = changes.number()
    assert after != before
    add(studio.engine, "b")
    assert changes.number() not in (before, after)


def test_a_commit_of_another_process_counts_and_one_that_was_rolled_back_does_not(studio):
    changes, other = Changes(studio.engine), sqlite3.connect(studio.place.database)
    before = changes.number()
    other.execute("INSERT INTO setting VALUES ('a', '1')")
    other.rollback()
    assert changes.number() == before
    other.execute("INSERT INTO setting VALUES ('a', '1')")
    assert changes.number() == before  # nobody else sees it yet
    other.commit()
    assert changes.number() != before
    other.close()


def test_a_number_of_before_the_engine_was_closed_is_not_given_again(studio):
    changes = Changes(studio.engine)
    before = changes.number()
    studio.engine.dispose()
    assert changes.number() not in (before, None)


def test_a_database_that_cannot_be_opened_has_no_number(studio, tmp_path):
    from cvzoo.studio.database.engine import open_database

    assert Changes(open_database(tmp_path / "missing" / "studio.db")).number() is None


def test_nothing_waits_for_a_writer(studio):
    changes = Changes(studio.engine)
    with writing(studio.engine) as connection:
        connection.execute(insert(SETTING).values(name="a", value="1"))
        assert changes.number() is not None
