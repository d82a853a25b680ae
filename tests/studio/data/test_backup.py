"""Backups of a studio: what is in them, what refuses them, and what a full disk or a kill leaves."""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile

import pytest
from sqlalchemy import text

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError, FileError, FileFormatError, UnsafeFileError

TABLES = ("dataset", "revision", "item", "item_class", "version", "finding", "job", "upload", "token", "audit")


@pytest.fixture
def full(studio, browser, work, dataset):
    """A studio with a data set, an edit, a version, a job with a log and an upload of seven bytes."""
    from cvzoo.studio.jobs.spec import TrainSpec

    image = browser.get(f"/api/v1/datasets/{dataset}/images/0").json()
    put = {"edit_id": "edit-0001", "base": 1, "objects": image["labels"][:1]}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=put).status_code == 200
    assert browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"}).status_code == 202
    work(studio)
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    (studio.place.run(job.id) / "metrics.jsonl").write_text('{"epoch": 1}\n')
    (studio.place.run(job.id) / "snapshot_iter_8.npz").write_bytes(b"snapshot")
    upload = studio.data.uploads.create("images.tar", 20, "me")
    studio.place.upload(upload.id).write_bytes(b"seven..")
    with studio.engine.connect() as connection, connection.begin():
        connection.execute(text("UPDATE upload SET offset = 7"))
    return studio


def rows_of(place):
    from cvzoo.studio.database.migrate import ready_database

    engine = ready_database(place)
    with engine.connect() as connection:
        found = {name: [tuple(row) for row in connection.execute(text(f"SELECT * FROM {name}"))] for name in TABLES}
    engine.dispose()
    return found


def files_of(place):
    names = ("images", "versions", "uploads", "runs")
    paths = (path for name in names for path in (place.home / name).rglob("*") if path.is_file())
    return {path.relative_to(place.home).as_posix(): path.read_bytes() for path in paths}


def make(studio, path, **options):
    from cvzoo.studio.backup import make_backup

    return make_backup(studio.place, path, studio.clock, **options)


def restored(path, home):
    from cvzoo.studio.place import Place
    from cvzoo.studio.restore import restore_backup

    place = Place(home)
    restore_backup(place, path)
    return place


def test_a_restored_backup_has_the_rows_and_the_bytes_of_the_original(full, tmp_path):
    before = rows_of(full.place), files_of(full.place)
    found = make(full, tmp_path / "backup.tar")
    assert (found.n_dataset, found.n_image, found.n_version, found.n_job, found.missing) == (1, 10, 1, 1, ())
    assert os.stat(tmp_path / "backup.tar").st_mode & 0o777 == 0o600
    (tmp_path / "home").rename(tmp_path / "moved")
    place = restored(tmp_path / "backup.tar", tmp_path / "home")
    assert (rows_of(place), files_of(place)) == before
    (version,) = (path for path in place.versions.iterdir() if path.is_dir())
    linked = next(version.rglob("0.png"))
    assert linked.stat().st_nlink == 2  # the image is there once


def test_versions_of_a_backup_restored_elsewhere_are_in_the_new_folder(full, tmp_path):
    from cvzoo.datasets.bbox_splits import bbox_splits

    make(full, tmp_path / "backup.tar")
    place = restored(tmp_path / "backup.tar", tmp_path / "elsewhere")
    (row,) = rows_of(place)["version"]
    (data,) = (each for each in row if str(each).startswith("coco:"))
    assert str(tmp_path / "elsewhere") in data
    assert len(bbox_splits(data).train) == 8


def test_a_backup_by_the_command_says_what_it_has(full, tmp_path, capsys):
    home = ["studio", "--home", str(full.place.home)]
    assert main([*home, "backup", str(tmp_path / "backup.tar")]) == 0
    assert "1 data set, 10 images, 1 version, 1 job" in capsys.readouterr().out
    assert main(["studio", "--home", str(tmp_path / "new"), "restore", str(tmp_path / "backup.tar")]) == 0
    assert main([*home, "backup", str(tmp_path / "backup.tar")]) == 2
    assert "backup.tar exists" in capsys.readouterr().err
    assert main([*home, "restore", str(tmp_path / "backup.tar")]) == 2
    assert "is not empty: nothing is replaced" in capsys.readouterr().err


def test_an_edit_after_the_copy_of_the_database_is_not_in_the_backup(full, tmp_path, monkeypatch):
    from cvzoo.studio import backup

    def edit_then_look(place, path):
        with full.engine.connect() as connection, connection.begin():
            connection.execute(text("UPDATE dataset SET name = 'later'"))

    monkeypatch.setattr(backup, "_expect_room", edit_then_look)
    make(full, tmp_path / "backup.tar")
    assert "shapes" in rows_of(restored(tmp_path / "backup.tar", tmp_path / "new"))["dataset"][0]


def test_an_upload_that_is_imported_meanwhile_is_in_the_backup(full, tmp_path, monkeypatch):
    from cvzoo.studio import backup

    def drop_then_look(place, path):
        for upload in place.uploads.iterdir():
            full.data.uploads.delete(upload.name)

    monkeypatch.setattr(backup, "_expect_room", drop_then_look)
    assert make(full, tmp_path / "backup.tar").missing == ()
    (upload,) = restored(tmp_path / "backup.tar", tmp_path / "new").uploads.iterdir()
    assert upload.read_bytes() == b"seven.."


