"""Aliases, notes, uploads and the lineage of models."""

import base64
import hashlib
import json
import pathlib

import numpy as np
import pytest

from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.access.users import add_user
from cvzoo.studio.backup import make_backup
from cvzoo.studio.place import Place
from cvzoo.studio.problems import Problem
from cvzoo.studio.restore import restore_backup
from cvzoo.weights.formats.safetensors import write_safetensors
from cvzoo.weights.model_header import ModelHeader


@pytest.fixture(autouse=True)
def asked(studio, monkeypatch):
    """The models that were loaded; no process is started."""
    found = []
    monkeypatch.setattr(studio.models.zoo, "members", list)
    monkeypatch.setattr(
        type(studio.inference), "ask", lambda self, which, tree, payload=b"": found.append(which) or ({}, b"")
    )
    return found


def model_file(path, **settings):
    header = ModelHeader(architecture="SSD", settings=settings, label_names=("cat", "dog"))
    write_safetensors(path, {"W": np.zeros(1, np.float32)}, metadata=header.to_metadata())
    return path.read_bytes()


def uploaded(browser, name, body, n=None):
    metadata = f"name {base64.b64encode(name.encode()).decode()}"
    tus = {"tus-resumable": "1.0.0"}
    answer = browser.post(
        "/api/v1/uploads", headers={**tus, "upload-length": str(len(body)), "upload-metadata": metadata}
    )
    address = answer.headers["location"]
    headers = {**tus, "upload-offset": "0", "content-type": "application/offset+octet-stream"}
    assert browser.patch(address, content=body[:n], headers=headers).status_code == 204
    return address.rpartition("/")[2]


@pytest.fixture
def mine(browser, tmp_path):
    """The key of an uploaded model."""
    upload = uploaded(browser, "mine.safetensors", model_file(tmp_path / "mine.safetensors"))
    answer = browser.post("/api/v1/models", json={"name": "mine", "upload": upload})
    assert answer.status_code == 201, answer.text
    return answer.json()["key"]


def test_a_file_becomes_a_model_after_it_was_loaded(browser, studio, mine, asked, tmp_path):
    (which,) = asked
    assert pathlib.Path(which.word) == studio.place.model(mine) / "model.safetensors"
    row = next(each for each in browser.get("/api/v1/models").json()["items"] if each["key"] == mine)
    assert (row["name"], row["origin"], row["is_loadable"]) == ("mine", "upload", True)
    file = browser.get(f"/api/v1/models/{mine}/file").content
    assert file == (tmp_path / "mine.safetensors").read_bytes()
    facts = dict(browser.get(f"/api/v1/models/{mine}").json()["card"]["facts"])
    assert facts["SHA-256"] == hashlib.sha256(file).hexdigest()
    assert list(studio.place.uploads.iterdir()) == []
    for page in ("/models", f"/models/{mine}", "/try", "/evaluations"):
        assert "mine" in browser.get(page).text, page


def test_what_is_no_model_is_refused_and_nothing_is_kept(browser, studio, tmp_path, monkeypatch):
    import pickle

    whole = model_file(tmp_path / "a.safetensors")
    bodies = {"pickle": pickle.dumps({"W": 1}), "text": b"hello", "cut": whole[:40], "empty": b"\0"}
    write_safetensors(tmp_path / "weights.safetensors", {"W": np.zeros(1, np.float32)})
    bodies["weights alone"] = (tmp_path / "weights.safetensors").read_bytes()
    for name, body in bodies.items():
        answer = browser.post("/api/v1/models", json={"name": "x", "upload": uploaded(browser, f"{name}.pth", body)})
        assert answer.status_code == 415, name
    part = uploaded(browser, "part.safetensors", whole, n=20)
    assert browser.post("/api/v1/models", json={"name": "x", "upload": part}).status_code == 409
    assert browser.post("/api/v1/models", json={"name": "x", "upload": "up_" + "a" * 16}).status_code == 404

    def refuse(self, *_):
        raise Problem(422, "the model does not load: W has another shape")

    monkeypatch.setattr(type(studio.inference), "ask", refuse)
    upload = uploaded(browser, "b.safetensors", whole)
    answer = browser.post("/api/v1/models", json={"name": "x", "upload": upload})
    assert "another shape" in answer.json()["detail"]
    assert studio.models.uploaded() == []
    assert list(studio.place.models.iterdir()) == []


def test_an_alias_names_a_model_everywhere(browser, mine, run_id, asked):
    assert browser.put(f"/api/v1/models/{mine}/aliases/production").json() == {"aliases": {"production": mine}}
    assert browser.get("/api/v1/models/@production").json()["key"] == mine
    asked.clear()
    answer = browser.post("/api/v1/predict?model=@production", content=b"image")
    assert (answer.status_code, len(asked)) == (200, 1)
    assert f'value="{mine}" selected' in browser.get("/try?model=@production").text
    assert browser.put(f"/api/v1/models/{run_id}/aliases/production").status_code == 200
    assert browser.get("/api/v1/models/@production").json()["key"] == run_id
    assert browser.delete(f"/api/v1/models/{mine}/aliases/production").status_code == 404
    assert browser.delete(f"/api/v1/models/{run_id}/aliases/production").status_code == 204
    assert browser.get("/api/v1/models/@production").status_code == 404
    for wrong in ("Ü", "a b", "-x", "x" * 41, "Prod"):
        assert browser.put(f"/api/v1/models/{mine}/aliases/{wrong}").status_code == 422, wrong


