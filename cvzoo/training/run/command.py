"""The command of a run, by which it can be repeated."""

import dataclasses
import json
import os
import pathlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.typing.aliases import FilePath

SCRIPT_COPY, CONFIG, RECIPE_FILE = "script.py", "config.json", "recipe.toml"
_OUT = "{out}"  # placeholder of the run's folder in the arguments


@dataclasses.dataclass(frozen=True)
class Command:
    """A script or module with its arguments.

    script: the script's path relative to the run's folder; None if a module was run
    module: such as "cvzoo", as `python -m` takes it; None if a script was run
    arguments: as typed, but "{out}" for the run's folder
    folder: where it was started, relative to the run's folder
    """

    script: str | None
    module: str | None
    arguments: tuple[str, ...]
    folder: str

    def to_json(self) -> dict[str, Any]:
        """As a dictionary for JSON."""
        return dataclasses.asdict(self)

    @property
    def names_its_folder(self) -> bool:
        """Whether the run's folder is one of the arguments, so that it can be replaced."""
        return any(_OUT in argument for argument in self.arguments)

    def arguments_for(self, out: str) -> list[str]:
        """The arguments with another folder."""
        return [argument.replace(_OUT, out) for argument in self.arguments]


def command_from_json(tree: Mapping[str, Any] | None, where: str) -> Command:
    """The command of a dictionary from `to_json`. Raises FileFormatError, which names the file `where`."""
    try:
        if tree is None:
            raise TypeError("the file has no command")
        script, module = (None if tree[name] is None else str(tree[name]) for name in ("script", "module"))
        return Command(script, module, tuple(str(each) for each in tree["arguments"]), str(tree["folder"]))
    except (KeyError, TypeError) as error:
        raise FileFormatError(f"{where} does not have the command of the run") from error


def read_command(folder: FilePath) -> Command:
    """The command of the run in the folder. Raises FileFormatError if there is no run, or a damaged one."""
    path = pathlib.Path(folder) / CONFIG
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise FileFormatError(f"{os.fspath(folder)} has no run", expected=CONFIG) from None
    except ValueError as error:
        raise FileFormatError(f"{path} is damaged: {error}") from error
    return command_from_json(tree.get("command") if isinstance(tree, dict) else None, str(path))


def this_command(out: FilePath, *, arguments: Sequence[str] | None = None) -> Command:
    """The command of this process. out: the run's folder, as given to the script; arguments: None for sys.argv."""
    given = os.fspath(out)
    target = os.path.abspath(given)
    main = sys.modules.get("__main__")
    file, spec = (main.__dict__.get(name) for name in ("__file__", "__spec__")) if main is not None else (None, None)
    typed = sys.argv[1:] if arguments is None else arguments
    module = None if spec is None else spec.name.removesuffix(".__main__")
    is_script = file is not None and module is None and str(file).endswith(".py")
    return Command(
        script=os.path.relpath(str(file), target) if is_script else None,
        # neither a script nor a module: cvzoo's console script
        module=module if module is not None or is_script or file is None else "cvzoo",
        arguments=tuple(_with_place(each, given, target) for each in typed),
        folder=os.path.relpath(os.getcwd(), target),
    )


def resume_words(command: Command, out: FilePath) -> str | None:
    """The shell command that resumes the run, from the current folder; None unless the script has --resume."""
    if command.script is None:
        return None
    path = pathlib.Path(os.path.normpath(os.path.join(os.path.abspath(out), command.script)))
    if not path.is_file() or b"--resume" not in path.read_bytes():
        return None
    words = ["python", os.path.relpath(path), *command.arguments_for(os.fspath(out))]
    return shlex.join(words if "--resume" in words else [*words, "--resume"])


def copy_script(command: Command, out: FilePath) -> None:
    """Saves a copy of the script in the run's folder."""
    if command.script is None:
        return
    path = pathlib.Path(out, command.script)
    if path.is_file():
        data = path.read_bytes()
        with atomic_write(pathlib.Path(out, SCRIPT_COPY)) as file:
            file.write(data)


def _with_place(argument: str, given: str, target: str) -> str:
    name, equals, value = argument.partition("=") if argument.startswith("-") else ("", "", argument)
    same = value == given or (bool(value) and os.path.abspath(value) == target)
    return f"{name}{equals}{_OUT}" if same else argument
