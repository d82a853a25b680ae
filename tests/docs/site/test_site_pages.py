"""The pages that the site is made of: links that lead somewhere, and a place for each in the navigation."""

import pytest
from site_pages import ROOT, Stage, markdown_pages, place_of, sections


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path / "pages")
    made.fill({"index": "API reference\n=============\n"})
    return made


def test_every_link_leads_somewhere(stage):
    assert not stage.broken


def test_a_broken_link_is_told_with_its_page(tmp_path):
    stage = Stage(tmp_path)
    stage._linked("docs/zoo.md", "[there](weights.md) and [not](nowhere.md#at-all), `[code](is-left.md)`")
    stage._linked("docs/zoo.md", "[there](data.md#specifications-of-data-sets) and [not](data.md#no-such-heading)")
    assert stage.broken == ["docs/zoo.md: nowhere.md#at-all", "docs/zoo.md: data.md#no-such-heading"]


def test_the_readme_is_the_first_page_and_knows_where_pages_went(stage):
    text = (stage.folder / "index.md").read_text()
    assert text.startswith("# cvzoo")
    assert "](zoo.md)" in text
    assert "](docs/zoo.md)" not in text


def test_programs_and_folders_that_pages_link_to_are_pages_too(stage):
    assert "def main(" in (stage.folder / "files/examples/own_detector.py.md").read_text()
    assert "train_ssd.py" not in (stage.folder / "files/benchmarks/results.md").read_text()


def test_every_page_has_one_place_in_the_navigation():
    listed = [page for _, pages in sections() for page in pages]
    assert len(listed) == len(set(listed))
    assert not set(listed) - set(markdown_pages()), "docs/README.md lists pages that are not there"
    apart = {"README.md", "docs/README.md"}  # the first page, and the list itself
    inside = {page for page in markdown_pages() if page.startswith("docs/decisions/") and "README" not in page}
    silent = sorted(set(markdown_pages()) - set(listed) - apart - inside)
    assert not silent, "docs/README.md, the list of pages, has no line for:\n" + "\n".join(silent)


def test_every_page_has_a_place_of_its_own():
    places = [place_of(page) for page in markdown_pages()]
    assert len(places) == len(set(places))


def test_decisions_are_listed_by_their_own_page():
    listed = (ROOT / "docs/decisions/README.md").read_text()
    for path in (ROOT / "docs/decisions").glob("0*.md"):
        assert f"({path.name})" in listed, f"docs/decisions/README.md has no line for {path.name}"
