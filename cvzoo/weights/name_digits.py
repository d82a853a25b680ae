"""The first digits of its hash that a published file carries in its name, and whether they are its own."""

import hashlib
import os
import re
from collections.abc import Mapping

from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import MXNET, sniff
from cvzoo.weights.zip_archive import ZipArchive

_DIGITS = re.compile(r"[-_]([0-9a-f]{6,64})\.[a-z0-9]+$")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")


def name_digits(file_name: str) -> str | None:
    """The digits, such as "0676ba61" of "resnet50-0676ba61.pth"; None if there are none, or they are a date."""
    match = _DIGITS.search(file_name)
    return match[1] if match and not _DATE.fullmatch(match[1]) else None


def file_hashes(path: str | os.PathLike) -> dict[str, str]:
    """The hashes that publishers take digits of: torchvision and timm sha256, detectron2 md5, gluon-cv the sha1 of what
    is in the zip."""
    found = {name: hashlib.new(name, usedforsecurity=False) for name in ("sha256", "sha1", "md5")}
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            for each in found.values():
                each.update(block)
    texts = {name: each.hexdigest() for name, each in found.items()}
    with open(path, "rb") as file:
        is_zip = file.read(2) == b"PK"
    if is_zip and sniff(path) == MXNET:
        with ZipArchive(path) as archive:
            inner = next(name for name in archive.names if name.endswith(".params"))
            texts["sha1"] = hashlib.sha1(archive.read(inner), usedforsecurity=False).hexdigest()
    return texts


def published_as(record: Weights, hashes: Mapping[str, str]) -> str:
    """In words, how it is known that the file with these hashes is the record's; empty if it is not known."""
    if record.sha256 is not None:
        return f"is {record.file_name}, by its sha256" if record.sha256 == hashes["sha256"] else ""
    digits = name_digits(record.file_name)
    for kind, value in hashes.items():
        if digits and value.startswith(digits):
            return f"is {record.file_name}: its {kind} begins with {digits}"
    return ""
