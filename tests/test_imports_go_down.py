"""The import rule: lower tiers never see higher ones, and rooms of one tier never see each other."""

import ast
import functools
import graphlib
import pathlib
import sys
from typing import NamedTuple

import pytest

TIERS = (
    {"errors", "lazy_imports", "typing"},
    {"config", "files", "labels", "shapes"},
    {"backends", "initializers"},
    {"autodiff"},
    {"functions", "reporting"},
    {"geometry", "images", "graph"},
    {"weights"},
    {"transforms"},
    {"datasets", "iterators", "evaluations", "visualizations"},
    {"links"},
    {"optimizers", "serializers"},
    {"distributed"},
    {"export", "singa", "testing", "training"},
    {"studio"},
    {"cli", "chainer_experimental", "experimental", "extensions", "utils"}
    | {"dataset", "function_hooks", "link_hooks", "optimizer_hooks"},
)
# names of ChainerCV and Chainer that other rooms define, where their users look for them: nothing but `__init__`s
DOORS = {"chainer_experimental", "experimental", "extensions", "utils"} | {
    *("dataset", "function_hooks", "link_hooks", "optimizer_hooks"),
}
LEVEL = {room: level for level, rooms in enumerate(TIERS) for room in rooms}
PACKAGE = pathlib.Path(__file__).parents[1] / "cvzoo"
REQUIRED = {"msgspec", "numpy", "PIL"}  # what every installation has; may be imported at the top
# only inside functions or for type checkers, with an error that helps; matplotlib and
# requests are required, but slow to import
EXTRAS = {
    "cupy",
    "cupyx",
    "cv2",
    "matplotlib",
    "ml_dtypes",
    "mpi4py",
    "nvidia",
    "onnxruntime",
    "openvino",
    "pynvml",
    "ray",
    "requests",
    "urllib3",
}

# packages that a room consists of: its files may import them at the top, as nothing imports the room but its own verb
ROOM_EXTRAS = {
    "studio": {"alembic", "fastapi", "jinja2", "psutil", "pydantic", "sqlalchemy", "starlette", "uvicorn"},
}


class Import(NamedTuple):
    """One imported module: where, in a function or not, and whether only type checkers see it."""

    module: str
    line: int
    late: bool
    typing: bool


def _is_module(name):
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def _is_own_door(folder, path):
    """Whether `path` lies behind the door of that folder, or the door is of a kind that imports all it shows."""
    door = folder / "__init__.py"
    is_lazy = door.is_file() and "import_on_demand(__name__" in door.read_text()
    return folder.is_dir() and (folder in (PACKAGE / path).parents or not is_lazy)


