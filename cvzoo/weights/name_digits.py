"""Whether a file is a published one: by its hash, or by the digits of it in the published name."""

import hashlib
import os
from collections.abc import Mapping

from cvzoo.files.zip_archive import ZipArchive
from cvzoo.weights.record import Weights, name_digits
from cvzoo.weights.sniff import MXNET, sniff


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
