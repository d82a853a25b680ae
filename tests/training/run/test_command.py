"""How a run was started."""

import os
import sys
import types

import pytest

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.training.run.command import Command, command_from_json, copy_script, resume_words, this_command


@pytest.fixture
def started(monkeypatch, tmp_path):
    """A function (file, module name, arguments) that makes this process look as if it had been started so."""

    def start(file, module, *arguments):
        main = types.ModuleType("__main__")
        if file is not None:
            main.__file__ = str(file)
        main.__spec__ = None if module is None else types.SimpleNamespace(name=module)
        monkeypatch.setitem(sys.modules, "__main__", main)
        monkeypatch.setattr(sys, "argv", ["whatever", *arguments])
        monkeypatch.chdir(tmp_path)

    return start


@pytest.mark.parametrize(
    "arguments",
    [
        ("--out", "runs/a", "--lr", "0.1"),
        ("--out=runs/a",),
        ("runs/a",),
        ("--out", "./runs/../runs/a/"),
        ("-o=runs/a",),
    ],
)
def test_the_folder_s_place_among_the_arguments_is_kept(started, tmp_path, arguments):
    started(tmp_path / "scripts/train.py", None, *arguments)
    command = this_command("runs/a")
    assert command.script == "../../scripts/train.py"
    assert command.module is None
    assert command.folder == "../.."
    assert command.names_its_folder
    assert "{out}" in "".join(command.arguments)
    assert command.arguments_for("b")[0].replace("=", " ").split()[-1] in ("b", "--out")


def test_other_arguments_are_left_as_they_are(started, tmp_path):
    started(tmp_path / "train.py", None, "--name", "runs/ab", "--flag", "", "-x=1")
    command = this_command("runs/a")
    assert command.arguments == ("--name", "runs/ab", "--flag", "", "-x=1")
    assert not command.names_its_folder


@pytest.mark.parametrize(
    ("file", "module", "expected"),
    [
        ("cvzoo/__main__.py", "cvzoo.__main__", "cvzoo"),
        ("cvzoo/cli/main.py", "cvzoo.cli.main", "cvzoo.cli.main"),
        ("bin/cvzoo", None, "cvzoo"),  # the console script
        (None, None, None),  # an interactive session
    ],
)
def test_modules_are_known_by_name(started, tmp_path, file, module, expected):
    started(None if file is None else tmp_path / file, module)
    command = this_command("a")
    assert (command.script, command.module) == (None, expected)


def test_a_command_goes_through_json():
    command = Command("a.py", None, ("x", "{out}"), "..")
    assert command_from_json(command.to_json(), "config.json") == command


@pytest.mark.parametrize("tree", [None, {}, {"script": "a", "module": None, "folder": "."}, []])
def test_what_is_no_command_is_refused(tree):
    with pytest.raises(FileFormatError, match=r"config\.json does not have the command"):
        command_from_json(tree, "config.json")


def test_a_copy_of_the_script_is_kept(started, tmp_path):
    (tmp_path / "train.py").write_text("print(1)")
    (tmp_path / "a").mkdir()
    started(tmp_path / "train.py", None)
    copy_script(this_command("a"), "a")
    assert (tmp_path / "a/script.py").read_text() == "print(1)"
    assert os.listdir(tmp_path / "a") == ["script.py"]
    copy_script(Command(None, "cvzoo", (), "."), "a")
    copy_script(Command("../gone.py", None, (), "."), "a")
    assert (tmp_path / "a/script.py").read_text() == "print(1)"


def test_a_script_that_knows_resume_is_resumed_by_its_own_words(started, tmp_path):
    (tmp_path / "train.py").write_text('parser.add_argument("--resume", action="store_true")')
    for more in ((), ("--resume",)):
        started(tmp_path / "train.py", None, "--out", "runs/a b", "--lr=1", *more)
        assert resume_words(this_command("runs/a b"), "runs/a b") == "python train.py --out 'runs/a b' --lr=1 --resume"


def test_whether_another_script_can_be_resumed_is_not_known(started, tmp_path):
    (tmp_path / "train.py").write_text("main()")
    for file, module in (("train.py", None), ("gone.py", None), (None, "cvzoo")):
        started(file and tmp_path / file, module, "--out", "runs")
        assert resume_words(this_command("runs"), "runs") is None
