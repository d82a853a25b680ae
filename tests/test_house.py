"""Habits of the house that a machine can check: short files, described files, no traces of one computer."""

import ast
import gc
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]
MAX_LINES = 500
SHAPELESS = {"utils", "helpers", "misc", "manager", "common", "stuff"}  # names that say nothing
TEXTS = {".py", ".md", ".toml", ".sh", ".html", ".js", ".css", ".cfg", ".txt", ".cu"}
FOLDERS = ("cvzoo", "tests", "scripts", "docs", "examples", "benchmarks", "train_scripts", ".ci")
TRACES = [
    (re.compile(r"""(?<![\w.:/~-])/(work|home|root|Users|mnt|tmp)/\w"""), "a path of one computer"),
    (re.compile(r"https?://[^/\s]*(artifactory|\.internal\b|\.local\b)"), "a host of one network"),
    (re.compile(r"\b(issue|ticket)\s+#?\d+", re.IGNORECASE), "an issue's number"),
    (re.compile(r"\b(sub-?agents?|(AI|coding) agents?|large language models?|LLMs?)\b", re.IGNORECASE), "who wrote it"),
    (re.compile(r"^(<{7}|>{7}) ", re.MULTILINE), "a merge's conflict"),
]


def package_files():
    return sorted((ROOT / "cvzoo").rglob("*.py"))


@pytest.fixture(scope="module")
def trees():
    gc.disable()  # it would look through all trees again and again
    yield {path: ast.parse(path.read_text()) for path in package_files()}
    gc.enable()


def texts():
    """Every text of the checkout but this file, which spells what is forbidden."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    paths += [path for path in ROOT.iterdir() if path.is_file()]
    return [
        path
        for path in sorted(paths)
        if (path.suffix in TEXTS or path.parent.name == "scripts") and path != pathlib.Path(__file__)
    ]


def traces(text):
    met = [(pattern, what) for pattern, what in TRACES if pattern.search(text)]  # nearly always none
    return [
        f"{number}: {what}: {line.strip()[:100]}"
        for number, line in enumerate(text.splitlines() if met else (), 1)
        for pattern, what in met
        if pattern.search(line)
    ]


def public_functions(tree):
    """Functions and methods that users call: neither they nor their class begin with an underscore."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if isinstance(node, ast.ClassDef):
                yield from public_functions(node)
            else:
                yield node


def test_files_stay_short():
    long = [
        f"{path.relative_to(ROOT)}: {n} lines"
        for path in package_files()
        # a room's __init__ lists its names, a line each
        if path.name != "__init__.py" and (n := len(path.read_text().splitlines())) > MAX_LINES
    ]
    assert not long, f"over {MAX_LINES} lines; one idea, one file:\n" + "\n".join(long)


def test_every_file_says_what_it_is(trees):
    silent = [
        str(path.relative_to(ROOT))
        for path, tree in trees.items()
        if not ast.get_docstring(tree) and path.read_text().strip()
    ]
    assert not silent, "files without a docstring at the top:\n" + "\n".join(silent)


def test_names_say_something():
    chainercvs = ROOT / "cvzoo" / "utils"  # names of ChainerCV's, which its users look for there
    bad = [str(p.relative_to(ROOT)) for p in (ROOT / "cvzoo").rglob("*") if p.stem in SHAPELESS and p != chainercvs]
    assert not bad, "say what it is about:\n" + "\n".join(bad)


# files with a function that stands for others, whose arguments it has
STAND_FOR_OTHERS = (
    "links/classifier.py",  # Classifier.forward: its predictor's
    "links/link.py",  # Link.forward: every link's own
    "optimizers/optimizer.py",  # update(lossfun, ...): lossfun's
    "singa/model.py",  # Model.forward and train_one_batch: every model's own
    "typing/protocols.py",  # Forward: every link's own
)


def test_public_functions_write_their_arguments_out(trees):
    found = []
    for path, tree in trees.items():
        if path.relative_to(ROOT / "cvzoo").as_posix() in STAND_FOR_OTHERS:
            continue
        for function in public_functions(tree):
            if function.args.kwarg is not None:
                found.append(
                    f"{path.relative_to(ROOT)}:{function.lineno}: {function.name}(**{function.args.kwarg.arg})"
                )
    assert not found, "write the arguments out:\n" + "\n".join(found)


def test_no_traces_of_one_computer_or_an_unfinished_merge():
    found = [
        f"{path.relative_to(ROOT)}:{line}" for path in texts() for line in traces(path.read_text(errors="replace"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("open('/home/me/cat.jpg')", 1),
        ("see /work/x", 1),
        ("fixes issue 12", 1),
        ("<<<<<<< HEAD", 1),
        ("https://x.internal/simple", 1),
        ("see https://example.org/home/page", 0),  # a page's address
        ("a b /c d", 0),
        ("{tmp}/x and ~/work/cats", 0),
    ],
)
def test_traces_are_found(line, count):
    assert len(traces(line)) == count


def test_public_functions_are_found():
    source = """
def a(**k): ...
def _b(): ...
class C:
    def d(self): ...
    def __call__(self, **k): ...
class _E:
    def f(self): ...
"""
    assert [f.name for f in public_functions(ast.parse(source))] == ["a", "d"]