@pytest.mark.parametrize("is_same", [True, False])
def test_a_file_whose_number_another_one_got_meanwhile_is_no_link_to_it(tmp_path, is_same):
    from cvzoo.studio import backup

    first, second, files, seen = tmp_path / "first", tmp_path / "second", {}, {}
    first.write_bytes(b"older bytes")
    os.link(first, second)
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for path in (first, second):
            with open(path, "rb") as file:
                backup._add(archive, file, path.name, files, seen)
            if not is_same:
                path.write_bytes(b"newer bytes of another file")
    with tarfile.open(tmp_path / "x.tar") as archive:
        assert archive.getmember("second").islnk() == is_same
        assert archive.extractfile("second").read() == (b"older bytes" if is_same else second.read_bytes())


@pytest.mark.parametrize("what", ["missing", "damaged"])
def test_a_backup_without_an_image_is_refused_unless_it_is_asked_for(full, tmp_path, what):
    image = next(path for path in full.place.images.rglob("*") if len(path.name) == 64)
    image.unlink()
    if what == "damaged":
        image.write_bytes(b"other bytes")
    with pytest.raises(FileError, match=f"would lack images/../{image.name}, which the database names"):
        make(full, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()
    found = make(full, tmp_path / "backup.tar", is_incomplete_allowed=True)
    assert found.missing == (f"images/{image.name[:2]}/{image.name}",)


def test_a_lost_version_folder_is_missed(full, tmp_path):
    (version,) = (path for path in full.place.versions.iterdir() if path.is_dir())
    version.rename(tmp_path / "away")
    with pytest.raises(FileError, match=f"would lack versions/{version.name}"):
        make(full, tmp_path / "backup.tar")


@pytest.mark.parametrize("at", [100, 600, 20_000, -300])
def test_a_damaged_backup_is_refused_and_nothing_is_restored(full, tmp_path, at):
    path = tmp_path / "backup.tar"
    make(full, path)
    data = bytearray(path.read_bytes())
    data[at if at > 0 else data.index(b'{"format"') - at] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"damaged|truncated"):
        restored(path, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kept", [0, 512, 30_000])
def test_a_truncated_backup_is_refused(full, tmp_path, kept):
    path = tmp_path / "backup.tar"
    make(full, path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(FileFormatError, match=r"damaged|truncated"):
        restored(path, tmp_path / "new")
    assert [each.name for each in tmp_path.glob(".new*")] == []


def test_a_backup_that_names_a_file_outside_is_refused(full, tmp_path):
    import hashlib

    path, evil = tmp_path / "backup.tar", tmp_path / "evil.tar"
    make(full, path)
    with tarfile.open(path) as old, tarfile.open(evil, "w") as new:
        for member in old:
            data = b"" if member.islnk() else old.extractfile(member).read()
            if member.name == "backup.json":
                tree = json.loads(data)
                tree["files"]["../outside"] = [4, hashlib.sha256(b"evil").hexdigest()]
                info = tarfile.TarInfo("../outside")
                info.size = 4
                new.addfile(info, io.BytesIO(b"evil"))
                data = json.dumps(tree).encode()
                member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    with pytest.raises(UnsafeFileError, match="outside of the studio"):
        restored(evil, tmp_path / "new")
    assert not (tmp_path / "outside").exists()


def test_a_full_disk_leaves_no_backup(full, tmp_path):
    code = (
        "import resource, signal, sys\n"
        "from cvzoo.cli.main import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    (next(full.place.runs.iterdir()) / "snapshot_iter_9.npz").write_bytes(b"x" * 300_000)
    words = ["studio", "--home", str(full.place.home), "backup", str(tmp_path / "backup.tar")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "backup.tar" in done.stderr
    assert not list(tmp_path.glob("*backup.tar*"))
    assert not list(full.place.backups.iterdir())


def test_a_disk_without_room_is_told_before_the_work(full, tmp_path, monkeypatch):
    from cvzoo.studio import backup

    monkeypatch.setattr(backup.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(OSError, match="bytes are needed, 10 free"):
        make(full, tmp_path / "backup.tar")


@pytest.mark.parametrize("after", [12, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 30))])
def test_a_killed_backup_leaves_none_and_the_next_one_is_whole(full, tmp_path, after):
    code = (
        "import os, signal, sys, tarfile\n"
        "from cvzoo.cli.main import main\n"
        "old, n = tarfile.TarFile.addfile, [0]\n"
        "def addfile(self, *words):\n"
        "    n[0] += 1\n"
        f"    if n[0] == {after}:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return old(self, *words)\n"
        "tarfile.TarFile.addfile = addfile\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = ["studio", "--home", str(full.place.home), "backup", str(tmp_path / "backup.tar")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "backup.tar").exists()
    assert make(full, tmp_path / "backup.tar").missing == ()
    assert not list(tmp_path.glob(".backup.tar*"))


def test_there_is_no_backup_without_a_studio(tmp_path):
    from cvzoo.studio.backup import make_backup
    from cvzoo.studio.place import Place

    with pytest.raises(ConfigError, match="no server has run"):
        make_backup(Place(tmp_path / "none"), pathlib.Path(tmp_path, "backup.tar"), lambda: 0)
