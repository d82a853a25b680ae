"""The repository's Markdown pages as a tree for Sphinx: the same text, with links that lead inside the site."""

import functools
import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAVIGATION = "docs/README.md"
REFERENCE = "Reference"  # the section of the navigation that begins with the API reference
# pages outside of docs/, and what they are called on the site
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    NAVIGATION: "contents.md",
}
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ \t]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_ITEM = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\)", re.MULTILINE)


class Stage:
    """A folder that Sphinx builds from.

    folder: where the pages go; what was there before is removed
    broken: what links lead nowhere, after `fill`
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.broken: list[str] = []
        self._files: list[str] = []  # of the repository, linked and no pages

    def fill(self, reference: dict[str, str]) -> None:
        """Write all pages, and those of the API reference, which are given as text by path."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for page in markdown_pages():
            head = "---\norphan: true\n---\n" if page == NAVIGATION else ""
            text = self._linked(page, (ROOT / page).read_text("utf-8"))
            self._write(place_of(page), head + text + _toctrees(page))
        for path, text in reference.items():
            self._write(f"reference/{path}.rst", text)
        for path in self._files:
            self._write_file(path)

    def _linked(self, page: str, text: str) -> str:
        parts, end = [], 0
        for fence in _FENCE.finditer(text):
            parts += [self._links(page, text[end : fence.start()]), fence[0]]
            end = fence.end()
        return "".join([*parts, self._links(page, text[end:])])

    def _links(self, page: str, text: str) -> str:
        return _LINK.sub(lambda match: f"{match[1]}{self._target(page, match[2])}{match[3]}", text)

    def _target(self, page: str, target: str) -> str:
        path, mark, anchor = target.partition("#")
        if "://" in target or not path:
            return target
        found = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if not (ROOT / found).exists() or found.startswith(".."):
            self.broken.append(f"{page}: {target}")
            return target
        if anchor and found in markdown_pages() and anchor not in anchors_of(found):
            self.broken.append(f"{page}: {target}")
        if found not in markdown_pages() and found not in self._files:
            self._files.append(found)
        return os.path.relpath(place_of(found), os.path.dirname(place_of(page)) or ".") + mark + anchor

    def _write(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")

    def _write_file(self, path: str) -> None:
        """A file or a folder of the repository that a page links to: programs and folders as pages of their own."""
        source, place = ROOT / path, place_of(path)
        if source.is_dir():
            inside = sorted(each for each in source.iterdir() if each.is_file() and not each.name.startswith("."))
            rows = "".join(self._row(os.path.relpath(each, ROOT), place) for each in inside)
            self._write(place, f"---\norphan: true\n---\n# {path}\n\n{rows}")
        elif place.endswith(".md"):
            shown = source.read_text("utf-8")
            text = shown if source.suffix == ".md" else f"# {path}\n\n``````python\n{shown}``````\n"
            self._write(place, f"---\norphan: true\n---\n{text}")
        else:
            self._copy(path, place)

    def _row(self, path: str, place: str) -> str:
        """A line of a folder's page."""
        name = os.path.basename(path)
        if path in markdown_pages():
            return f"- [{name}]({os.path.relpath(place_of(path), os.path.dirname(place))})\n"
        self._copy(path, f"{os.path.dirname(place)}/{path}")
        return f"- {{download}}`{name} <{path}>`\n"

    def _copy(self, path: str, place: str) -> None:
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, self.folder / place)


def markdown_pages() -> list[str]:
    """Paths of the pages of the site, from the repository's root."""
    inside = (str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))
    return [path for path in OUTSIDE if (ROOT / path).exists()] + [path for path in inside if path not in OUTSIDE]


@functools.cache
def anchors_of(page: str) -> frozenset[str]:
    """What a link to a heading of a page may end in: its words in lower case, with hyphens, without other signs."""
    text = _FENCE.sub(
        lambda match: match[0].strip("`") if "\n" not in match[0] else "", (ROOT / page).read_text("utf-8")
    )
    titles = (re.sub(r"[^\w\s-]", "", title.lower()) for title in re.findall(r"^#+ +(.*)$", text, re.MULTILINE))
    return frozenset(title.strip().replace(" ", "-") for title in titles)


def place_of(path: str) -> str:
    """Where a file or a folder of the repository lies below the folder that Sphinx builds from."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/") and (ROOT / path).is_file():
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir() or path.endswith(".py"):
        return f"files/{path}.md"
    return f"files/{path}"


def sections() -> list[tuple[str, list[str]]]:
    """The navigation: each section's title and the pages in it, as docs/README.md lists them."""
    parts = re.split(r"^## +(.*)$", (ROOT / NAVIGATION).read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [
        (title, [os.path.normpath(os.path.join("docs", path)) for path in _ITEM.findall(body)])
        for title, body in zip(parts[::2], parts[1::2])
    ]


def _toctrees(page: str) -> str:
    """What Sphinx is told of the order of pages: all of it on the first page, siblings on a folder's README."""
    if page == "README.md":
        first = {REFERENCE: ["reference/index"]}
        trees = [(title, first.get(title, []) + [place_of(path) for path in paths]) for title, paths in sections()]
        return "".join(_toctree(title, places) for title, places in trees)
    if page.endswith("/README.md") and page != NAVIGATION:
        folder = os.path.dirname(page)
        siblings = [path for path in markdown_pages() if os.path.dirname(path) == folder and path != page]
        return _toctree("", [os.path.basename(path) for path in siblings])
    return ""


def _toctree(caption: str, places: list[str]) -> str:
    title = [f":caption: {caption}"] if caption else []
    return "\n".join(["\n```{toctree}", ":hidden:", *title, "", *places, "```\n"])
