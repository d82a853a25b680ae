import io
import tarfile
import zipfile

import pytest

from cvzoo.datasets.extract import extract
from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError

FILES = {"a/b.txt": b"b" * 3000, "a/c.txt": b"", "d.txt": b"d"}


def make_tar(path, files, mode="w:gz", kind=None, link=""):
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            if kind is not None:
                entry.type, entry.linkname, entry.size = kind, link, 0
            archive.addfile(entry, io.BytesIO(data))


def make_zip(path, files, mode=0):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_files_come_out_and_nothing_else_is_left(tmp_path, make):
    make(tmp_path / "x", FILES)
    out = tmp_path / "out"
    (out / "a").mkdir(parents=True)
    (out / "a" / "old.txt").write_text("old")
    (out / "d.txt").write_text("old")
    extract(tmp_path / "x", out)
    assert {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()} == {
        **FILES,
        "a/old.txt": b"old",
    }


BAD_NAMES = ["../evil", "/evil", "a/../../evil", "a//b", "C:evil", "a\\..\\evil", "a\nb"]


@pytest.mark.parametrize("make", [make_tar, make_zip])
@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_lead_astray_are_refused_before_anything_is_there(tmp_path, make, name):
    make(tmp_path / "x", {"good": b"1", name: b"2"})
    with pytest.raises(UnsafeFileError):
        extract(tmp_path / "x", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path, kind):
    make_tar(tmp_path / "x", {"link": b""}, kind=kind, link="../secret")
    with pytest.raises(UnsafeFileError, match="neither file nor folder"):
        extract(tmp_path / "x", tmp_path / "out")


def test_links_in_a_zip_are_refused(tmp_path):
    make_zip(tmp_path / "x", {"link": b"../secret"}, mode=0o120777)
    with pytest.raises(UnsafeFileError, match="neither file nor folder"):
        extract(tmp_path / "x", tmp_path / "out")


def test_links_that_lie_in_the_way_are_not_followed(tmp_path):
    make_tar(tmp_path / "x", FILES)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFileError, match="is a link"):
        extract(tmp_path / "x", tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_two_entries_of_one_name_are_refused(tmp_path):
    with tarfile.open(tmp_path / "x", "w") as archive:
        for _ in range(2):
            archive.addfile(tarfile.TarInfo("same"))
    with pytest.raises(UnsafeFileError, match="two entries"):
        extract(tmp_path / "x", tmp_path / "out")


def test_limits_hold_by_what_comes_out_not_by_what_headers_say(tmp_path):
    make_zip(tmp_path / "x", {"zeros": bytes(3_000_000), "more": b"1"})
    with pytest.raises(UnsafeFileError, match="too large"):
        extract(tmp_path / "x", tmp_path / "out", max_bytes=1_000_000)
    with pytest.raises(UnsafeFileError, match="too many"):
        extract(tmp_path / "x", tmp_path / "out", max_files=1)


@pytest.mark.parametrize("make", [make_tar, make_zip])
@pytest.mark.parametrize("kept", [0, 10, 60, -20])
def test_damaged_archives_are_named(tmp_path, make, kept):
    make(tmp_path / "x.bin", {"noise": bytes(range(256)) * 40, **FILES})
    data = (tmp_path / "x.bin").read_bytes()
    (tmp_path / "x.bin").write_bytes(data[:kept])
    with pytest.raises(FileFormatError, match=r"x\.bin"):
        extract(tmp_path / "x.bin", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
