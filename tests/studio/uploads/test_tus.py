"""Uploads by tus, whole, cut, wrong and killed."""

import asyncio
import base64
import hashlib

import pytest

from cvzoo.studio.problems import Problem

TYPE = {"content-type": "application/offset+octet-stream", "tus-resumable": "1.0.0"}
BYTES = bytes(range(256)) * 8


def create(client, size=2048, name="images.tar"):
    text = base64.b64encode(name.encode()).decode()
    return client.post("/api/v1/uploads", headers={"upload-length": str(size), "upload-metadata": f"filename {text}"})


def send(client, address, offset, data, **more):
    return client.patch(address, content=data, headers=TYPE | {"upload-offset": str(offset)} | more)


@pytest.fixture
def address(browser):
    answer = create(browser)
    assert answer.status_code == 201
    return answer.headers["location"]


def test_an_upload_is_sent_in_parts(browser, studio, address):
    digest = base64.b64encode(hashlib.sha256(BYTES[:1000]).digest()).decode()
    answer = send(browser, address, 0, BYTES[:1000], **{"upload-checksum": f"sha256 {digest}"})
    assert (answer.status_code, answer.headers["upload-offset"]) == (204, "1000")
    head = browser.head(address)
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("1000", str(len(BYTES)))
    assert send(browser, address, 1000, BYTES[1000:]).status_code == 204
    assert studio.place.upload(address.rpartition("/")[2]).read_bytes() == BYTES


def test_what_does_not_fit_changes_nothing(browser, address):
    wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
    assert send(browser, address, 0, BYTES, **{"upload-checksum": f"sha256 {wrong}"}).status_code == 460
    assert send(browser, address, 5, BYTES).status_code == 409
    assert send(browser, address, 0, BYTES + b"x").status_code == 413
    assert send(browser, address, 0, BYTES, **{"upload-checksum": "md5 x"}).status_code == 400
    assert browser.patch(address, content=BYTES, headers={"upload-offset": "0"}).status_code == 415
    assert browser.head(address).headers["upload-offset"] == "0"


def test_a_request_that_looked_the_upload_up_before_another_added_bytes_removes_none(browser, studio, address):
    async def body():
        yield BYTES[:10]

    upload = studio.data.uploads.get(address.rpartition("/")[2])
    assert send(browser, address, 0, BYTES).status_code == 204
    with pytest.raises(Problem) as caught:
        asyncio.run(studio.data.uploads.append(upload, 0, body(), None))
    assert caught.value.status_code == 409
    assert studio.place.upload(upload.id).read_bytes() == BYTES


def test_bytes_of_a_request_that_was_killed_are_written_again(browser, studio, address):
    path = studio.place.upload(address.rpartition("/")[2])
    send(browser, address, 0, BYTES[:100])
    path.write_bytes(BYTES[:100] + b"half of a request" * 50)
    studio.data.clean()
    assert browser.head(address).headers["upload-offset"] == "100"
    assert send(browser, address, 100, BYTES[100:]).status_code == 204
    assert path.read_bytes() == BYTES


def test_limits_are_told_at_the_beginning(browser, studio, monkeypatch):
    from cvzoo.studio.uploads import upload

    assert create(browser, 1 << 50).status_code == 413
    monkeypatch.setattr(upload, "room", lambda folder: 1000)
    assert create(browser, 1001).status_code == 507
    monkeypatch.setattr(upload, "MAX_OPEN", 0)
    answer = create(browser, 10)
    assert answer.status_code == 429
    assert answer.json()["try"] == "import or delete some"


def test_an_upload_is_deleted_and_expires(browser, studio, clock, address):
    assert browser.delete(address).status_code == 204
    assert browser.head(address).status_code == 404
    late = create(browser).headers["location"]
    clock.now += 8 * 24 * 3600 * 1000
    studio.data.clean()
    assert studio.data.uploads.get(late.rpartition("/")[2]) is None
    assert list(studio.place.uploads.iterdir()) == []


def test_a_data_set_is_made_of_a_whole_upload_only(browser, address):
    body = {"name": "late", "source": {"uploads": [address.rpartition("/")[2]]}}
    answer = browser.post("/api/v1/datasets", json=body)
    assert answer.status_code == 409
    assert "images.tar is not whole yet" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "/", "a/b\\c.zip", "\x00\x01", "x" * 4000, ""])
def test_the_name_of_an_upload_is_no_path(browser, studio, name):
    known = studio.data.uploads.get(create(browser, 5, name[:900]).headers["location"].rpartition("/")[2])
    assert known.name
    assert not set(known.name) & set("/\\\x00")
    assert known.name not in (".", "..")
    assert len(known.name) <= 130


def test_only_writers_upload(stranger, address, studio):
    from cvzoo.studio.access.tokens import new_token

    reader = {"authorization": f"Bearer {new_token(studio.engine, 'reader', 'read', 1, studio.clock)}"}
    assert stranger.head(address, headers=reader).status_code == 200
    assert stranger.post("/api/v1/uploads", headers=reader | {"upload-length": "5"}).status_code == 403
    assert send(stranger, address, 0, BYTES, **reader).status_code == 403
    assert stranger.delete(address, headers=reader).status_code == 403