def test_the_forms_give_and_take_aliases_and_keep_notes(browser, mine):
    form = f"/models/{mine}/about"
    assert browser.post(form, data={"alias": "Best"}).status_code == 303
    assert browser.post(form, data={"notes": "good at night\r\n<i>"}).status_code == 303
    page = browser.get(f"/models/{mine}").text
    assert "@best" in page
    assert "good at night\n&lt;i&gt;" in page
    assert "small letters" in browser.post(form, data={"alias": "a b"}).text
    assert browser.post(form, data={"notes": "x" * 10_001}).status_code == 422
    assert browser.post(form, data={"removed": "best"}).status_code == 303
    assert browser.get(f"/api/v1/models/{mine}").json()["aliases"] == []
    assert browser.patch(f"/api/v1/models/{mine}", json={"notes": ""}).json() == {"notes": ""}


def test_of_two_tabs_that_edit_notes_of_a_model_the_second_sees_both_texts(browser, mine):
    form, address = f"/models/{mine}/about", f"/api/v1/models/{mine}"
    seen = browser.get(address).headers["etag"].strip('"')
    assert browser.post(form, data={"notes": "first", "seen": seen}).status_code == 303
    answer = browser.post(form, data={"notes": "second", "seen": seen})
    assert answer.status_code == 412
    assert ">second</textarea>" in answer.text
    assert '<dd class="notes">first</dd>' in answer.text
    answer = browser.patch(address, json={"notes": "third"}, headers={"if-match": f'"{seen}"'})
    assert (answer.status_code, answer.json()["current"]) == (412, {"notes": "first"})
    etag = browser.get(address).headers["etag"]
    assert browser.patch(address, json={"notes": "third"}, headers={"if-match": etag}).status_code == 200


def test_an_upload_of_another_user_is_not_taken(browser, studio, stranger, tmp_path):
    upload = uploaded(browser, "mine.safetensors", model_file(tmp_path / "mine.safetensors"))
    user = add_user(studio.engine, "tom", "trainer", studio.clock).id
    stranger.headers["sec-fetch-site"] = "same-origin"
    stranger.post("/open", data={"ticket": new_ticket(studio.engine, studio.clock, user)})
    assert stranger.post("/api/v1/models", json={"name": "x", "upload": upload}).status_code == 403


def test_uploaded_models_are_in_backups(browser, studio, mine, tmp_path, clock):
    browser.put(f"/api/v1/models/{mine}/aliases/production")
    make_backup(studio.place, tmp_path / "studio.tar", clock)
    place = Place(tmp_path / "restored")
    restore_backup(place, tmp_path / "studio.tar")
    assert (place.model(mine) / "model.safetensors").read_bytes() == (tmp_path / "mine.safetensors").read_bytes()


def test_files_that_are_not_registered_are_removed_at_the_start(studio, mine):
    (studio.place.models / ("md_" + "b" * 16)).mkdir()
    studio.models.register.clean()
    assert [each.name for each in studio.place.models.iterdir()] == [mine]


def test_the_lineage_leads_to_the_data_set_and_its_licence(browser, studio, run_id, watched):
    from cvzoo.studio.database.engine import writing
    from cvzoo.studio.database.tables import DATASET, VERSION

    dataset = studio.data.datasets.create("shapes", {"spec": "voc:shapes"}, None)
    studio.data.datasets.change(dataset.id, licence="CC BY 4.0")
    counts = {"n_image": 10, "n_object": 20, "classes": [], "splits": []}
    version = studio.data.versions.create(dataset, "first", counts, "us_x")
    with writing(studio.engine) as connection:
        connection.execute(DATASET.update().values(state="ready", task="boxes"))
        connection.execute(VERSION.update().values(state="ready", data="voc:shapes"))
    lineage = browser.get(f"/api/v1/models/{run_id}").json()["lineage"]
    assert [(each["what"], each["name"]) for each in lineage] == [
        ("trained by", "first"),
        ("on the version", "first"),
        ("of the data set", "shapes"),
    ]
    assert ["Images", "10 images, 20 objects"] in lineage[1]["facts"]
    assert lineage[2]["facts"] == [["Licence", "CC BY 4.0"]]
    page = browser.get(f"/models/{run_id}").text
    assert f'href="/versions/{version.id}"' in page
    assert json.dumps("CC BY 4.0")[1:-1] in page
    made = {"key": run_id, "name": "first", "origin": "run", "version": version.id}
    others = browser.get(f"/api/v1/datasets/{dataset.id}").json()["models"]
    assert made in others  # and forward
    assert browser.get(f"/api/v1/versions/{version.id}").json()["models"] == others
    for path in (f"/data/{dataset.id}", f"/versions/{version.id}"):
        assert f'href="/models/{run_id}"' in browser.get(path).text


def test_a_deleted_model_is_in_the_trash_with_its_alias(browser, studio, mine, run_id):
    browser.put(f"/api/v1/models/{mine}/aliases/production")
    assert browser.delete(f"/api/v1/models/{run_id}").status_code == 409
    assert browser.post(f"/models/{mine}/delete").headers["location"] == "/trash"
    for key in (mine, "@production"):
        assert browser.get(f"/api/v1/models/{key}").status_code == 404
    studio.models.register.clean()
    assert browser.post(f"/trash/{mine}", data={"action": "restore"}).headers["location"] == f"/models/{mine}"
    assert browser.get("/api/v1/models/@production").json()["key"] == mine
    assert browser.delete(f"/api/v1/models/{mine}").status_code == 204
    assert browser.delete(f"/api/v1/trash/{mine}").status_code == 204
    assert list(studio.place.models.iterdir()) == []
    assert studio.models.register.aliases() == {}
