import errno
import os
import stat

import pytest

from cvzoo.files.atomic_write import atomic_write


def test_the_file_appears_only_at_the_end(tmp_path):
    path = tmp_path / "a.bin"
    with atomic_write(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


def write_and_break(path, error):
    with atomic_write(path) as file:
        file.write(b"new")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_break_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(error):
        write_and_break(path, error)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_others_may_read_what_the_umask_lets_them(tmp_path):
    path, plain = tmp_path / "a.bin", tmp_path / "b.bin"
    with atomic_write(path) as file:
        file.write(b"")
    plain.write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_missing_folder_is_named_by_what_was_asked_for(tmp_path):
    path = tmp_path / "none" / "x.npz"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(path):
        pass
    assert caught.value.filename == str(path)


def test_a_full_disk_is_an_error_of_the_file(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(OSError, match="No space left") as caught:
        write_and_break(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert str(caught.value).endswith(f"'{path}'")


def test_a_folder_in_its_place_is_named_by_what_was_asked_for(tmp_path):
    path = tmp_path / "x.npz"
    path.mkdir()
    with pytest.raises(OSError) as caught, atomic_write(path) as file:
        file.write(b"new")
    assert str(caught.value).endswith(f"'{path}'")
    assert os.listdir(tmp_path) == ["x.npz"]


def test_what_can_be_made_again_does_not_wait_for_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with atomic_write(tmp_path / "a.bin", is_durable=False) as file:
        file.write(b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert not synced
    with atomic_write(tmp_path / "a.bin") as file:
        file.write(b"newer")
    assert len(synced) == 2  # the file, and its folder
