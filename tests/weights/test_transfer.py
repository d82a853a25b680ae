import pytest

from cvzoo.errors.exceptions import DownloadError
from cvzoo.weights.transfer import transfer


def test_a_local_file_is_copied(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    seen = []
    transfer((tmp_path / "a").as_uri(), tmp_path / "part", progress=lambda done, total: seen.append((done, total)))
    assert (tmp_path / "part").read_bytes() == b"abc"
    assert seen == [(0, 3), (3, 3)]


@pytest.mark.parametrize("size", [2, 4])
def test_a_local_file_of_another_size_is_refused(tmp_path, size):
    (tmp_path / "a").write_bytes(b"abc")
    with pytest.raises(DownloadError, match="another size"):
        transfer((tmp_path / "a").as_uri(), tmp_path / "part", size=size)
    assert not (tmp_path / "part").exists()
