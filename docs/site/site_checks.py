"""What a built site must not do: ask another origin for anything."""

import pathlib
import re
from html.parser import HTMLParser

_LOADING = {"src", "srcset", "poster", "data", "action"}  # attributes whose address a browser loads, or sends to
_IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


def requests_elsewhere(site: pathlib.Path) -> list[str]:
    """What the pages and styles of a site would load from another host, a line each; links to follow do not count."""
    found = []
    for path in sorted(site.rglob("*.html")):
        parser = _Loads()
        parser.feed(path.read_text("utf-8"))
        found += [f"{path.relative_to(site)}: {address}" for address in parser.addresses]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)}: {address}" for address in _IN_STYLES.findall(path.read_text("utf-8"))]
    return found


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_loaded = name in _LOADING or (tag == "link" and name == "href")
            if is_loaded and value and re.match(r"(?:https?:)?//", value.strip()):
                self.addresses.append(value)

    def handle_data(self, data: str) -> None:
        self.addresses += _IN_STYLES.findall(data) if "@import" in data else []
