"""Docstrings, errors and help say what papers and libraries say; the glossary in CONTRIBUTING.md has the words."""

import ast
import gc
import pathlib
import re
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).parents[1]
# code, options, arguments by name and files are spelled as they are
CODE = re.compile(r"``?[^`]+``?|--?\w[\w-]*|\b\w+=|^\s*[\w, *]+: |\S*[/_.]\w\S*", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NOT_LINE_END = re.compile(r"[^\n]+")
FOLDERS = ("cvzoo", "examples", "train_scripts", "benchmarks", "scripts", "docs")
HELP = {"help", "description", "epilog", "title"}


class Text(NamedTuple):
    """A text that users read: where it begins, and its words."""

    path: str
    line: int
    words: str


def glossary():
    """Each term of the field with the words it replaces, from the table in CONTRIBUTING.md."""
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Glossary")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    return {row[0]: re.findall(r"`([^`]+)`", row[1]) for row in rows if len(row) > 1}


def patterns(terms):
    """For each term what finds the private words in small letters, over line ends; `*` stands for any word."""
    found = {}
    for term, private in terms.items():
        words = [re.escape(word.lower()).replace(r"\*", r"\w+").replace(r"\ ", r"\s+") for word in private]
        if words:
            found[term] = re.compile(rf"\b(?:{'|'.join(words)})\b")
    return found


def terms_in(terms):
    """What finds any of them: nearly all texts have none."""
    return re.compile("|".join(pattern.pattern for pattern in terms.values()))  # which `re` keeps


def _literal(node):
    """The text of a string or f-string, `{}` for what is filled in; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _strings(node):
    """The literals of an expression that stand outside of calls in it."""
    text = _literal(node)
    if text is not None:
        yield text
    elif not isinstance(node, ast.Call):
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)


def docstrings(tree, path):
    """Docstrings of the file, and of what is public in it."""

    def walk(node, public):
        if public and isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield Text(path, getattr(node, "lineno", 1), text)
        if not isinstance(node, ast.FunctionDef):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
                    yield from walk(child, not child.name.startswith("_") or child.name == "__init__")

    return walk(tree, True)


def raised(tree, path):
    """(the first line, all literals) of each error that is raised with a text of its own."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        name = getattr(node.exc.func, "id", getattr(node.exc.func, "attr", ""))
        if not name.endswith("Error"):
            continue
        values = [*node.exc.args, *(each.value for each in node.exc.keywords if each.arg in {"expected", "hint"})]
        words = "\n".join(text for value in values for text in _strings(value))
        yield Text(path, node.lineno, _literal(node.exc.args[0]) or ""), Text(path, node.lineno, words)


def help_texts(tree, path):
    """What `help=`, `description=` and their like are given, in parsers and in the metadata of fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in HELP:
                    yield Text(path, node.lineno, "\n".join(_strings(keyword.value)))


def trees(*folders):
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield ast.parse(file.read_text()), file.relative_to(ROOT).as_posix()


def _blank(match):
    """A space in place of each line of the match, so that later lines keep their numbers."""
    return NOT_LINE_END.sub(" ", match[0])


def complaints(text, terms):
    """`path:line: word; write term` for each private word in the text."""
    prose = CODE.sub(_blank, FENCE.sub(_blank, text.words))
    small = prose.lower()  # a search in any case would take ten times as long
    found = []
    for term, pattern in terms.items() if terms_in(terms).search(small) else ():
        for match in pattern.finditer(small):
            line = text.line + prose.count("\n", 0, match.start())
            found.append(f"{text.path}:{line}: {' '.join(prose[slice(*match.span())].split())!r}; write {term}")
    return found


def stands_alone(line):
    """Whether a log that keeps only this line of an error says what was wrong: a sentence, not a name or a question."""
    return len(line.replace("{}", "x").split()) >= 3 and not line.rstrip().endswith("?")


@pytest.fixture(scope="module")
def parsed():
    gc.disable()  # it would look through all trees again and again
    yield list(trees(*FOLDERS))
    gc.enable()


@pytest.fixture(scope="module")
def terms():
    return patterns(glossary())


def test_the_glossary_has_terms_and_what_they_replace():
    terms = glossary()
    assert len(terms) >= 50
    assert terms["learning rate"] == ["step length"]


def test_docstrings_errors_and_help_use_the_fields_words(terms, parsed):
    found = []
    for tree, path in parsed:
        texts = [*docstrings(tree, path), *(words for _, words in raised(tree, path)), *help_texts(tree, path)]
        found += [line for text in texts for line in complaints(text, terms)]
    assert not found, "\n" + "\n".join(found)


def test_pages_use_the_fields_words(terms):
    found = []
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        path = file.relative_to(ROOT).as_posix()
        found += complaints(Text(path, 1, file.read_text()), terms)
    assert not found, "\n" + "\n".join(found)


def test_the_first_line_of_an_error_says_what_was_wrong(parsed):
    found = []
    for tree, path in parsed:
        for first, _ in raised(tree, path) if path.startswith("cvzoo/") else ():
            line = first.words.partition("\n")[0]
            if line and not stands_alone(line):
                found.append(f"{path}:{first.line}: {line!r}")
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("The step length of the optimizer.", ["'step length'; write learning rate"]),
        ("The step\n    length of the optimizer.", ["'step length'; write learning rate"]),
        ("The `step length` of the optimizer, --step length=", []),
        ("Photos, one entry a box.", ["'Photos'; write image", "'one entry a box'; write one per box"]),
        ("photos: (B, 3, H, W)", []),  # an argument's name
        ("The learning rate of an image classifier.", []),
    ],
)
def test_private_words_are_found(terms, words, told):
    found = complaints(Text("f.py", 3, words), terms)
    assert [line.partition(": ")[2] for line in found] == told


@pytest.mark.parametrize(
    ("line", "alone"),
    [
        ("PlotReport: x_key", False),
        ("iou_type", False),
        ("which model?", False),
        ("{}: where is the data set?", False),
        ("score must have one value per box", True),
        ("{}: unknown interpolation {}", True),
    ],
)
def test_a_first_line_is_a_sentence(line, alone):
    assert stands_alone(line) is alone
