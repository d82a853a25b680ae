"""A job's page: its output is searched, a snapshot is kept, its files are had as one, by the keyboard alone."""

import pytest
from sqlalchemy import update

from cvzoo.studio.database.engine import open_database, writing
from cvzoo.studio.database.tables import JOB
from cvzoo.studio.jobs.job import Jobs
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.place import Place

pytestmark = pytest.mark.slow


@pytest.fixture
def job(server, page, write_run, tmp_path):
    """The identifier of a stopped training of two attempts, with a long output."""
    place = Place(server.home)
    engine = open_database(place.database)
    job = Jobs(engine, place, lambda: 0).create("mine", TrainSpec("ssd300", "voc:shapes"), None, is_draft=True).id
    run = place.run(job)
    for path in write_run(tmp_path / "trained").iterdir():
        path.rename(run / path.name)
    for number in (1, 2):
        (run / "attempts" / str(number)).mkdir(parents=True)
        lines = [f"attempt {number}, line {i}{': a WARNING' if i % 400 == 399 else ''}" for i in range(2000)]
        (run / "attempts" / str(number) / "log.txt").write_text("\n".join(lines))
    with writing(engine) as connection:
        connection.execute(update(JOB).where(JOB.c.id == job).values(state="stopped", attempt=2))
    engine.dispose()
    return job


def search(page):
    page.fill("#log-find", "warning")
    page.keyboard.press("Enter")
    page.locator("#log-said", has_text="5 lines").wait_for()
    page.locator("#log-found button").nth(1).focus()
    page.keyboard.press("Enter")
    page.locator("#log-around mark", has_text="line 799: a WARNING").wait_for()


def test_the_output_is_searched_and_a_snapshot_kept(page, pages, job, server):
    page.goto(f"{server.address}/jobs/{job}")
    search(page)
    around = page.locator("#log-around")
    assert "line 798\nattempt 2, line 799: a WARNING\nattempt 2, line 800\n" in around.inner_text()
    mark, box = page.locator("#log-around mark").bounding_box(), around.bounding_box()
    assert box["y"] <= mark["y"] < box["y"] + box["height"]
    page.select_option("#log-attempt", "1")
    search(page)
    assert "attempt 1, line 799" in around.inner_text()
    page.fill("#log-find", "nowhere")
    page.keyboard.press("Enter")
    page.locator("#log-said", has_text="No line has “nowhere”.").wait_for()
    page.get_by_role("button", name="Keep the snapshot of iteration 8").press("Enter")
    page.get_by_role("button", name="Keep no longer the snapshot of iteration 8").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="as one tar file").press("Enter")
    assert download.value.suggested_filename == f"{job}.tar"
    pages.look(f"/jobs/{job}", act=search)
