"""Reading of whole files."""

import pytest

from cvzoo.errors.exceptions import FileError
from cvzoo.files.file_bytes import file_bytes


def test_of_a_runs_folder_the_model_in_it_is_named(tmp_path):
    with pytest.raises(FileError, match="a folder, not a file") as plain:
        file_bytes(tmp_path)
    assert "try:" not in str(plain.value)
    (tmp_path / "best.safetensors").touch()
    with pytest.raises(FileError, match=r"a folder, not a file\n  try: .*best\.safetensors"):
        file_bytes(tmp_path)
