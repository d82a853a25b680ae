"""The public names of cvzoo and where the API reference documents each."""

import ast
import functools
import importlib
import inspect
import pathlib
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

_LINKS = ("cvzoo.links.link", "cvzoo.links.chain")  # every model has their methods
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "cvzoo"


class PublicName(NamedTuple):
    """A name of a public module.

    door: the public module, such as "cvzoo.geometry"
    name, value: the name, and what it stands for
    kind: "class", "function" or "data"
    folder: the folder of the file that defines it, below the module's own ("model/ssd"); "" if it is none
    entry: the full public name under which the reference documents it, of another module if this is a re-export
    """

    door: str
    name: str
    value: Any
    kind: str
    folder: str
    entry: str

    @property
    def path(self) -> str:
        """The full public name: module, dot, name."""
        return f"{self.door}.{self.name}"

    @property
    def is_alias(self) -> bool:
        """Whether another public name documents it."""
        return self.path != self.entry


class Definition(NamedTuple):
    """Where a constant is assigned: its file and line, the assigned expression, and the comment on the line."""

    file: pathlib.Path
    line: int
    value: str
    comment: str


@functools.cache
def doors() -> tuple[str, ...]:
    """The modules with public names: cvzoo, its rooms, and the modules that a room lists among its names."""
    rooms = ["cvzoo", *(f"cvzoo.{path.parent.name}" for path in sorted(PACKAGE.glob("*/__init__.py")))]
    listed = [
        value.__name__
        for room in rooms
        for name, value in _members(importlib.import_module(room))
        if inspect.ismodule(value)
    ]
    inner = {name for name in listed if name not in rooms}
    return tuple(room for room in rooms if _members(importlib.import_module(room))) + tuple(sorted(inner))


@functools.cache
def public_names() -> tuple[PublicName, ...]:
    """Every public name, module by module; modules themselves are left out."""
    found = [
        (door, name, value)
        for door in doors()
        for name, value in _members(importlib.import_module(door))
        if not inspect.ismodule(value)
    ]
    entries: dict[int, tuple[int, str]] = {}
    for door, name, value in found:
        if not _may_have_aliases(value):
            continue
        rank = _rank(door, name, value)
        if id(value) not in entries or rank < entries[id(value)][0]:
            entries[id(value)] = rank, f"{door}.{name}"
    return tuple(
        PublicName(
            door,
            name,
            value,
            kind_of(value),
            _folder(door, value),
            entries[id(value)][1] if _may_have_aliases(value) else f"{door}.{name}",
        )
        for door, name, value in found
    )


@functools.cache
def entries() -> dict[str, PublicName]:
    """Full public name -> the name, of those that the reference documents at this place."""
    return {each.path: each for each in public_names() if not each.is_alias}


@functools.cache
def members_of(cls: type) -> tuple[str, ...]:
    """Documented public methods and properties of a class, in order: its own, and those of bases that have no entry."""
    public = _public_classes()
    bases = [base for base in cls.__mro__[1:] if base.__module__.startswith("cvzoo.")]
    above = [base for base in bases if base in public]
    hidden = [base for base in bases if base not in public and not any(issubclass(each, base) for each in above)]
    names = [name for owner in (cls, *hidden) for name, value in vars(owner).items() if _is_member(name, value)]
    return tuple(dict.fromkeys(names))


@functools.cache
def inherited_of(cls: type) -> tuple[tuple[str, str], ...]:
    """Name and entry of the methods that a class has from others with an entry; those of every link are left out."""
    public = _public_classes()
    bases = [base for base in cls.__mro__[1:] if base in public and base.__module__ not in _LINKS]
    found: dict[str, str] = {}
    for base in bases:
        for name in members_of(base):
            found.setdefault(name, f"{public[base]}.{name}")
    own = members_of(cls)
    return tuple(pair for pair in found.items() if pair[0] not in own)


@functools.cache
def _public_classes() -> dict[type, str]:
    return {each.value: path for path, each in entries().items() if each.kind == "class"}


def _is_member(name: str, value: object) -> bool:
    kinds = types.FunctionType | property | classmethod | staticmethod | functools.cached_property
    return not name.startswith("_") and isinstance(value, kinds) and bool(getattr(value, "__doc__", None))


def kind_of(value: object) -> str:
    """ "class", "function" or "data"."""
    if inspect.isclass(value):
        return "class"
    return "function" if inspect.isroutine(value) else "data"


def summary_of(public: PublicName) -> str:
    """The first paragraph of a docstring in one line; of a constant the comment at its definition, or its type."""
    value = public.value
    if public.kind == "data":
        definition = definition_of(public.door, public.name)
        if definition is not None and definition.comment:
            return definition.comment
        if hasattr(value, "__args__"):
            return "A type."
        size = f" of {len(value)}" if isinstance(value, tuple | frozenset) else ""
        return f"A {type(value).__name__.strip('_')}{size}."
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


@functools.cache
def definition_of(door: str, name: str) -> Definition | None:
    """Where a constant of a public module is assigned; None for one that is computed."""
    package = pathlib.Path(inspect.getsourcefile(importlib.import_module(door)) or "")
    for node in ast.walk(ast.parse(package.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and any((each.asname or each.name) == name for each in node.names):
            module = importlib.import_module(node.module or "")
            return _assignment(pathlib.Path(inspect.getsourcefile(module) or ""), name)
    return None


def _assignment(file: pathlib.Path, name: str) -> Definition | None:
    text = file.read_text("utf-8")
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AnnAssign) and any(getattr(each, "id", None) == name for each in targets):
            value = ast.get_source_segment(text, node.value) if node.value is not None else ""
            _, _, comment = text.splitlines()[node.lineno - 1].partition("  # ")
            return Definition(file, node.lineno, value or "", comment)
    return None


def _members(module: Any) -> Iterator[tuple[str, Any]] | list[tuple[str, Any]]:
    names = getattr(module, "__all__", None)
    if names is None:  # a module without a list: what it defines itself
        values = ((name, value) for name, value in vars(module).items() if not name.startswith("_"))
        return [pair for pair in values if getattr(pair[1], "__module__", None) == module.__name__]
    return [(name, getattr(module, name)) for name in names]


def _may_have_aliases(value: object) -> bool:
    # equal numbers and tuples are often one object by chance
    return kind_of(value) != "data" or (isinstance(value, tuple) and len(value) > 1)


def _rank(door: str, name: str, value: object) -> int:
    """The lower, the better the place to document it: its own room, its own name, and not cvzoo itself."""
    own = (getattr(value, "__module__", None) or "").startswith(f"{door}.") and door != "cvzoo"
    own = own or (door == "cvzoo.labels" and kind_of(value) == "data")
    return 2 * (not own) + (getattr(value, "__name__", name) != name)


def _folder(door: str, value: object) -> str:
    module = (getattr(value, "__module__", None) or "") if kind_of(value) != "data" else ""
    if not module.startswith(f"{door}."):
        return ""
    return "/".join(module.removeprefix(f"{door}.").split(".")[:-1])
