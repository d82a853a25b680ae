"""`cvzoo verify MODEL|FILE`: checks the hash of a model's file, its parameters, determinism and batch invariance."""

import argparse
import json
import pathlib
import urllib.parse
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.foreign_model import ForeignModel, darknet_file, darknet_model, foreign_model
from cvzoo.cli.golden import golden_complaint, golden_path, golden_record
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.load_predictor import make_member, means_file, refuse_architecture
from cvzoo.cli.model_checks import Check, check_numbers, check_predictions
from cvzoo.cli.own_architecture import own_architecture
from cvzoo.cli.photo_sources import Trouble, photo_sources, read_photo
from cvzoo.cli.result_table import printable
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import FileError, FileFormatError
from cvzoo.links.chain import Chain
from cvzoo.links.model.raw_outputs import seeded_page, seeded_photo
from cvzoo.reporting.counted import counted
from cvzoo.serializers.convert_weights import load_strictly, versions
from cvzoo.weights.cache import cached_path, is_cached
from cvzoo.weights.name_digits import file_hashes, published_as
from cvzoo.weights.record import Weights, name_digits

_MARKS = {True: "ok", False: "WRONG", None: "-"}
MAX_JSON = 64 << 20  # bytes; larger files are not read into memory


class _Subject(NamedTuple):
    """The verified model: the model, its identification, its main file or None, and the files' checks."""

    model: Chain
    why: str
    file: pathlib.Path | None
    checks: list[Check]


def run(args: argparse.Namespace) -> int:
    """0 if all is right, 1 if not. Raises FileError if the model's files are not here, and what reading them raises."""
    name = darknet_file(args, args.model)
    if name is not None:
        refuse_architecture(args.architecture, "--cfg")
        subject = _of_file(name, darknet_model(args))
    elif means_file(name := args.model):
        subject = _of_file(name, foreign_model(name, args.name, own_architecture(args.architecture)))
    else:
        refuse_architecture(args.architecture, name)
        subject = _of_member(name, args.fetch)
    images = _photos(args.photos)
    checks = [*subject.checks, check_numbers(subject.model)]
    if checks[-1].is_right:  # what is computed with NaN says nothing more
        checks += check_predictions(subject.model, images)
        if args.write_golden:
            write_json(golden_record(subject.model), _golden(subject, name))
        checks.append(_check_golden(subject))
    is_right = all(check.is_right is not False for check in checks)
    if args.json is not None:
        record = {
            "model": name,
            "class": type(subject.model).__name__,
            "why": subject.why,
            "versions": versions(),
            "is_right": is_right,
            "checks": [check._asdict() for check in checks],
        }
        if args.json == "-":
            print(as_json(record, indent=2).decode())
            return 0 if is_right else 1
        write_json(record, args.json)
    print(f"{printable(name)}: {type(subject.model).__name__}, {subject.why}")
    width = max(len(check.what) for check in checks)
    for check in checks:
        print(f"  {check.what:<{width}}  {_MARKS[check.is_right]:<5}  {printable(check.detail)}")
    return 0 if is_right else 1


# --- what is verified ---------------------------------------------------------------------------------------------


def _of_member(name: str, fetch: bool) -> _Subject:
    member = zoo_member(name)
    away = [record for record in member.files if not is_cached(record)]
    if away and not fetch:
        raise FileError(
            f"{name}: {len(away)} of {counted(len(member.files), 'file')} not here",
            expected="\n            ".join(f"{record.url}  at  {cached_path(record)}" for record in away),
            hint=f"`cvzoo verify {name} --fetch`, or put them there; `cvzoo models info {name}` says whose they are",
        )
    model = make_member(member)
    records = member.files or (member.weights,)
    return _Subject(
        model, "as the zoo has it", _path_of(member.weights), [_check_hash(_path_of(r), [r]) for r in records]
    )


def _of_file(name: str, foreign: ForeignModel) -> _Subject:
    path = pathlib.Path(name)
    records = [] if foreign.member is None else list(foreign.member.files)
    check = _check_hash(path, records)
    if foreign.member is not None and records and not check.is_right:  # trained by the user, for example
        check = Check(check.what, None, f"not one of {foreign.member.name}'s published files")
    return _Subject(load_strictly(foreign.load, name), f"the file {foreign.why}", path, [check])


def _path_of(record: Weights) -> pathlib.Path:
    parts = urllib.parse.urlsplit(record.url)
    return pathlib.Path(urllib.parse.unquote(parts.path)) if parts.scheme == "file" else cached_path(record)


def _photos(words: list[str]) -> list[np.ndarray]:
    if not words:
        return [seeded_page(), seeded_photo(), seeded_photo(seed=1), seeded_photo((200, 90), seed=2)]
    sources, _ = photo_sources(words, ())
    troubles = [source for source in sources if isinstance(source, Trouble)]
    if troubles:
        raise FileError(f"{troubles[0].name} cannot be used: {troubles[0].why}")
    # rounded to integers, which a lossless image file represents exactly
    return [np.rint(read_photo(source)).astype(np.float32) for source in sources if not isinstance(source, Trouble)]


# --- files ----------------------------------------------------------------------------------------------------------


def _check_hash(path: pathlib.Path, records: list[Weights]) -> Check:
    """Against the hash that the record or its file's name has, or that the certificate beside it has."""
    what = f"file {path.name}"
    hashes = file_hashes(path)
    for record in records:
        said = published_as(record, hashes)
        if said:
            return Check(what, True, f"the file {said}")
    certificate = path.with_suffix(".certificate.json")
    if certificate.is_file() and path.suffix.lower() == ".safetensors":  # else it is that of another file
        result = _json(certificate).get("result")
        wanted = result.get("sha256") if isinstance(result, dict) else None
        if wanted == hashes["sha256"]:
            return Check(what, True, f"as in {certificate.name}")
        return Check(what, False, f"has another sha256 than {certificate.name} says: {hashes['sha256'][:16]}...")
    for record in records:
        if wanted := record.sha256 or name_digits(record.file_name):
            return Check(what, False, f"sha256 {hashes['sha256']}, and not the published {wanted}")
    return Check(what, None, f"sha256 {hashes['sha256'][:16]}...; there is no hash to hold it to")


def _golden(subject: _Subject, name: str) -> pathlib.Path:
    if subject.file is None:
        raise FileError(f"{name} has no file that anything could be stored beside")
    return golden_path(subject.file)


def _check_golden(subject: _Subject) -> Check:
    path = None if subject.file is None else golden_path(subject.file)
    if path is None or not path.is_file():
        return Check("golden outputs", None, "none are stored for it")
    complaint = golden_complaint(_json(path), subject.model)
    return Check("golden outputs", not complaint, complaint or f"as in {path.name}")


def _json(path: pathlib.Path) -> dict[str, Any]:
    if path.stat().st_size > MAX_JSON:
        raise FileFormatError(f"{path}: the file is too large for its format")
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: is damaged: {str(error)[:80]}") from error
    return value if isinstance(value, dict) else {}
