"""Each public name stands in the README, a page of docs/ or an example; no page names what is not there."""

import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = sorted(path.parent.name for path in (ROOT / "cvzoo").glob("*/__init__.py"))
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
# rooms that pages of their own tell of
ELSEWHERE = {"functions", "links", "transforms", "datasets", "evaluations", "singa", "cli"}
# page -> the rooms whose names its tables list
LISTED = {
    "functions": ("functions",),
    "layers": ("links",),
    "transforms": ("transforms",),
    "images": ("images", "geometry", "labels", "visualizations"),
    "engine": tuple(room for room in ROOMS if room not in ELSEWHERE),
}
ROW = re.compile(r"^\| `(\w+)` \| ", re.MULTILINE)


def documented():
    """Words of code in the pages, and all words of the examples."""
    texts = [path.read_text() for path in PAGES]
    code = [part for text in texts for part in re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL)]
    code += [path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))]
    return {word for part in code for word in re.findall(r"\w+", part)}


def names_of(room):
    return set(importlib.import_module(f"cvzoo.{room}").__all__)


@pytest.fixture(scope="module")
def words():
    return documented()


@pytest.mark.parametrize("room", ROOMS)
def test_each_public_name_is_documented(room, words):
    silent = sorted(names_of(room) - words)
    assert not silent, f"public names of cvzoo.{room} that no page and no example tells of:\n" + "\n".join(silent)


@pytest.mark.parametrize("page", LISTED)
def test_a_page_lists_names_that_are_there(page):
    listed = set(ROW.findall((ROOT / "docs" / f"{page}.md").read_text()))
    assert listed
    gone = sorted(listed - set().union(*map(names_of, LISTED[page])))
    assert not gone, f"docs/{page}.md lists names that are not public:\n" + "\n".join(gone)


def test_the_zoos_table_names_constructors_that_are_there():
    section = (ROOT / "docs/zoo.md").read_text().partition("## All names by family")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "`" in line.partition(" | ")[2]]
    named = {name for row in rows[1:] for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 100
    assert not named - names_of("links")


SHORT = {"L": "links", "F": "functions", "T": "transforms"}


@pytest.mark.parametrize("page", ["from_torchvision", "from_ultralytics"])
def test_the_new_names_of_a_migration_page_are_there(page):
    gone = []
    for row in re.findall(r"^\| .* \| (.*) \|$", (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE):
        for room, name in re.findall(r"\b(" + "|".join([*SHORT, *ROOMS]) + r")\.(\w+)", row):
            module = importlib.import_module(f"cvzoo.{SHORT.get(room, room)}")
            if not hasattr(module, name):
                gone.append(f"{room}.{name}")
    assert not gone
