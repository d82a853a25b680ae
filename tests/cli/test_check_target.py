"""Output paths are checked before long work."""

import pathlib

import pytest

from cvzoo.cli.check_target import check_target
from cvzoo.errors.exceptions import ConfigError

# even for root, who may write to any other folder
needs_unwritable = pytest.mark.skipif(not pathlib.Path("/proc/self").is_dir(), reason="needs a read-only folder")


def test_a_file_in_a_folder_standard_output_and_none_can_be_written(tmp_path):
    (tmp_path / "old.json").write_text("old")
    for target in (tmp_path / "new.json", tmp_path / "old.json", "-", None):
        check_target(target)
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


@pytest.mark.parametrize(("name", "says"), [(".", "is a folder"), ("gone/o.json", "gone does not exist")])
def test_a_folder_and_a_file_in_no_folder_cannot(tmp_path, name, says):
    with pytest.raises(ConfigError, match=says):
        check_target(tmp_path / name)


@needs_unwritable
@pytest.mark.parametrize(
    "words",
    [
        ("--json", "/proc/o.json"),
        ("--report", "/proc/o.html"),
        ("--verdicts", "/proc/o.jsonl"),
        ("--save-results", "/proc/o.json"),
        ("--save-results", "/proc/o", "--save-format", "yolo"),
    ],
)
def test_evaluate_refuses_an_unwritable_folder_before_data_and_model_are_read(run, words):
    status, _, err = run("evaluate", "--model", "no.safetensors", "--data", "coco:no.json", *words)
    assert status == 2
    assert "the folder /proc is not writable" in err.splitlines()[0]
