"""Verifying models: what is asked of their process, and what is compared, kept and shown."""

import json

import pytest

from cvzoo.studio.problems import Problem


class Process:
    """Answers for a model's process. which: the models that were asked"""

    def __init__(self):
        self.which, self.sha256, self.problems, self.refusal = [], ["a" * 64], [], None

    def ask(self, which, tree, payload=b""):
        assert tree == {"op": "verify"}
        self.which.append(which)
        if self.refusal is not None:
            raise self.refusal
        return {"sha256": self.sha256, "problems": self.problems}, b""


@pytest.fixture
def process(studio, monkeypatch):
    found = Process()
    monkeypatch.setattr(studio.inference, "ask", found.ask)
    monkeypatch.setattr(studio.models.zoo, "members", list)
    return found


@pytest.fixture
def mine(studio, browser):
    """An uploaded model."""
    user = browser.get("/api/v1/me").json()["id"]
    upload = studio.data.uploads.create("mine.safetensors", 7, user)
    studio.place.upload(upload.id).write_bytes(b"weights")
    return studio.models.register.add("mine", upload.id, user)


def verify(browser, model):
    answer = browser.post(f"/api/v1/models/{model}:verify")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_card_says_when_a_model_was_sound_and_each_time_it_is_loaded_anew(browser, studio, process, run_id, clock):
    assert "Not verified yet." in browser.get(f"/models/{run_id}").text
    assert verify(browser, run_id)["is_sound"]
    clock.now += 1000
    assert browser.post(f"/models/{run_id}/verify").status_code == 303
    assert process.which[0] != process.which[1]
    card = browser.get(f"/api/v1/models/{run_id}").json()["verified"]
    assert (card["at"], card["problems"], card["sha256"]) == (clock.now, [], ["a" * 64])
    assert "sound" in browser.get(f"/models/{run_id}").text
    assert [each["object"] for each in browser.get("/api/v1/audit?action=model.v").json()["items"]] == [run_id] * 2


def test_a_file_that_changed_without_its_time_is_faulty(browser, process, run_id):
    verify(browser, run_id)
    process.sha256 = ["b" * 64]
    for _ in range(2):
        found = verify(browser, run_id)["problems"]
        assert found == [f"the file has the SHA-256 {'b' * 64}, and {'a' * 64} when it was verified first"]
    assert "faulty" in browser.get(f"/models/{run_id}").text


def test_a_file_that_was_written_again_is_told_until_it_is_verified(browser, process, run_id, watched):
    verify(browser, run_id)
    (watched / "first" / "best.safetensors").write_bytes(b"more weights")
    assert "the file has changed since" in browser.get(f"/models/{run_id}").text
    process.sha256 = ["b" * 64]
    assert verify(browser, run_id)["is_sound"]


def test_an_uploaded_model_has_the_hash_of_its_upload(browser, process, mine):
    process.sha256 = [mine.sha256]
    assert verify(browser, mine.id)["is_sound"]
    process.sha256 = ["b" * 64]
    assert verify(browser, mine.id)["problems"][0].endswith(f"and {mine.sha256} when it was uploaded")


def test_what_does_not_load_is_faulty_and_what_must_wait_is_not(browser, process, run_id):
    process.refusal = Problem(422, "the file is damaged")
    assert verify(browser, run_id)["problems"] == ["the file is damaged"]
    for status in (429, 503):  # too many wait; the process is ended with the server
        process.refusal = Problem(status, "not now")
        assert browser.post(f"/api/v1/models/{run_id}:verify").status_code == status
    assert browser.get(f"/api/v1/models/{run_id}").json()["verified"]["problems"] == ["the file is damaged"]


@pytest.mark.parametrize("text", ["", "[]", "{", json.dumps({"x": 3}), json.dumps({"x": {"at": "y"}})])
def test_a_malformed_file_of_verifications_is_none(studio, text):
    (studio.place.home / "verified.json").write_text(text)
    assert studio.verifications.get("x") is None
