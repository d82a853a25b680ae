"""The files of a run as one tar file, and its sample predictions by epoch."""

import io
import tarfile

import pytest

from cvzoo.studio.jobs import archive as archive_module
from cvzoo.studio.jobs.archive import archive


@pytest.fixture
def run(watched):
    """A folder with predictions of two epochs, a kept snapshot, and what nobody may have."""
    run = watched / "first"
    (run / "samples").mkdir()
    for epoch in (2, 10):
        (run / "samples" / f"epoch_{epoch}.jpg").write_bytes(b"\xff\xd8\xff%d" % epoch)
    (run / "kept").mkdir()
    (run / "kept" / "snapshot_iter_4.npz").write_bytes(b"kept" * 200)
    (run / "script.py").write_text("secret")
    (run / "environment.json").symlink_to(watched / "cats" / "second" / "config.json")
    return run


def test_an_archive_has_the_files_that_may_be_had(browser, run, run_id):
    answer = browser.get(f"/api/v1/jobs/{run_id}/archive")
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''first.tar"
    listed = browser.get(f"/api/v1/jobs/{run_id}").json()
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as file:
        found = {each.name: file.extractfile(each).read() for each in file}
        assert all(each.isreg() and each.mtime for each in file)
    names = [each["name"] for each in listed["files"]] + listed["images"]
    assert found == {f"first/{name}": (run / name).read_bytes() for name in names}
    assert {"first/kept/snapshot_iter_4.npz", "first/samples/epoch_10.jpg"} <= set(found)
    assert "first/environment.json" not in found
    assert f'href="/api/v1/jobs/{run_id}/archive"' in browser.get(f"/jobs/{run_id}").text


def test_an_archive_is_made_part_by_part(run, monkeypatch):
    monkeypatch.setattr(archive_module, "_CHUNK", 100)
    parts = list(archive(run, "run"))
    assert max(map(len, parts)) <= 2 * tarfile.BLOCKSIZE
    with tarfile.open(fileobj=io.BytesIO(b"".join(parts))) as file:
        assert file.extractfile("run/kept/snapshot_iter_4.npz").read() == b"kept" * 200


def test_a_log_that_is_cut_off_meanwhile_spoils_no_archive(run, monkeypatch):
    monkeypatch.setattr(archive_module, "_CHUNK", 100)
    rows = (run / "metrics.jsonl").read_bytes()
    content = b""
    for part in archive(run, "run"):
        content += part
        if part.startswith(b"run/metrics.jsonl\0"):
            (run / "metrics.jsonl").write_bytes(b"{}\n")
    with tarfile.open(fileobj=io.BytesIO(content)) as file:
        assert file.extractfile("run/metrics.jsonl").read() == b"{}\n".ljust(len(rows), b"\n")
        assert "run/images/predictions.jpg" in file.getnames()


def test_what_is_removed_meanwhile_is_left_out(run):
    parts = archive(run, "run")
    first = next(parts)
    for path in run.glob("snapshot_iter_*.npz"):
        path.unlink()
    with tarfile.open(fileobj=io.BytesIO(first + b"".join(parts))) as file:
        assert "run/best.safetensors" in file.getnames()
        assert "run/snapshot_iter_8.npz" not in file.getnames()


def test_sample_predictions_are_listed_by_epoch(browser, run, run_id):
    items = browser.get(f"/api/v1/jobs/{run_id}/samples").json()["items"]
    names = ["samples/epoch_2.jpg", "samples/epoch_10.jpg", "images/predictions.jpg"]
    assert [(each["epoch"], each["name"]) for each in items] == list(zip([2, 10, None], names))
    assert browser.get(items[0]["href"]).content == b"\xff\xd8\xff2"
