"""Count how a package is laid out: files, lines, import cycles, and places that ask where an array lies.

    python benchmarks/layout.py [PACKAGE]

PACKAGE: a folder cvzoo, by default that of this checkout; `git archive COMMIT cvzoo | tar x -C OLD` gives an older one.
"""

import argparse
import ast
import pathlib
import re
import statistics
import sys
from collections import Counter, defaultdict

ASKS = re.compile(r"\b(is_device_array|device_number|array_module)\b")
CUDA = re.compile(r"^\s*(from|import) cvzoo\.backends\.(cuda|cupy|cudnn)\b", re.MULTILINE)


def modules_of(package):
    """Module's name -> its file."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path, modules, *, is_typed=False):
    """The package's modules that a file imports when it is loaded; is_typed: also those for type checkers only."""
    names, open_nodes = set(), [ast.parse(path.read_text())]
    while open_nodes:
        for node in ast.iter_child_nodes(open_nodes.pop()):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not is_typed:
                continue
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                names.update(full & modules.keys() or {node.module})
            open_nodes.append(node)
    return names & modules.keys()


def reached(graph, start):
    """All that `start` leads to, itself only if there is a cycle."""
    seen, waiting = set(), list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(graph[name])
    return seen


def in_cycles(modules, *, is_typed):
    """Modules that import themselves through others; for type checkers an `__init__` only lists names."""
    graph = {
        name: set() if is_typed and path.name == "__init__.py" else imported(path, modules, is_typed=is_typed)
        for name, path in modules.items()
    }
    return sorted(name for name in graph if name in reached(graph, name))


def asks(package):
    """Counts over the files above `backends`: calls by name, isinstance(..., np.ndarray), .device.index, imports."""
    found = Counter()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] == "backends":
            continue
        text = path.read_text()
        lines = (line for line in text.splitlines() if not line.lstrip().startswith(("import", "from")))
        found["lines that name is_device_array, device_number, array_module"] += sum(map(bool, map(ASKS.search, lines)))
        found["files that import backends.cuda, cupy or cudnn"] += bool(CUDA.search(text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                found["isinstance(..., np.ndarray)"] += "np.ndarray" in ast.unparse(node.args[1])
            elif isinstance(node, ast.Attribute) and node.attr == "index":
                found["uses of device.index"] += ast.unparse(node.value).split(".")[-1] == "device"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parents[1] / "cvzoo")
    package = parser.parse_args().package.resolve()
    lines = {path: len(path.read_text().splitlines()) for path in sorted(package.rglob("*.py"))}
    rooms = defaultdict(list)
    for path, count in lines.items():
        parts = path.relative_to(package).parts
        rooms[parts[0] if len(parts) > 1 else "(top)"].append(count)
    for room, counts in rooms.items():
        print(f"{room:<16} {len(counts):5} files {sum(counts):7} lines")
    print(f"{'all':<16} {len(lines):5} files {sum(lines.values()):7} lines")
    longest = max((count, path) for path, count in lines.items() if path.name != "__init__.py")
    print(f"longest file but an __init__: {longest[0]} lines, {longest[1].relative_to(package)}")
    print(f"median of a file: {statistics.median(lines.values()):.0f} lines")
    entries = [each for each in (package / "links/model").iterdir() if each.name != "__pycache__"]
    n_folder = sum(each.is_dir() for each in entries)
    print(f"links/model: {len(entries)} entries, of them {n_folder} folders, {len(entries) - n_folder} files")
    modules = modules_of(package)
    print(f"files in import cycles: {len(in_cycles(modules, is_typed=False))} at load time,", end=" ")
    print(f"{len(in_cycles(modules, is_typed=True))} with imports for type checkers")
    for what, count in asks(package).items():
        print(f"above backends, {what}: {count}")


if __name__ == "__main__":
    sys.exit(main())
