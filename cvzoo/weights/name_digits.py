"""Recognition of published files by their hash, or by its digits in the published name."""

import hashlib
import os
from collections.abc import Mapping

from cvzoo.files.zip_archive import ZipArchive
from cvzoo.weights.record import Weights, name_digits
from cvzoo.weights.sniff import MXNET, sniff


def file_hashes(path: str | os.PathLike) -> dict[str, str]:
    """The hashes whose digits are in publishers' file names: sha256 (torchvision, timm), md5 (detectron2), and sha1 of
    the file in a zip (MXNet)."""
    hashes = {name: hashlib.new(name, usedforsecurity=False) for name in ("sha256", "sha1", "md5")}
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            for each in hashes.values():
                each.update(block)
    texts = {name: each.hexdigest() for name, each in hashes.items()}
    with open(path, "rb") as file:
        is_zip = file.read(2) == b"PK"
    if is_zip and sniff(path) == MXNET:
        with ZipArchive(path) as archive:
            inner = next(name for name in archive.names if name.endswith(".params"))
            texts["sha1"] = hashlib.sha1(archive.read(inner), usedforsecurity=False).hexdigest()
    return texts


def published_as(record: Weights, hashes: Mapping[str, str]) -> str:
    """The reason, as text, why a file with these hashes is the record's; empty if it is not known to be."""
    if record.sha256 is not None:
        return f"is {record.file_name}, by its sha256" if record.sha256 == hashes["sha256"] else ""
    digits = name_digits(record.file_name)
    for kind, value in hashes.items():
        if digits and value.startswith(digits):
            return f"is {record.file_name}: its {kind} begins with {digits}"
    return ""
