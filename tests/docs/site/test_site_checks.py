"""What counts as a request to another origin."""

import pytest
from site_checks import requests_elsewhere


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.org/b.css">',
        '<img src="http://example.org/c.png">',
        '<form action="https://example.org/search"></form>',
        "<style>@import 'https://example.org/d.css';</style>",
    ],
)
def test_what_a_browser_loads_from_elsewhere_is_found(tmp_path, text):
    (tmp_path / "a.html").write_text(f"<html><body>{text}</body></html>")
    assert len(requests_elsewhere(tmp_path)) == 1


def test_fonts_of_a_style_are_found(tmp_path):
    (tmp_path / "a.css").write_text("@font-face { src: url(https://example.org/e.woff2) }")
    assert requests_elsewhere(tmp_path) == ["a.css: https://example.org/e.woff2"]


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://arxiv.org/abs/1512.02325">a paper</a>',  # a link waits for a click
        '<img src="data:image/png;base64,AAAA"><script src="../b.js"></script>',
        "<code>@import in a sentence</code>",
    ],
)
def test_links_and_the_sites_own_files_are_not(tmp_path, text):
    (tmp_path / "a.html").write_text(text)
    assert requests_elsewhere(tmp_path) == []
