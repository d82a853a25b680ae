"""Imports the model class of `--architecture` from a user's file or package."""

import importlib
import importlib.util
import os
import pathlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from cvzoo import links
from cvzoo.errors.exceptions import ConfigError, CvzooError
from cvzoo.links.chain import Chain

_FORM = "FILE.py:CLASS or PACKAGE.MODULE:CLASS"


def own_architecture(words: str | None) -> type[Chain] | None:
    """The class; None for None. Its module is imported, so its code is executed.

    words: "FILE.py:CLASS" or "PACKAGE.MODULE:CLASS"
    Raises ConfigError if the file, module or class does not exist, or the class has no config.
    """
    if words is None:
        return None
    place, colon, name = words.rpartition(":")
    if not (colon and place and name.isidentifier()):
        raise ConfigError(f"--architecture {words} does not name a class", expected=_FORM)
    module = _module(place)
    architecture = getattr(module, name, None)
    if architecture is None:
        own = [each for each, value in vars(module).items() if _is_own(value, module)]
        raise ConfigError(
            f"--architecture {words}: {place} does not define {name}",
            expected=" or ".join(own) or "a class of models, a subclass of Chain",
        )
    try:
        links.architecture_of(architecture)  # imports the whole zoo, which only few calls of the command need
    except CvzooError as error:
        raise ConfigError(f"--architecture {words}: {error}") from error
    return architecture


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and issubclass(value, Chain) and value.__module__ == module.__name__


def _module(place: str) -> ModuleType:
    path = pathlib.Path(place)
    if path.suffix == ".py" or path.is_file():
        if not path.is_file():
            raise ConfigError(f"--architecture: the file {place} does not exist", expected=_FORM)
        return _of_file(path)
    try:
        with _importable(os.getcwd()):
            return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"--architecture: {place} cannot be imported: {_words(error)}", expected=_FORM) from error


def _of_file(path: pathlib.Path) -> ModuleType:
    name = f"cvzoo_architecture_{path.stem}"  # does not replace another module
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"--architecture: {path} is not a Python file", expected=_FORM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where the types of a dataclass's fields are looked up
    try:
        with _importable(str(path.resolve().parent)):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise ConfigError(f"--architecture: {path} cannot be imported: {_words(error)}") from error
    return module


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):  # a script without a main guard
        return f'it called sys.exit({error.code!r}); guard its main part by `if __name__ == "__main__":`'
    return f"{type(error).__name__}: {error}"


@contextmanager
def _importable(folder: str) -> Iterator[None]:
    """A context in which modules of the folder can be imported, as when Python runs a file in it."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
