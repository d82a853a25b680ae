"""A server that is killed at random moments loses no part of an upload, no edit and no work."""

import base64
import contextlib
import hashlib
import http.client
import io
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow
N_KILL = 36
_WAIT_S = 400


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Killed:
    """A server that a thread kills and starts again, until it was killed often enough."""

    def __init__(self, home):
        self.home, self.port, self.n = home, free_port(), 0
        self.process = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        choice = random.Random(1)
        while not self.ended.is_set():
            words = ["studio", "--home", str(self.home), "--no-browser", "--listen", f"127.0.0.1:{self.port}"]
            self.process = subprocess.Popen(
                [sys.executable, "-c", "import sys; from cvzoo.cli.main import main; sys.exit(main())", *words],
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parents[3])},
            )
            self.process.stdout.readline()
            if self.n < N_KILL:
                self.ended.wait(choice.uniform(0.05, 2.5))
                self.n += 1
            else:
                self.ended.wait()
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()


class Client:
    """A program that asks again until it is answered."""

    def __init__(self, port, token):
        self.base, self.token = f"http://127.0.0.1:{port}", token

    def ask(self, method, path, body=None, **headers):
        """(status, headers, JSON or None)."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        headers = {key.replace("_", "-"): value for key, value in headers.items()}
        headers |= {"authorization": f"Bearer {self.token}"}
        if isinstance(body, dict):
            headers["content-type"] = "application/json"
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end:
            request = urllib.request.Request(self.base + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    text = answer.read()
                    return answer.status, answer.headers, json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                if error.code == 429:
                    time.sleep(int(error.headers["retry-after"]))
                elif error.code != 503:
                    with error:
                        text = error.read()
                    return error.code, error.headers, json.loads(text) if text else None
            except (OSError, ValueError, http.client.HTTPException):  # cut in the middle of an answer
                time.sleep(0.05)
        raise AssertionError(f"{method} {path} was not answered")

    def until(self, path, is_done):
        """The tree at the path when it is done."""
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end:
            _, _, tree = self.ask("GET", path)
            if is_done(tree):
                return tree
            time.sleep(0.1)
        raise AssertionError(tree)

    def upload(self, data, chunk):
        """The identifier of an upload of the bytes, which is asked after each part how far it is."""
        text = base64.b64encode(b"images.tar").decode()
        more = {"upload_length": str(len(data)), "upload_metadata": f"filename {text}"}
        _, headers, _ = self.ask("POST", "/api/v1/uploads", b"", **more)
        path, offset = headers["location"], 0
        while offset < len(data):
            part = data[offset : offset + chunk]
            digest = base64.b64encode(hashlib.sha256(part).digest()).decode()
            more = {"upload_offset": str(offset), "upload_checksum": f"sha256 {digest}"}
            status, headers, _ = self.ask("PATCH", path, part, content_type="application/offset+octet-stream", **more)
            if status == 204:
                assert int(headers["upload-offset"]) == offset + len(part)
            known = int(self.ask("HEAD", path)[1]["upload-offset"])
            assert known >= offset + len(part)  # what was accepted is there
            offset = known
        return path.rpartition("/")[2]


@pytest.fixture
def killed(tmp_path):
    from cvzoo.studio.access.tickets import new_ticket
    from cvzoo.studio.access.tokens import new_token
    from cvzoo.studio.clock import now_ms
    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.place import Place

    place = Place(tmp_path / "served")
    place.make()
    engine = ready_database(place)
    new_ticket(engine, now_ms)  # makes the user
    token = new_token(engine, "test", "write", 1, now_ms)
    engine.dispose()
    server = Killed(place.home)
    server.thread.start()
    yield server, Client(server.port, token), place
    server.ended.set()
    server.thread.join()


def archive_of(n):
    rng = np.random.default_rng(0)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for i in range(n):
            file = io.BytesIO()
            Image.fromarray(rng.integers(0, 255, (120, 160, 3), np.uint8)).save(file, "PNG")
            info = tarfile.TarInfo(f"images/{i:02}.png")
            info.size = file.tell()
            archive.addfile(info, io.BytesIO(file.getvalue()))
    return buffer.getvalue()


def test_nothing_that_was_accepted_is_lost(killed):
    server, client, place = killed
    choice = random.Random(2)
    data = archive_of(40)
    upload = client.upload(data, 60_000)
    assert (place.uploads / upload).read_bytes() == data
    path = f"/api/v1/datasets/{_dataset(client, upload)}"
    tree = client.until(path, lambda tree: tree["state"] != "importing")
    assert (tree["state"], tree["n_image"]) == ("ready", 40)
    client.ask("PUT", f"{path}/classes", {"names": ["cat", "dog"]})
    client.ask("POST", f"{path}:split", {"percent": {"train": 80, "val": 20}})
    expected, n_edit = {}, 0
    while server.n < N_KILL or n_edit < 100:
        ordinal = choice.randrange(40)
        _, _, image = client.ask("GET", f"{path}/images/{ordinal}")
        assert image["labels"] == expected.get(ordinal, [])
        n_edit += 1
        box = [choice.randrange(50), choice.randrange(50), 60 + choice.randrange(50), 60.5]
        labels = [*image["labels"][-3:], {"id": f"object{n_edit}", "class": choice.choice(["cat", "dog"]), "box": box}]
        body = {"edit_id": f"edit-{n_edit:05}", "base": image["first_rev"], "objects": labels}
        status, _, answer = client.ask("PUT", f"{path}/images/{ordinal}/labels", body)
        assert status == 200, answer
        expected[ordinal] = labels
    first = client.ask("GET", path)[2]["head_rev"]
    kinds = [each["kind"] for each in _revisions(client, path)]
    assert kinds.count("edit") == n_edit  # each once
    for ordinal, labels in expected.items():
        assert client.ask("GET", f"{path}/images/{ordinal}")[2]["labels"] == labels
    _, _, version = client.ask("POST", f"{path}/versions", {"name": "last"})
    version = client.until(f"/api/v1/versions/{version['id']}", lambda tree: tree["state"] != "making")
    assert (version["state"], version["rev"]) == ("ready", first), version
    client.until(path, lambda tree: not tree["tasks"])
    assert server.n >= N_KILL
    assert list(place.tasks.iterdir()) == []
    end = time.monotonic() + 20
    while not (left := _processes_in(place.home)) <= {server.process.pid}:
        assert time.monotonic() < end, left  # a task that is done may still be ending, at a low priority
        time.sleep(0.1)


def _dataset(client, upload):
    status, _, tree = client.ask("POST", "/api/v1/datasets", {"name": "images", "source": {"uploads": [upload]}})
    if status == 202:
        return tree["id"]
    # the answer of the first request was lost, and its name is taken
    return client.ask("GET", "/api/v1/datasets")[2]["items"][0]["id"]


def _revisions(client, path):
    found, before = [], ""
    while True:
        _, _, page = client.ask("GET", f"{path}/revisions?limit=200{before}")
        found += page["items"]
        if page["next"] is None:
            return found
        before = f"&before={page['next']}"


def _processes_in(home):
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(home).encode() in path.read_bytes():
                found.add(int(path.parent.name))
    return found
