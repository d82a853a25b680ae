"""What is known of a file of published weights: where it lies, what it is, who may use it, how well it does."""

import dataclasses
import math
import pathlib
import re
import urllib.parse
from collections.abc import Mapping
from typing import Literal

from cvzoo.errors.exceptions import DtypeError, ValueRangeError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")
_HEX = re.compile(r"[0-9a-f]{64}")
SCHEMES = ("https", "http", "file")
_DIGITS = re.compile(r"[-_]([0-9a-f]{6,64})\.[a-z0-9]+$")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")

PublishedHash = Literal["sha256", "digits", "none"]


def name_digits(file_name: str) -> str | None:
    """The first digits of its hash that a published file carries in its name, such as "0676ba61" of
    "resnet50-0676ba61.pth"; None if there are none, or they are a date."""
    match = _DIGITS.search(file_name)
    return match[1] if match and not _DATE.fullmatch(match[1]) else None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weights:
    """A record of one file of weights; it checks itself when it is made.

    name: what a user asks for, unique, such as "yolo_fastest_coco"; letters, digits and ._+-
    url, mirrors: where the same bytes can be had: https, http or file; tried in this order
    sha256: 64 lower-case hexadecimal digits; None if the publisher gave none: that of the first file which proves to
        be this model's is then kept
    size: bytes, or None; a file of another size is refused
    about_size: bytes, rounded, where the publisher says no more; nothing is held to it
    licence: of the weights, in words or as an SPDX name; "not stated" where the publisher says nothing
    data, data_licence: what they were trained on, and its licence
    score: what the publisher or our own evaluation reached, such as {"AP50": 0.268}
    source: who made them, and the commit or version
    label_names: the classes in the order of the outputs
    preprocessing: how an image is prepared, in words or as a small table
    file_name: what the file is called in the cache; by default as in the url
    Raises ValueRangeError or DtypeError that names the record and the field.
    """

    name: str
    url: str
    sha256: str | None
    size: int | None = None
    about_size: int | None = None
    licence: str
    data: str
    data_licence: str
    source: str
    mirrors: tuple[str, ...] = ()
    score: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    label_names: tuple[str, ...] = ()
    preprocessing: str | Mapping[str, object] = dataclasses.field(default="", hash=False)
    file_name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueRangeError("Weights: name must be letters, digits and ._+-", got=repr(self.name)[:80])
        for field in ("licence", "data", "data_licence", "source"):
            text = self.__dict__[field]
            if not isinstance(text, str) or not text.strip():
                raise self._error(field, "a few words; 'not stated' where nobody says", text)
        for field in ("mirrors", "label_names"):
            texts = self.__dict__[field]
            if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
                raise DtypeError(f"Weights {self.name!r}: {field} must be a tuple of str", got=repr(texts)[:80])
            object.__setattr__(self, field, tuple(texts))
        self._check_url("url", self.url)
        for mirror in self.mirrors:
            self._check_url("mirrors", mirror)
        if self.sha256 is not None and not (isinstance(self.sha256, str) and _HEX.fullmatch(self.sha256)):
            raise self._error("sha256", "64 lower-case hexadecimal digits, or None", self.sha256)
        for field in ("size", "about_size"):
            n = self.__dict__[field]
            if n is not None and (type(n) is not int or n <= 0):
                raise self._error(field, "a number of bytes, or None", n)
        for metric, value in self.score.items():
            if not isinstance(metric, str) or isinstance(value, bool) or not isinstance(value, (int, float)):
                raise self._error("score", "a table of names and numbers", self.score)
            if not math.isfinite(value):
                raise self._error("score", "finite numbers", self.score)
        object.__setattr__(self, "score", dict(self.score))
        if not self.file_name:
            last = pathlib.PurePosixPath(urllib.parse.unquote(urllib.parse.urlsplit(self.url).path)).name
            object.__setattr__(self, "file_name", last)
        if not isinstance(self.file_name, str) or not _NAME.fullmatch(self.file_name):
            raise self._error("file_name", "a plain name of letters, digits and ._+-", self.file_name)

    @property
    def published_hash(self) -> PublishedHash:
        """What the publisher gives to check the file by: "sha256", the whole; "digits", the first ones of some hash, in
        the file's name; "none"."""
        if self.sha256 is not None:
            return "sha256"
        return "none" if name_digits(self.file_name) is None else "digits"

    def _error(self, field: str, expected: str, got: object) -> ValueRangeError:
        return ValueRangeError(f"Weights {self.name!r}: {field} is wrong", expected=expected, got=repr(got)[:80])

    def _check_url(self, field: str, url: object) -> None:
        parts = urllib.parse.urlsplit(url) if isinstance(url, str) else None
        if (
            not isinstance(url, str)
            or parts is None
            or parts.scheme not in SCHEMES
            or (parts.scheme != "file" and not parts.hostname)
            or parts.username is not None
            or any(ord(letter) <= 32 for letter in url)
        ):
            expected = f"an address that begins with {', '.join(SCHEMES)}, without blanks and without a user's name"
            raise self._error(field, expected, url)
