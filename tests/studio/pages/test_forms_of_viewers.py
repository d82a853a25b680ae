"""Who may not start what a form starts is told so, and gets no button that would be refused."""

import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.users import add_user

RECIPE = {"name": "ssd300", "task": "detection", "summary": "SSD", "fields": []}
IMPORTED = "they are imported by annotators."
STARTED = "trainings are started by trainers."


@pytest.fixture
def seen_by(studio, stranger, monkeypatch):
    """`seen_by(role)`: what a user with the role gets: the page of an address."""
    from cvzoo.studio.pages import new_training

    monkeypatch.setattr(new_training, "recipes", lambda: {"ssd300": RECIPE})

    def seen_by(role):
        new_ticket(studio.engine, studio.clock)  # makes the first user
        user = add_user(studio.engine, "somebody", role, studio.clock).id
        stranger.headers["sec-fetch-site"] = "same-origin"
        assert stranger.post("/open", data={"ticket": new_ticket(studio.engine, studio.clock, user)}).status_code == 303
        return lambda path: stranger.get(path, headers={"accept": "text/html"}).text.partition("<main")[2]

    return seen_by


def test_a_viewer_is_told_who_imports(seen_by):
    page = seen_by("viewer")
    for button in ("Import the folder", "Make a sample data set", "Choose files"):
        assert button not in page("/data/new")
    assert IMPORTED in page("/data/new")
    assert "import.js" not in page("/data/new")
    assert 'href="/data/new"' not in page("/data")
    assert "Make a sample data set" not in page("/")


def test_an_annotator_imports(seen_by):
    page = seen_by("annotator")
    assert "Import the folder" in page("/data/new")
    assert IMPORTED not in page("/data/new")


@pytest.mark.parametrize("role", ["viewer", "annotator"])
def test_settings_of_a_training_are_shown_without_buttons_to_who_starts_none(seen_by, role):
    page = seen_by(role)("/jobs/new?recipe=ssd300")
    assert STARTED in page
    assert 'name="data"' in page
    for button in (">Train<", ">Preview<", ">Try 20 iterations<", ">Save as a draft<"):
        assert button not in page
    assert 'id="wait"' not in page


def test_a_trainer_starts_trainings(seen_by):
    page = seen_by("trainer")("/jobs/new?recipe=ssd300")
    assert STARTED not in page
    assert ">Try 20 iterations<" in page
