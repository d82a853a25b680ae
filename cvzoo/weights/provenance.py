"""Descriptions of weights: origin, license, score and hash, as text."""

import dataclasses
import urllib.parse
from collections.abc import Iterable, Mapping

from cvzoo.weights.cache import cached_path, is_cached
from cvzoo.weights.record import Weights, name_digits


@dataclasses.dataclass(frozen=True)
class WeightsRow:
    """One line of a list of weights; `size` in bytes or None."""

    name: str
    licence: str
    data: str
    score: str
    size: int | None
    is_cached: bool


def list_weights(records: Iterable[Weights]) -> list[WeightsRow]:
    """A row for each record, sorted by name."""
    rows = [WeightsRow(r.name, r.licence, r.data, _pairs(r.score), r.size, is_cached(r)) for r in records]
    return sorted(rows, key=lambda row: row.name.casefold())


def describe_weights(record: Weights) -> list[tuple[str, str]]:
    """(name, value) for all fields of the record, and the path of its file in the cache."""
    preprocessing = record.preprocessing
    lines = [
        ("name", record.name),
        ("source", record.source),
        ("licence", record.licence),
        ("trained on", record.data),
        ("data licence", record.data_licence),
        ("score", _pairs(record.score)),
        ("labels", _labels(record.label_names)),
        ("preprocessing", preprocessing if isinstance(preprocessing, str) else _pairs(preprocessing)),
        ("url", "" if _is_local(record) else record.url),
        *(("mirror", mirror) for mirror in record.mirrors),
        *_hash(record),
        ("size", _size(record)),
        ("file", _place(record)),
    ]
    return [(what, value) for what, value in lines if value]


def _hash(record: Weights) -> list[tuple[str, str]]:
    if record.sha256 is not None:
        return [("sha256", record.sha256)]
    first = "the first file that proves to be this model's is kept as what it must be"
    digits = name_digits(record.file_name)
    if digits is None:
        return [("sha256", f"not published; {first}")]
    return [("sha256", f"not published whole; {len(digits)} digits of a hash, in the name, are checked, and {first}")]


def _size(record: Weights) -> str:
    if record.size is not None:
        return f"{record.size} bytes"
    return "not known" if record.about_size is None else f"about {record.about_size / 1e6:.1f} MB"


def _is_local(record: Weights) -> bool:
    return record.url.startswith("file:")


def _place(record: Weights) -> str:
    if _is_local(record):
        return urllib.parse.unquote(urllib.parse.urlsplit(record.url).path)
    return f"{cached_path(record)}{'' if is_cached(record) else ' (not fetched yet)'}"


def _pairs(values: Mapping) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _labels(names: tuple[str, ...]) -> str:
    if len(names) <= 8:
        return ", ".join(names)
    return f"{len(names)}: {', '.join(names[:3])}, ..., {names[-1]}"