class _Imports(ast.NodeVisitor):
    def __init__(self):
        self.found = []
        self.late = False
        self.typing = False

    def visit_Import(self, node):
        self.found += [Import(alias.name, node.lineno, self.late, self.typing) for alias in node.names]

    def visit_ImportFrom(self, node):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            # `from cvzoo.weights import pickles` is that file or folder where there is one, else the door of weights
            inner = f"{module}.{alias.name}"
            name = inner if module.split(".")[0] == "cvzoo" and _is_module(inner) else module
            self.found.append(Import(name, node.lineno, self.late, self.typing))

    def _visit_function(self, node):
        before, self.late = self.late, True
        self.generic_visit(node)
        self.late = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function

    def visit_If(self, node):
        before = self.typing
        self.typing = before or (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
        for child in node.body:
            self.visit(child)
        self.typing = before
        for child in node.orelse:
            self.visit(child)


@functools.cache  # two tests look at all files
def imports_of(source):
    visitor = _Imports()
    visitor.visit(ast.parse(source))
    return visitor.found


def files():
    """Every file of every room; the package's own `__init__` and `__main__` are its door and may see all rooms."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def complaints(path, source):
    """What is wrong with the imports of a file, one line each. `path` is relative to the package's folder."""
    room = path.parts[0]
    if room not in LEVEL:
        return [f"cvzoo/{path}: the room {room} is in no tier; put it into TIERS and into docs/ARCHITECTURE.md"]
    is_door = path.name == "__init__.py"
    found = []
    if room in DOORS and not is_door:
        found.append(f"cvzoo/{path}: {room} gathers names of other rooms only; put it where it belongs")
    for name, line, late, typing in imports_of(source):
        where = f"cvzoo/{path}:{line}"
        parts = name.split(".")
        if name.startswith("."):
            found.append(f"{where}: relative import; write the full path")
        elif name == "cvzoo":
            found.append(f"{where}: imports the whole package; import the file that defines the name")
        elif parts[0] == "cvzoo":
            other = parts[1]
            if late:
                found.append(f"{where}: {name} is imported inside a function; move it up, or the knot apart")
            if other not in LEVEL:
                found.append(f"{where}: there is no room {other}")
            elif other != room and LEVEL[other] >= LEVEL[room] and not (is_door and other == "lazy_imports"):
                beside = "stands in the same tier" if LEVEL[other] == LEVEL[room] else "is above"
                found.append(
                    f"{where}: {room} (tier {LEVEL[room]}) may not import {other} (tier {LEVEL[other]}): it {beside}"
                )
            elif other == room and not is_door and _is_own_door(PACKAGE.joinpath(*parts[1:]), path):
                found.append(f"{where}: imports its own room's door {name}; import the file that defines the name")
            elif room == "links" and "connection" in path.parts and name.startswith("cvzoo.links.model"):
                found.append(f"{where}: a layer may not import a model ({name})")
            # ChainerCV's users look for the names of a data set's classes beside the data set, for the assertions about
            # data sets beside those about models, and for SSD's transforms beside SSD
            more = {"datasets": "labels", "testing": "datasets", "links": "transforms"}.get(room, room)
            if is_door and room not in DOORS and other not in {room, "errors", "lazy_imports", more}:
                found.append(f"{where}: a room's door gathers its own names only, not {name}")
        elif parts[0] not in sys.stdlib_module_names and parts[0] not in ROOM_EXTRAS.get(room, set()):
            if (late or typing) and parts[0] not in REQUIRED | EXTRAS:
                found.append(f"{where}: {parts[0]} is no dependency; put it into EXTRAS and pyproject.toml first")
            elif not late and not typing and parts[0] not in REQUIRED:
                found.append(f"{where}: {parts[0]} is optional; import it where it is used, with a MissingExtraError")
    return found


def test_imports_go_down():
    found = [line for path in files() for line in complaints(path.relative_to(PACKAGE), path.read_text())]
    assert not found, "\n" + "\n".join(found)


def test_no_two_files_need_each_other():
    needs = {}
    for path in files():
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(("cvzoo", *(parts[:-1] if parts[-1] == "__init__" else parts)))
        needs[name] = {i.module for i in imports_of(path.read_text()) if i.module.startswith("cvzoo.") and not i.typing}
        needs[name].discard(name)
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        pytest.fail("files import each other in a circle: " + " -> ".join(error.args[1]))


BAD = [
    ("geometry/box.py", "import cvzoo.links.link", "geometry (tier 5) may not import links (tier 9): it is above"),
    ("geometry/box.py", "from cvzoo.images.decode import x", "it stands in the same tier"),
    ("geometry/box.py", "from .nms import nms", "relative import"),
    ("geometry/box.py", "import cvzoo", "imports the whole package"),
    ("geometry/box.py", "from cvzoo import Variable", "imports the whole package"),
    ("geometry/box.py", "from cvzoo import config\nfrom cvzoo import links", "may not import links"),
    ("geometry/box.py", "from cvzoo.geometry import NMS", "its own room's door"),
    ("geometry/box.py", "def f():\n    import cvzoo.errors.exceptions", "inside a function"),
    ("geometry/box.py", "class A:\n    def f(self):\n        from cvzoo.errors import x", "inside a function"),
    ("geometry/box.py", "if TYPE_CHECKING:\n    from cvzoo.links.link import Link", "may not import links"),
    ("geometry/box.py", "import cvzoo.nowhere", "there is no room nowhere"),
    ("geometry/box.py", "import scipy", "scipy is optional"),
    ("geometry/box.py", "def f():\n    import scipy", "scipy is no dependency"),
    ("geometry/box.py", "if TYPE_CHECKING:\n    import scipy", "scipy is no dependency"),
    ("backends/cupy/conv.py", "import cupy", "cupy is optional"),
    ("links/connection/linear.py", "from cvzoo.links.model.vgg.vgg import VGG16", "a layer may not import a model"),
    ("geometry/__init__.py", "from cvzoo.functions.math.arithmetic import add", "gathers its own names only"),
    ("training/trainer.py", "import fastapi", "fastapi is optional"),
    ("studio/app.py", "import cvzoo.cli.main", "studio (tier 13) may not import cli (tier 14): it is above"),
    ("helpers/box.py", "", "the room helpers is in no tier"),
    ("utils/box.py", "", "gathers names of other rooms only"),
]
GOOD = [
    ("geometry/box.py", "import numpy as np\nfrom cvzoo.errors.exceptions import ShapeError"),
    ("geometry/box.py", "from cvzoo.geometry.nms import nms\nimport os.path"),
    ("geometry/box.py", "from cvzoo.errors import exceptions"),  # a file by another spelling
    ("geometry/__init__.py", "from cvzoo.geometry.nms import nms"),
    ("typing/__init__.py", "from cvzoo.lazy_imports.on_demand import import_on_demand"),
    ("utils/__init__.py", "from cvzoo.geometry.nms import nms"),
    ("backends/cupy/conv.py", "def f():\n    import cupy"),
    ("studio/app.py", "import fastapi\ndef f():\n    import alembic"),
    ("visualizations/vis_image.py", "if TYPE_CHECKING:\n    from matplotlib.axes import Axes"),
    ("links/model/vgg.py", "import cvzoo.functions as F\nimport cvzoo.links.connection.linear as L"),
]


@pytest.mark.parametrize(("path", "source", "says"), BAD)
def test_the_rule_finds_what_is_wrong(path, source, says):
    found = complaints(pathlib.Path(path), source)
    assert len(found) == 1
    assert says in found[0]


@pytest.mark.parametrize(("path", "source"), GOOD)
def test_the_rule_lets_pass_what_is_right(path, source):
    assert complaints(pathlib.Path(path), source) == []


def test_imports_for_type_checkers_are_told_apart():
    source = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\ndef f():\n    import c\nimport d"
    assert [(i.module, i.typing, i.late) for i in imports_of(source)] == [
        ("a", True, False),
        ("b", False, False),
        ("c", False, True),
        ("d", False, False),
    ]
