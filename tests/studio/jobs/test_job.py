"""Jobs in the database."""

import pytest

from cvzoo.studio.jobs.spec import TrainSpec

SPEC = TrainSpec("ssd300", "voc:shapes")
BAD = [
    {"spec": "{"},
    {"spec": "[]"},
    {"spec": "null"},
    {"spec": '{"kind": "of a newer version"}'},
    {"state": "flying"},
    {"iteration": "many"},
]


@pytest.fixture
def bad(studio, request):
    """The identifier of a job whose row has been damaged, in a queue with another one."""
    from sqlalchemy import update

    from cvzoo.studio.database.engine import writing
    from cvzoo.studio.database.tables import JOB

    job = studio.jobs.create("bad", SPEC, None).id
    with writing(studio.engine) as connection:
        connection.execute(update(JOB).where(JOB.c.id == job).values(**request.param))
    return job


@pytest.mark.parametrize("bad", BAD, indirect=True, ids=str)
def test_a_row_that_cannot_be_read_spoils_no_list(studio, browser, bad):
    good = studio.jobs.create("good", SPEC, None)
    assert studio.jobs.all() == studio.jobs.queued() == [good]
    assert studio.jobs.living() == []
    assert [each["name"] for each in browser.get("/api/v1/jobs").json()["items"]].count("good") == 1
    assert {browser.get(path).status_code for path in ("/", "/jobs", "/models", "/evaluations", "/try")} == {200}
    assert studio.jobs.get(bad) is None
    assert browser.get(f"/jobs/{bad}").status_code == 404


@pytest.mark.parametrize("bad", BAD[:1], indirect=True, ids=str)
def test_a_row_that_cannot_be_read_is_not_replaced_by_the_index(studio, bad):
    assert studio.jobs.reindex() == 0
