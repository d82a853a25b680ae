"""Finds faults of file names and of lists."""

import collections
import unicodedata
from collections.abc import Iterator

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.splits import leak
from cvzoo.datasets.layouts.annotated_set import AnnotatedSet


def check_files(annotated: AnnotatedSet) -> Iterator[Finding]:
    """The faults of the data set's file names and lists."""
    if not annotated.images:
        yield Finding(Fault.NO_PHOTOS, f"{annotated.root} contains neither images nor annotations")
    folded = collections.defaultdict(list)
    for image in annotated.images:
        folded[unicodedata.normalize("NFC", image.name).casefold()].append(image.name)
        trouble = name_trouble(image.name)
        if trouble is not None:
            yield Finding(Fault.NAME_ENCODING, trouble, image.name)
        both = leak(image.splits)
        if both is not None:
            yield Finding(Fault.IN_TWO_SPLITS, f"{both[0]} and {both[1]}", image.name)
        if annotated.splits and annotated.kind != "coco" and not image.splits:
            yield Finding(Fault.NOT_LISTED, f"not in {', '.join(annotated.splits)}", image.name)
    for first, *names in folded.values():
        for name in names:
            words = f"{name} and {first} are the same file on case-insensitive file systems"
            yield Finding(Fault.NAME_CASE, words, name, others=(first,))


def name_trouble(name: str) -> str | None:
    """The problem of a file name's characters, None without any."""
    is_ascii = name.isascii()
    if not is_ascii and any(0xDC80 <= ord(letter) <= 0xDCFF for letter in name):  # Python's surrogate escapes
        return "the name's bytes are not UTF-8"
    if "\ufffd" in name:
        return "the name contains replacement characters (U+FFFD)"
    if not name.isprintable():
        return f"the name contains unprintable characters: {name!r}"
    if not is_ascii and unicodedata.normalize("NFC", name) != name:
        return "the name is not normalized (NFC): its accents are separate characters"
    if name != name.strip():
        return "the name begins or ends with whitespace"
    return None
