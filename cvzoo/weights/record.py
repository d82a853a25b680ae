"""Records of published weights: URL, hash, license, score and preprocessing."""

import dataclasses
import math
import pathlib
import re
import urllib.parse
from collections.abc import Mapping
from typing import Literal, NamedTuple

from cvzoo.errors.exceptions import DtypeError, ValueRangeError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")
_HEX = re.compile(r"[0-9a-f]{64}")
SCHEMES = ("https", "http", "file")
_DIGITS = re.compile(r"[-_]([0-9a-f]{6,64})\.[a-z0-9]+$")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")

PublishedHash = Literal["sha256", "digits", "none"]


def name_digits(file_name: str) -> str | None:
    """The first digits of the hash in the name of a published file, such as "0676ba61" of "resnet50-0676ba61.pth"; None
    without digits, or if they are a date."""
    match = _DIGITS.search(file_name)
    return match[1] if match and not _DATE.fullmatch(match[1]) else None


class Signature(NamedTuple):
    """What distinguishes a network's state dict from all others: the number of its arrays, without torch's counts of
    batches, and the shape of one whose shape does not depend on the classes, nor its name on the version."""

    n_array: int
    array: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weights:
    """A record of one file of weights, which is validated on creation.

    name: unique, such as "yolo_fastest_coco"; letters, digits and ._+-
    url, mirrors: URLs of the same bytes: https, http or file; tried in this order
    sha256: 64 lower-case hexadecimal digits; None if not published: the hash of the first file that matches the model
        is then pinned
    size: bytes, or None; a file of a different size is refused
    about_size: bytes, rounded, if the publisher does not state more; not enforced
    licence: of the weights, as text or SPDX name; "not stated" if the publisher does not state it
    data, data_licence: training data, and its license
    score: published, or measured by cvzoo, such as {"AP50": 0.268}
    source: authors, and the commit or version
    label_names: class names in the order of the outputs
    preprocessing: of images, as text or a small table
    file_name: name of the file in the cache; by default as in the URL
    signature: of the network; None: not known
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
    signature: Signature | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueRangeError("Weights: name must be letters, digits and ._+-", got=repr(self.name)[:80])
        for field in ("licence", "data", "data_licence", "source"):
            text = self.__dict__[field]
            if not isinstance(text, str) or not text.strip():
                raise self._error(field, "a few words, or 'not stated'", text)
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
        """The published hash: "sha256", a full one; "digits", the first ones of a hash, in the file's name; "none"."""
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
