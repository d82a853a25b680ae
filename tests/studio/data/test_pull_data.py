"""A version is copied from a studio whole, with the bytes that it has there, or not at all."""

import fcntl
import io
import os

import pytest
from sqlalchemy import update

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError, FileError
from cvzoo.studio.client.pull_data import found_version, pull_data
from cvzoo.studio.client.server import Server
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import VERSION


class Local(Server):
    """The application, asked without a network; `lost`: the number of the file whose bytes are cut."""

    def __init__(self, browser):
        super().__init__("http://127.0.0.1:8700", "cvz_x")
        self.browser, self.asked, self.lost = browser, [], None

    def _answer(self, request):
        path = request.full_url.removeprefix(self.address)
        self.asked.append(path)
        answer = self.browser.get(path)
        if answer.status_code >= 400:
            raise ConfigError(answer.json()["detail"])
        data = answer.content
        if "/files/" in path and self.lost is not None:
            self.lost -= 1
            if self.lost < 0:
                raise ConnectionError("cut") if self.lost < -1 else ConfigError("the server is gone")
            data = data[: len(data) if self.lost else len(data) // 2]
        return io.BytesIO(data)


@pytest.fixture
def version(browser, studio, work, dataset):
    answer = browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"})
    work(studio)
    return answer.json()["id"]


@pytest.fixture
def server(browser, monkeypatch):
    from cvzoo.studio.client import pull_data as module

    monkeypatch.setattr(module, "_N_CONNECTION", 1)  # the test's client is one
    return Local(browser)


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_version_is_copied_and_can_be_trained_on(studio, server, version, tmp_path, monkeypatch, capsys):
    from cvzoo.datasets.bbox_splits import bbox_splits

    monkeypatch.setattr("cvzoo.studio.client.server.named_server", lambda home: server)
    target = tmp_path / "copy"
    assert main(["studio", "pull-data", "shapes/first", str(target)]) == 0
    data = capsys.readouterr().out.strip()
    assert data == f"coco:{target}"
    assert files(target) == files(studio.place.version(version))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert len(bbox_splits(data).train) == 8
    assert main(["studio", "pull-data", version, str(target)]) == 2
    assert "is no empty folder" in capsys.readouterr().err


def test_an_interrupted_copy_has_no_name_and_is_continued(studio, server, version, tmp_path):
    target = tmp_path / "copy"
    server.lost = 5  # the fifth file is cut in the middle
    with pytest.raises(FileError, match="other bytes than the studio says"):
        pull_data(server, version, target)
    assert not target.exists()
    server.lost, server.asked = None, []
    (tmp_path / ".copy.part" / "of another version").write_text("x")
    pull_data(server, version, target)
    assert files(target) == files(studio.place.version(version))
    n = sum("/files/" in path for path in server.asked)
    assert n == len(files(target)) - 4


def test_two_copies_into_one_folder_do_not_mix(server, version, tmp_path):
    (tmp_path / ".copy.part").mkdir()
    descriptor = os.open(tmp_path / ".copy.part", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(ConfigError, match="another process writes"):
        pull_data(server, version, tmp_path / "copy")
    os.close(descriptor)


def test_a_damaged_file_is_not_copied(studio, server, version, tmp_path):
    path = next(studio.place.version(version).rglob("*.json"))
    path.write_text("{}")
    with pytest.raises(FileError, match="other bytes than the studio says"):
        pull_data(server, version, tmp_path / "copy")


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", "a\\b"])
def test_a_server_cannot_write_elsewhere(server, version, tmp_path, monkeypatch, name):
    listed = {"kind": "coco", "items": [{"name": name, "size": 1, "sha256": "0" * 64}]}
    monkeypatch.setattr(server, "get", lambda path, query=None: listed)
    with pytest.raises(ConfigError, match="outside of the folder"):
        pull_data(server, version, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_versions_are_found_by_names_that_are_theirs_alone(studio, server, browser, dataset, version, work):
    assert found_version(server, "shapes/first") == version
    with pytest.raises(ConfigError, match="there is no version shapes/second"):
        found_version(server, "shapes/second")
    browser.patch(f"/api/v1/datasets/{dataset}/images", json={"ordinals": [0], "delete": True})
    work(studio)
    browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "second"})
    work(studio)
    with writing(studio.engine) as connection:  # as earlier studios allowed
        connection.execute(update(VERSION).values(name="first"))
    with pytest.raises(ConfigError, match="several versions"):
        found_version(server, "shapes/first")


@pytest.mark.parametrize("name", ["../../studio.db", "%2e%2e/%2e%2e/studio.db", "annotations", "no.png"])
def test_only_files_of_the_version_are_served(browser, version, name):
    assert browser.get(f"/api/v1/versions/{version}/files/{name}").status_code == 404


def test_a_version_without_a_list_is_listed_when_it_is_asked_for(studio, server, version, tmp_path):
    studio.place.version_files(version).unlink()
    pull_data(server, version, tmp_path / "copy")
    assert files(tmp_path / "copy") == files(studio.place.version(version))
