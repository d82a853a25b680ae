"""The built site: strict, complete, searchable, and asking nobody else for anything."""

import fcntl
import json
import os
import re

import pytest
from site_checks import requests_elsewhere
from site_names import public_names

pytest.importorskip("sphinx", reason='the documentation is built with pip install "cvzoo[docs]"')
pytest.importorskip("furo", reason='the documentation is built with pip install "cvzoo[docs]"')
pytest.importorskip("myst_parser", reason='the documentation is built with pip install "cvzoo[docs]"')
pytestmark = [
    pytest.mark.slow,  # a minute
    pytest.mark.filterwarnings("ignore"),  # those of other people's packages; Sphinx's own are errors, see build_site
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    from build_site import build

    if "PYTEST_XDIST_WORKER" not in os.environ:
        out = tmp_path_factory.mktemp("documentation") / "site"
        assert build(out) == 0
        return out
    # the processes of one run share the site, which takes minutes: the first builds it, the others wait
    out = tmp_path_factory.getbasetemp().parent / "documentation" / "site"
    out.parent.mkdir(exist_ok=True)
    with open(out.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out.parent / "built").exists():
            assert build(out) == 0
            (out.parent / "built").touch()
    return out


@pytest.fixture(scope="module")
def index(site):
    """What the search of the site looks through."""
    text = (site / "searchindex.js").read_text()
    return json.loads(re.fullmatch(r"Search\.setIndex\((.*)\);?\s*", text, re.DOTALL)[1])


def test_the_first_page_and_every_page_are_there(site):
    assert "<h1>cvzoo" in (site / "index.html").read_text()
    for page in ("zoo", "reference/index", "reference/cvzoo.geometry", "decisions/README", "search", "contributing"):
        assert (site / f"{page}.html").is_file()


def test_nothing_is_asked_of_another_origin(site):
    assert requests_elsewhere(site) == []


def test_each_public_name_has_an_entry_with_its_source(site):
    text = "\n".join(path.read_text() for path in (site / "reference").glob("*.html"))
    ids = set(re.findall(r'<dt class="[^"]*" id="([\w.]+)"', text))
    assert not sorted({each.path for each in public_names()} - ids)
    for address in set(re.findall(r'href="\.\./(source/[^"#]+)', text)):
        assert (site / address).is_file()


def test_the_search_knows_the_fields_words(index):
    from snowballstemmer import stemmer

    stem = stemmer("english").stemWord

    def pages_with(words):
        found = [index["terms"].get(stem(word)) for word in words.replace("-", " ").split()]
        assert all(each is not None for each in found), words
        return set.intersection(*(set(each if isinstance(each, list) else [each]) for each in found))

    for words in ("logits", "learning rate", "non-maximum suppression", "checkpoint", "semantic segmentation"):
        assert pages_with(words), f"no page has the words {words!r}"


def test_a_search_finds_public_names(index):
    names = {name for group in index["objects"].values() for *_, name in group} if index["objects"] else set()
    assert {"nms", "ResNet50", "SerialIterator"} <= names
