import dataclasses
import errno
import fcntl
import hashlib
import http.server
import io
import itertools
import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from cvzoo.errors.exceptions import ConfigError, DownloadError
from cvzoo.files import file_hash, http_get, paced_http
from cvzoo.weights import download, transfer, unproven
from cvzoo.weights.cache import cached_path, is_cached
from cvzoo.weights.download import fetch_weights, pin_weights
from cvzoo.weights.record import Weights

BODY = bytes(range(256)) * 4096  # 1 MiB


def npz():
    file = io.BytesIO()
    np.savez(file, x=np.arange(1000))
    return file.getvalue()


NPZ = npz()


class Server(http.server.ThreadingHTTPServer):
    """Serves BODY on loopback; `plan` says how each request in turn misbehaves (the last one is repeated)."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan = ["good"]
        self.requests = []
        self.body = BODY
        self.etag = '"one"'
        self.url = f"http://127.0.0.1:{self.server_address[1]}/net.npz"

    def handle_error(self, request, client_address):
        pass  # a client that breaks off is part of the tests


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        deed = server.plan.pop(0) if len(server.plan) > 1 else server.plan[0]
        server.requests.append((self.path, self.headers.get("Range"), self.headers.get("If-Range"), deed))
        body, start = server.body, 0
        if deed in ("404", "503"):
            self.send_response(int(deed))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if deed.startswith("redirect"):
            self.send_response(302)
            self.send_header("Location", deed.removeprefix("redirect").strip() or "/elsewhere.npz")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        asked = self.headers.get("Range")
        if asked and deed != "no range" and self.headers.get("If-Range") == server.etag:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            shown = start + 1 if deed == "wrong range" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        if deed == "gzip":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("ETag", server.etag)
        if deed not in ("no length", "too long"):
            self.send_header("Content-Length", str(len(body) - start))
        self.send_header("Connection", "close")
        self.end_headers()
        payload = body[start:]
        if deed == "half":
            payload = payload[: len(payload) // 2]
        if deed == "too long":
            payload += b"more"
        self.wfile.write(payload)
        self.close_connection = True


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CVZOO_OFFLINE", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(transfer, "WAIT", 0.001)
    monkeypatch.setattr(http_get, "BACKOFF", 0.001)


def record_of(url, body=BODY, **changes):
    record = Weights(
        name="net",
        url=url,
        sha256=hashlib.sha256(body).hexdigest(),
        size=len(body),
        licence="MIT",
        data="none",
        data_licence="none",
        source="here",
    )
    return dataclasses.replace(record, **changes)


def left_behind(record):
    """Names in the cache folder, without the lock and the stamp."""
    folder = cached_path(record).parent
    return sorted(p.name for p in folder.iterdir() if p.suffix not in (".lock", ".stamp"))


def test_a_file_is_fetched_once_and_reports_its_progress(server):
    record, seen = record_of(server.url), []
    path = fetch_weights(record, progress=lambda done, total: seen.append((done, total)))
    assert path == cached_path(record)
    assert path.read_bytes() == BODY
    assert left_behind(record) == ["net.npz"]
    assert seen[0] == (0, len(BODY))
    assert seen[-1] == (len(BODY), len(BODY))
    assert seen == sorted(seen)
    assert fetch_weights(record) == path
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("plan", "ranges"),
    [
        (["half", "good"], [None, 524288]),  # goes on where it broke off
        (["half", "half", "good"], [None, 524288, 786432]),
        (["half", "no range", "good"], [None, 524288]),  # begins again in the same answer
        (["half", "wrong range", "good"], [None, 524288, None]),
        (["503", "good"], [None, None]),
        (["503", "503", "503", "good"], [None] * 4),
        (["redirect", "good"], [None, None]),
        (["no length"], [None]),
    ],
)
def test_trouble_on_the_way_is_mended(server, plan, ranges):
    server.plan = plan
    record = record_of(server.url)
    assert fetch_weights(record).read_bytes() == BODY
    assert [asked and int(asked[6:-1]) for _, asked, _, _ in server.requests] == ranges
    assert left_behind(record) == ["net.npz"]


def test_a_break_is_resumed_by_the_next_call(server):
    server.plan = ["half"]
    record = record_of(server.url)
    with pytest.raises(DownloadError, match="ended after"):
        fetch_weights(record)
    assert ".net.npz.part" in left_behind(record)
    before = len(server.requests)
    server.plan = ["good"]
    assert fetch_weights(record).read_bytes() == BODY
    assert server.requests[before][1] is not None
    assert server.requests[before][2] == '"one"'


def test_content_that_changed_between_tries_is_not_mixed(server):
    server.plan = ["half"]
    record = record_of(server.url, size=None, sha256=None)
    with pytest.raises(DownloadError):
        fetch_weights(record)
    server.plan, server.body, server.etag = ["good"], NPZ, '"two"'
    assert fetch_weights(record).read_bytes() == NPZ


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (["404"], "404"),
        (["503"], "503"),
        (["too long"], "more than the file has"),
        (["gzip"], "compresses"),
    ],
)
def test_what_cannot_be_mended_is_an_error_that_says_where_to_put_the_file(server, plan, words):
    server.plan = plan
    record = record_of(server.url)
    with pytest.raises(DownloadError, match=words) as caught:
        fetch_weights(record)
    text = str(caught.value)
    assert all(part in text for part in (server.url, record.sha256, str(cached_path(record))))
    assert left_behind(record) == []


def test_a_wrong_hash_is_an_error_and_leaves_nothing(server):
    server.body = BODY[:-1] + b"!"
    record = record_of(server.url)
    with pytest.raises(DownloadError, match="wrong sha256"):
        fetch_weights(record)
    assert left_behind(record) == []


def test_a_file_of_another_size_is_refused_before_it_is_fetched(server):
    record = record_of(server.url, size=5)
    with pytest.raises(DownloadError, match="another size"):
        fetch_weights(record)
    assert left_behind(record) == []


def test_mirrors_are_tried_in_turn(server, tmp_path):
    copy = tmp_path / "copy.npz"
    copy.write_bytes(BODY)
    server.plan = ["404"]
    record = record_of(server.url, mirrors=(server.url + "2", copy.as_uri()))
    assert fetch_weights(record).read_bytes() == BODY
    assert [path for path, *_ in server.requests] == ["/net.npz", "/net.npz2"]


@pytest.mark.parametrize(
    "location",
    [
        "http://[::1/x",
        "http://127.0.0.1:99999999999999999999/",
        "http://127.0.0.1:99999/",
        "http://a..b/",
        f"http://{'a' * 70}/",
        "http://127.0.0.1:x/",
        "http:///x",
        "http://a b/",
        "gopher://127.0.0.1/",
    ],
)
def test_a_redirect_that_makes_no_sense_is_an_error_and_the_mirror_is_tried(server, tmp_path, location):
    copy = tmp_path / "copy.npz"
    copy.write_bytes(BODY)
    server.plan = [f"redirect {location}"]
    with pytest.raises(DownloadError, match="no URL returned the file"):
        fetch_weights(record_of(server.url))
    assert fetch_weights(record_of(server.url, mirrors=(copy.as_uri(),))).read_bytes() == BODY


def test_a_server_that_drips_is_given_up(server, monkeypatch):
    times = itertools.count(0, paced_http.WINDOW + 1)  # so long between two pieces of data
    monkeypatch.setattr(paced_http, "_now", lambda: next(times))
    monkeypatch.setattr(paced_http, "LOWEST_SPEED", len(BODY))
    monkeypatch.setattr(paced_http, "HEAD_SECONDS", 1e9)
    with pytest.raises(DownloadError, match="bytes a second"):
        fetch_weights(record_of(server.url))
    monkeypatch.setattr(paced_http, "LOWEST_SPEED", 0)
    assert fetch_weights(record_of(server.url)).read_bytes() == BODY
    monkeypatch.setattr(paced_http, "HEAD_SECONDS", 1)
    with pytest.raises(DownloadError, match="too long for its headers"):
        fetch_weights(record_of(server.url, name="other"))


def test_a_file_that_takes_days_is_given_up(server, monkeypatch):
    monkeypatch.setattr(transfer, "TOTAL_SECONDS", -1)
    with pytest.raises(DownloadError, match="did not finish within"):
        fetch_weights(record_of(server.url))


@pytest.mark.parametrize("deed", ["good", "no length"])
def test_a_full_disk_is_not_kept_full(server, monkeypatch, deed):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    server.plan = [deed]
    monkeypatch.setattr(transfer.os, "fsync", full)
    record = record_of(server.url)
    with pytest.raises(DownloadError, match="No space left"):
        fetch_weights(record)
    assert left_behind(record) == []


def test_an_absent_file_address_and_a_dead_server_are_errors(server, tmp_path):
    with pytest.raises(DownloadError, match="cannot be read"):
        fetch_weights(record_of((tmp_path / "none.npz").as_uri()))
    server.server_close()
    with pytest.raises(DownloadError, match="connection failed"):
        fetch_weights(record_of("http://127.0.0.1:9/net.npz"))


def test_offline_the_error_says_which_file_to_put_where(monkeypatch):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    record = record_of("https://example.org/net.npz")
    path = cached_path(record)
    with pytest.raises(DownloadError) as caught:
        fetch_weights(record)
    assert all(part in str(caught.value) for part in (record.url, record.sha256, str(path), str(len(BODY))))
    path.parent.mkdir(parents=True)
    path.write_bytes(BODY)
    assert fetch_weights(record) == path
    path.write_bytes(BODY[:-1] + b"!")
    with pytest.raises(DownloadError, match="another sha256"):
        fetch_weights(record)
    path.write_bytes(BODY[:-1])
    with pytest.raises(DownloadError, match="instead of"):
        fetch_weights(record)


def test_the_offline_switch_knows_its_values(monkeypatch, server):
    monkeypatch.setenv("CVZOO_OFFLINE", "perhaps")
    with pytest.raises(ConfigError, match="CVZOO_OFFLINE"):
        fetch_weights(record_of(server.url))
    monkeypatch.setenv("CVZOO_OFFLINE", "0")
    fetch_weights(record_of(server.url))


def test_a_damaged_file_in_the_cache_is_fetched_again(server):
    record = record_of(server.url)
    path = fetch_weights(record)
    path.write_bytes(BODY[:-1] + b"!")
    assert fetch_weights(record).read_bytes() == BODY
    assert len(server.requests) == 2


def test_an_unchanged_file_is_not_hashed_twice(server, monkeypatch):
    record = record_of(server.url)
    path = fetch_weights(record)
    fetch_weights(record)
    counted = []
    monkeypatch.setattr(file_hash, "sha256_of", lambda p: counted.append(p) or record.sha256)
    fetch_weights(record)
    assert counted == []
    os.utime(path, ns=(1, 1))
    fetch_weights(record)
    assert counted == [path]
    (path.parent / ".net.npz.stamp").write_bytes(b"\xff{")
    fetch_weights(record)
    assert len(counted) == 2


def test_without_a_published_hash_the_first_file_of_the_right_kind_is_pinned(server, caplog):
    server.body = NPZ
    record = record_of(server.url, sha256=None, size=None)
    with caplog.at_level(logging.WARNING, "cvzoo.weights"):
        path = fetch_weights(record)
    assert hashlib.sha256(NPZ).hexdigest() in caplog.text
    pin = path.with_name("net.npz.sha256")
    assert pin.read_text() == f"{hashlib.sha256(NPZ).hexdigest()}  net.npz\n"
    caplog.clear()
    fetch_weights(record)
    assert caplog.text == ""
    path.unlink()
    server.body = b"something else"
    with pytest.raises(DownloadError, match="wrong sha256") as caught:
        fetch_weights(record)
    assert str(pin) in str(caught.value)


def test_a_file_whose_name_carries_digits_of_its_hash_is_held_to_them(server):
    server.body = NPZ
    digits = hashlib.sha256(NPZ).hexdigest()[:8]
    url = server.url.removesuffix("net.npz")
    record = record_of(f"{url}net-{digits}.npz", name="right", sha256=None, size=None)
    path = fetch_weights(record)
    assert path.read_bytes() == NPZ
    path.with_name(f"{path.name}.sha256").unlink()
    path.write_bytes(b"put there by hand")
    assert fetch_weights(record).read_bytes() == NPZ
    wrong = record_of(f"{url}net-01234567.npz", name="wrong", sha256=None, size=None)
    with pytest.raises(DownloadError, match="does not match the digits"):
        fetch_weights(wrong)
    assert not cached_path(wrong).exists()


PAGE = b"\n <!DOCTYPE html><title>Log in</title>"


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("net.npz", PAGE, "the download is a web page"),
        ("net.npz", b"Not found", "of kind unknown, not npz"),
        ("net.npz", NPZ[:-30], "damaged"),
        ("net.npz", b"\x80\x02}.", "of kind detectron2, not npz"),
        ("net.pth", NPZ, "of kind npz, not torch"),
        ("net.pth", b"\x80\x02cos\nsystem\n.", "refers to os.system"),
        ("net.zip", NPZ, "of kind npz, not mxnet"),
        ("net.pkl", PAGE, "the download is a web page"),
        ("net.weights", PAGE, "the download is a web page"),
        ("net.weights", b"some words that are long enough.", "of another format"),
    ],
)
def test_without_a_published_hash_another_kind_of_file_is_refused_and_not_kept(server, name, body, words):
    server.body = body
    record = record_of(server.url.replace("net.npz", name), sha256=None, size=None)
    with pytest.raises(DownloadError, match=words):
        fetch_weights(record)
    assert left_behind(record) == []
    path = cached_path(record)
    path.write_bytes(body)  # by hand
    with pytest.raises(DownloadError, match=words):
        fetch_weights(record)
    assert not path.with_name(f"{name}.sha256").exists()


def test_a_file_that_a_model_is_to_check_is_pinned_when_it_has(server):
    server.body = NPZ
    record = record_of(server.url, sha256=None, size=None)
    path = fetch_weights(record, pin=False)
    assert not is_cached(record)
    assert fetch_weights(record, pin=False) == path  # asked for once more before the model is made
    assert left_behind(record) == [".net.npz.unproven", "net.npz"]
    pin_weights(path)
    assert left_behind(record) == ["net.npz", "net.npz.sha256"]
    assert is_cached(record)
    assert fetch_weights(record, pin=False) == path
    assert len(server.requests) == 1


def test_a_file_that_no_model_took_is_fetched_again_by_the_next_process(server):
    server.body = NPZ
    record = record_of(server.url, sha256=None, size=None)
    path = fetch_weights(record, pin=False)
    theirs = os.open(path.with_name(".net.npz.unproven"), os.O_RDONLY)
    fcntl.flock(theirs, fcntl.LOCK_SH)  # another process is building its model meanwhile
    unproven.clear(path)  # as when ours ends
    assert fetch_weights(record, pin=False) == path
    assert len(server.requests) == 1
    unproven.clear(path)
    os.close(theirs)
    assert fetch_weights(record, pin=False) == path
    assert len(server.requests) == 2


def test_a_file_put_there_by_hand_is_pinned_when_a_model_has_taken_it(server):
    record = record_of(server.url, sha256=None, size=None)
    path = cached_path(record)
    path.parent.mkdir(parents=True)
    path.write_bytes(NPZ)
    assert fetch_weights(record, pin=False) == path
    assert left_behind(record) == ["net.npz"]
    pin_weights(path)
    assert left_behind(record) == ["net.npz", "net.npz.sha256"]
    assert server.requests == []


def test_only_files_of_the_cache_are_pinned(tmp_path):
    (tmp_path / "own.npz").write_bytes(NPZ)
    pin_weights(tmp_path / "own.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["own.npz"]


def test_many_threads_fetch_once(server):
    record = record_of(server.url)
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(fetch_weights(record))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [cached_path(record)] * 8
    assert len(server.requests) == 1


def test_many_processes_fetch_once(server):
    code = (
        "import sys; from cvzoo.weights.record import Weights; from cvzoo.weights.download import fetch_weights\n"
        "about = dict.fromkeys(['licence', 'data', 'data_licence', 'source'], '-')\n"
        "r = Weights(name='net', url=sys.argv[1], sha256=sys.argv[2], **about)\n"
        "print(fetch_weights(r).stat().st_size)"
    )
    args = [sys.executable, "-c", code, server.url, hashlib.sha256(BODY).hexdigest()]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    jobs = [subprocess.Popen(args, stdout=subprocess.PIPE, env=env, text=True) for _ in range(3)]
    outputs = [job.communicate(timeout=60)[0] for job in jobs]
    assert outputs == [f"{len(BODY)}\n"] * 3
    assert len(server.requests) == 1


def test_a_cache_that_cannot_be_made_is_an_error(server, monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "file"))
    with pytest.raises(DownloadError, match="CVZOO_HOME"):
        fetch_weights(record_of(server.url))


def test_too_little_room_is_said_before_anything_is_fetched(server, monkeypatch):
    monkeypatch.setattr(transfer.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10})())
    with pytest.raises(DownloadError, match="disk space"):
        fetch_weights(record_of(server.url))


def test_an_interrupted_download_leaves_a_part_to_go_on_from(server):
    record = record_of(server.url)

    def stop(done, total):
        if done > len(BODY) // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_weights(record, progress=stop)
    assert not cached_path(record).exists()
    fetch_weights(record)
    assert server.requests[-1][1] is not None
    assert download.sha256_of(cached_path(record)) == record.sha256
