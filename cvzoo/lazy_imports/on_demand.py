"""Public names of a package, imported when they are first used (PEP 562)."""

import ast
import sys
import types
from collections.abc import Callable
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec
from typing import Any, NamedTuple


class _Home(NamedTuple):
    """The module that defines a public name; `name` None: that module is what the name means."""

    module: str
    name: str | None


class _LazyPackage(types.ModuleType):
    """A package that imports a public name when it is first used, and holds it from then on."""

    _homes: dict[str, _Home]
    _after: str | None

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_homes"].get(name)
        if home is None and not name.startswith("_") and find_spec(f"{self.__name__}.{name}") is not None:
            home = _Home(f"{self.__name__}.{name}", None)  # a part of the package
        if home is None:
            _refuse_absent(self.__name__, name)
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if home.name is not None and self.__dict__["_after"]:
            import_module(self.__dict__["_after"])
        module = import_module(home.module)
        value = module if home.name is None else getattr(module, home.name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # the import of a file `nms` sets the attribute `nms` of its package to that file; users mean the function
        home = self.__dict__["_homes"].get(name)
        if home and home.name and isinstance(value, types.ModuleType) and value.__name__ == home.module:
            value = getattr(value, home.name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        # what is public; not the parts that happen to be imported, nor what the package's `__init__` itself needs
        return sorted({*self._homes, *(name for name in self.__dict__ if name.startswith("__"))})

    def __reduce__(self) -> tuple[Callable[[str], types.ModuleType], tuple[str]]:
        # cloudpickle (joblib, dask, ray) pickles plain modules by name, and asks an instance of a subclass how
        return import_module, (self.__name__,)


def _refuse_absent(package: str, name: str) -> None:
    """Raise ReplacedNameError for a name of Chainer or ChainerCV that the package does not have."""
    reason = import_module("cvzoo.lazy_imports.absent_names").ABSENT.get(package, {}).get(name)
    if reason is not None:
        # no AttributeError: `from package import name` would say "cannot import name" in its place
        raise import_module("cvzoo.errors.exceptions").ReplacedNameError(f"{package} has no {name}: {reason}")


def import_on_demand(package: str, *, after: str | None = None) -> None:
    """Let names that the package's `__init__.py` imports under `if TYPE_CHECKING:` be imported when they are used.

    That block is the one list of public names: type checkers read it, and so does this function. `package` is the
    `__name__` of the `__init__.py` that calls it. `after`: a module that is imported before the first of the names.
    A name of Chainer or ChainerCV that the package does not have raises ReplacedNameError, which says what to use
    (`absent_names`).

    Raises:
        ImportError: the source file `__init__.py` is missing.
    """
    module = sys.modules[package]
    loader = module.__spec__.loader if module.__spec__ else None
    # also of a package in a zip file
    source = loader.get_source(package) if isinstance(loader, InspectLoader) else None
    if source is None:
        raise ImportError(f"{package} was installed without its source file __init__.py; install cvzoo's wheel again")
    module.__dict__["_homes"] = homes_in(source, package)
    module.__dict__["_after"] = after
    module.__class__ = _LazyPackage


def homes_in(source: str, package: str) -> dict[str, _Home]:
    """Public name to home, as the block `if TYPE_CHECKING:` of a package's source has it."""
    homes = {}
    for block in ast.parse(source).body:
        if not (isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"):
            continue
        for statement in block.body:
            if not isinstance(statement, ast.ImportFrom) or statement.module is None:
                continue
            for alias in statement.names:
                own = statement.module == package  # `from cvzoo import links` in cvzoo itself: a part, not a name
                name = alias.name
                homes[alias.asname or name] = _Home(f"{package}.{name}", None) if own else _Home(statement.module, name)
    return homes
