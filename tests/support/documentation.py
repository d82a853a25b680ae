"""The fenced blocks of a page, and the commands in them."""

import pathlib
import re
import shlex
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
_OF_DOCS = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md")]
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(path.relative_to(ROOT).as_posix() for path in _OF_DOCS)]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """What stands between two fences: its page, the line of its first line, its language, its text."""

    page: str
    line: int
    language: str
    text: str

    @property
    def key(self):
        """The page and the first line, by which tables name a block."""
        return self.page, self.text.split("\n", 1)[0]


def blocks_of(page):
    """The blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(page, text.count("\n", 0, match.start()) + 2, match[1], match[2]) for match in _FENCE.finditer(text)]


def commands_of(text):
    """The commands of a block of a shell, each a list of words; comments, and what follows `#`, are left out."""
    commands = []
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        while "&&" in words:
            commands.append(words[: words.index("&&")])
            words = words[words.index("&&") + 1 :]
        commands.append(words)
    return [words for words in commands if words]


def is_as_shown(shown, real):
    """Whether a text is what a page shows of it: `...` stands for anything, a step's time for any time, and columns may
    be as wide as they like."""
    pattern = re.escape(_without_times(shown)).replace(re.escape("..."), r"[\s\S]*?")
    return re.fullmatch(pattern, _without_times(real)) is not None


def _without_times(text):
    """Rows of `graph.summary()` with a mark for the milliseconds, and one space for many."""
    row = r"^( *\d+  \S+ +\S+(?: \S+)* +)\d+\.\d{3}"  # number, function, kernel of some words
    return re.sub(r" +", " ", re.sub(row, r"\1TIME", text.strip(), flags=re.MULTILINE))
