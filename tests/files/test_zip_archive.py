import io
import zipfile

import pytest

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError, WeightsError
from cvzoo.files.zip_archive import ZipArchive


def archive(entries, kind=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as z:
        for name, data in entries.items():
            z.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_entries_are_read_by_name(write, kind):
    with ZipArchive(write(archive({"a": b"one", "b/c": b""}, kind))) as z:
        assert z.names == ("a", "b/c")
        assert (z.size("a"), z.size("b/c"), z.size("d")) == (3, 0, None)
        assert (z.read("a"), z.read("b/c")) == (b"one", b"")
        with pytest.raises(FileFormatError, match="'d' is missing"):
            z.read("d")
        with pytest.raises(FileFormatError, match="a is too large"):
            z.read("a", limit=2)


def test_a_wrong_checksum_is_an_error(write):
    data = archive({"a": b"some words"}).replace(b"words", b"wordz")
    with ZipArchive(write(data)) as z, pytest.raises(FileFormatError, match="a is damaged"):
        z.read("a")


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_packings_are_refused(write, kind):
    with pytest.raises(FileFormatError, match="unusual"):
        ZipArchive(write(archive({"a": b"x" * 1000}, kind)))


def test_an_encrypted_entry_is_refused(write):
    data = bytearray(archive({"a": b"x"}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FileFormatError, match="encrypted"):
        ZipArchive(write(bytes(data)))


def test_entries_that_claim_the_same_bytes_are_refused(write):
    data = bytearray(archive({"a": b"x" * 5000, "b": b"y"}))
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    for at in (20, 24):  # its packed and unpacked size
        data[second + at : second + at + 4] = (5000).to_bytes(4, "little")
    with pytest.raises(UnsafeFileError, match="overlap"):
        ZipArchive(write(bytes(data)))


def test_an_absent_file_is_an_error(tmp_path):
    with pytest.raises(WeightsError, match="no such file"):
        ZipArchive(tmp_path / "none.zip")
