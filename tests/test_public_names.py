"""What is public is declared, sorted, there, and described."""

import importlib
import inspect
import pathlib
import types

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "cvzoo"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def visible_names(module):
    """The classes and functions of a room that its door shows."""
    names = set()
    for name in dir(module):
        value = None if name.startswith("_") else getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            home = getattr(value, "__module__", None) or ""
            if home == module.__name__ or home.startswith(module.__name__ + "."):
                names.add(name)
    return names


def declared(module):
    assert hasattr(module, "__all__"), f"{module.__name__} declares no __all__"
    return module.__all__


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_names_are_sorted_and_stand_once(room):
    module = importlib.import_module(f"cvzoo.{room}".rstrip("."))
    names = list(declared(module))
    assert names == sorted(names, key=str.casefold), f"{module.__name__}.__all__ is not sorted by str.casefold"
    assert len(names) == len(set(names)), f"{module.__name__}.__all__ holds a name twice"


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_declared_names_are_there(room):
    module = importlib.import_module(f"cvzoo.{room}".rstrip("."))
    missing = []
    for name in declared(module):
        try:
            getattr(module, name)
        except (AttributeError, ImportError) as error:
            missing.append(f"{name}: {error}")
    assert not missing, f"{module.__name__} declares what it has not:\n" + "\n".join(missing)


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_visible_is_declared(room):
    module = importlib.import_module(f"cvzoo.{room}")
    hidden = visible_names(module) - set(declared(module))
    assert not hidden, f"cvzoo.{room} shows {sorted(hidden)}, which its __all__ does not name"


def test_the_package_shows_what_it_declares():
    package = importlib.import_module("cvzoo")
    visible = {name for name in dir(package) if not name.startswith("_")}
    assert visible == set(package.__all__)


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_described(room):
    module = importlib.import_module(f"cvzoo.{room}")
    silent = []
    for name in declared(module):
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and not (value.__doc__ or "").strip():
            silent.append(f"{name} ({value.__module__})")
    assert not silent, f"public names of cvzoo.{room} without a docstring:\n" + "\n".join(silent)


def test_visible_names_are_found_by_their_home():
    room = types.ModuleType("room")

    class Own:
        pass

    Own.__module__ = "room.file"
    room.Own, room.Foreign, room._private = Own, pathlib.Path, Own
    room.number = 3
    assert visible_names(room) == {"Own"}
