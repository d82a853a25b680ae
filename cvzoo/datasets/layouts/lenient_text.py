"""Reads annotation files leniently: faults become findings instead of errors."""

import os
import pathlib
from collections.abc import Callable, Iterable

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError


def read_leniently(path: pathlib.Path, name: str, findings: list[Finding]) -> str | None:
    """The text of an annotation file, decoded as Latin-1 if it is not UTF-8; None if it cannot be read.

    name: the name of the image in findings, which are appended to `findings`
    """
    try:
        data = read_bytes(path)
    except DatasetError as error:
        words = str(error).splitlines()[0].removeprefix(f"{path}: ")
        findings.append(Finding(Fault.ANNOTATION_UNREADABLE, f"{path.name}: {words}", name))
        return None
    return decode_leniently(data, path, name, findings)


def decode_leniently(data: bytes, path: pathlib.Path, name: str, findings: list[Finding]) -> str | None:
    """Like `read_leniently`, for bytes that were read from the path."""
    if b"\0" in data:
        findings.append(Finding(Fault.ANNOTATION_UNREADABLE, f"{path.name}: contains null bytes, so is not text", name))
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        findings.append(
            Finding(Fault.TEXT_ENCODING, f"{path.name}: byte {error.start} (0x{byte:02x}) is not UTF-8", name)
        )
        return data.decode("latin-1")


def as_number(text: str | None) -> float | None:
    """The number of a text, which may be NaN or infinite; None if it is not a number."""
    try:
        return float(text) if text is not None and "_" not in text else None
    except ValueError:
        return None


def read_list(path: pathlib.Path, findings: list[Finding]) -> list[str]:
    """The non-empty lines of a list of images."""
    text = read_leniently(path, path.name, findings)
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


def read_names(path: pathlib.Path, findings: list[Finding]) -> tuple[str, ...]:
    """The class names, one per line; an empty line between others is a class without a name."""
    lines = (read_leniently(path, path.name, findings) or "").rstrip().splitlines()
    return tuple(line.strip() for line in lines)


def display_name(path: pathlib.Path, root: pathlib.Path) -> str:
    """The path relative to the root, with "/"."""
    return pathlib.PurePath(os.path.relpath(path, root)).as_posix()


def by_key(
    paths: Iterable[pathlib.Path], key: Callable[[pathlib.Path], str], findings: list[Finding]
) -> dict[str, pathlib.Path]:
    """The images by the key that assigns annotations to them: the name without extension. The first of each is kept."""
    images: dict[str, pathlib.Path] = {}
    for path in paths:
        first = images.setdefault(key(path), path)
        if first is not path:
            words = f"{path.name} and {first.name} have the same annotations"
            findings.append(Finding(Fault.PHOTO_AMBIGUOUS, words, path.name, others=(first.name,)))
    return images


def repeated(values: list[str]) -> list[str]:
    """The values that occur more than once, in order."""
    seen: set[str] = set()
    duplicates: dict[str, None] = {}
    for value in values:
        if value in seen:
            duplicates[value] = None
        seen.add(value)
    return list(duplicates)


def splits_of_lists(
    lists: dict[str, list[str]], known: dict[str, str], findings: list[Finding]
) -> dict[str, tuple[str, ...]]:
    """The names of the splits of each image.

    lists: the lines of each split's list; known: the image's name, by line
    """
    splits_of: dict[str, list[str]] = {}
    for split, words in lists.items():
        for word in repeated(words):
            findings.append(Finding(Fault.LISTED_TWICE, f"{split} lists {word} more than once", known.get(word, word)))
        for word in dict.fromkeys(words):
            if word in known:
                splits_of.setdefault(known[word], []).append(split)
            else:
                findings.append(Finding(Fault.LISTED_MISSING, f"{split} lists {word}, which does not exist", word))
    return {name: tuple(splits) for name, splits in splits_of.items()}
