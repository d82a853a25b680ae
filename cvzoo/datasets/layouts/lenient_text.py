"""Reading what people and tools wrote, without refusing what can be understood."""

import os
import pathlib
from collections.abc import Callable, Iterable

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError


def read_leniently(path: pathlib.Path, name: str, findings: list[Finding]) -> str | None:
    """The text of an annotation file; one that is not UTF-8 is taken for Latin-1; None where it cannot be read.

    name: what findings call it; they are appended to `findings`
    """
    try:
        data = read_bytes(path)
    except DatasetError as error:
        words = str(error).splitlines()[0].removeprefix(f"{path}: ")
        findings.append(Finding(Fault.ANNOTATION_UNREADABLE, f"{path.name}: {words}", name))
        return None
    return decode_leniently(data, path, name, findings)


def decode_leniently(data: bytes, path: pathlib.Path, name: str, findings: list[Finding]) -> str | None:
    """As `read_leniently`, of the bytes that were read from the path."""
    if b"\0" in data:
        findings.append(Finding(Fault.ANNOTATION_UNREADABLE, f"{path.name}: holds zero bytes and is no text", name))
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        findings.append(
            Finding(Fault.TEXT_ENCODING, f"{path.name}: byte {error.start} (0x{byte:02x}) is no UTF-8", name)
        )
        return data.decode("latin-1")


def as_number(text: str | None) -> float | None:
    """The number that a text says, NaN and infinity among them; None if it says none."""
    try:
        return float(text) if text is not None and "_" not in text else None
    except ValueError:
        return None


def read_list(path: pathlib.Path, findings: list[Finding]) -> list[str]:
    """The lines of a list of photos, without empty ones."""
    text = read_leniently(path, path.name, findings)
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


def read_names(path: pathlib.Path, findings: list[Finding]) -> tuple[str, ...]:
    """The names of classes, a line each; an empty line between others is a class without a name."""
    lines = (read_leniently(path, path.name, findings) or "").rstrip().splitlines()
    return tuple(line.strip() for line in lines)


def display_name(path: pathlib.Path, root: pathlib.Path) -> str:
    """The path below the root, with "/" between."""
    return pathlib.PurePath(os.path.relpath(path, root)).as_posix()


def by_key(
    paths: Iterable[pathlib.Path], key: Callable[[pathlib.Path], str], findings: list[Finding]
) -> dict[str, pathlib.Path]:
    """The photos by what their annotations go by: their names without endings. The first of each is kept."""
    found: dict[str, pathlib.Path] = {}
    for path in paths:
        first = found.setdefault(key(path), path)
        if first is not path:
            words = f"{path.name} and {first.name} would share their annotations"
            findings.append(Finding(Fault.PHOTO_AMBIGUOUS, words, path.name, others=(first.name,)))
    return found


def repeated(values: list[str]) -> list[str]:
    """What stands in the list more than once, each once, in order."""
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for value in values:
        if value in seen:
            twice[value] = None
        seen.add(value)
    return list(twice)


def splits_of_lists(
    lists: dict[str, list[str]], known: dict[str, str], findings: list[Finding]
) -> dict[str, tuple[str, ...]]:
    """The names of the lists that each photo stands in.

    lists: of each list the words in it; known: the photo's name that each word stands for
    """
    found: dict[str, list[str]] = {}
    for split, words in lists.items():
        for word in repeated(words):
            findings.append(Finding(Fault.LISTED_TWICE, f"{split} names {word} more than once", known.get(word, word)))
        for word in dict.fromkeys(words):
            if word in known:
                found.setdefault(known[word], []).append(split)
            else:
                findings.append(Finding(Fault.LISTED_MISSING, f"{split} names {word}, which is not there", word))
    return {name: tuple(splits) for name, splits in found.items()}
