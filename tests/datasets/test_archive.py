import hashlib
import tarfile

import pytest

from cvzoo.datasets.archive import Archive, dataset_home, provide
from cvzoo.errors.exceptions import DatasetError, DownloadError


@pytest.fixture
def archive(tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "home"))
    (tmp_path / "list.txt").write_text("1\n")
    with tarfile.open(tmp_path / "toy.tar", "w") as tar:
        tar.add(tmp_path / "list.txt", "Toy/list.txt")
    data = (tmp_path / "toy.tar").read_bytes()
    return Archive(
        url=(tmp_path / "toy.tar").as_uri(),
        sha256=hashlib.sha256(data).hexdigest(),
        md5=hashlib.md5(data).hexdigest(),
        size=len(data),
    )


def toy(data_dir, archives):
    return provide(
        data_dir, "toy", needs="Toy/list.txt", archives=archives, licence="CC0-1.0", page="https://example.org/toy"
    )


def test_archives_are_fetched_and_unpacked_once(archive, tmp_path):
    root = toy("auto", (archive,))
    assert root == dataset_home("toy")
    assert (root / "Toy/list.txt").read_text() == "1\n"
    assert not (root / "toy.tar").exists()
    (tmp_path / "toy.tar").unlink()
    assert toy("auto", (archive,)) == root


def test_an_interrupted_unpacking_is_done_again(archive):
    root = toy("auto", (archive,))
    (root / ".toy.tar.done").unlink()
    (root / ".toy.tar.begun").touch()
    (root / "Toy/list.txt").write_text("half")
    assert (toy("auto", (archive,)) / "Toy/list.txt").read_text() == "1\n"


def test_files_that_somebody_put_there_are_taken(archive, monkeypatch):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    folder = dataset_home("toy") / "Toy"
    folder.mkdir(parents=True)
    (folder / "list.txt").write_text("mine")
    assert toy("auto", (archive,)) == toy("auto", ()) == folder.parent


def test_offline_says_where_to_get_and_where_to_put(archive, monkeypatch):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    with pytest.raises(DownloadError) as caught:
        toy("auto", (archive,))
    assert "https://example.org/toy" in str(caught.value)
    assert str(dataset_home("toy")) in str(caught.value)


def test_a_closed_data_set_says_where_to_get_and_where_to_put(archive):
    with pytest.raises(DatasetError) as caught:
        toy("auto", ())
    for text in ("https://example.org/toy", str(dataset_home("toy")), "CC0-1.0"):
        assert text in str(caught.value)


def test_a_folder_of_the_users_is_never_filled(archive, tmp_path):
    with pytest.raises(DatasetError, match="official layout"):
        toy(tmp_path / "none", (archive,))
    assert not (tmp_path / "none").exists()


def test_wrong_hashes_are_refused(archive, tmp_path):
    for field in ("sha256", "md5"):
        wrong = Archive(url=archive.url, **{field: "0" * (64 if field == "sha256" else 32)})
        with pytest.raises(DownloadError, match="wrong"):
            toy("auto", (wrong,))
        assert not (dataset_home("toy") / "Toy").exists()


def test_an_archive_without_the_file_is_an_error(archive, tmp_path):
    with pytest.raises(DatasetError, match="do not contain Other"):
        provide("auto", "toy", needs="Other", archives=(archive,), licence="x", page="y")
