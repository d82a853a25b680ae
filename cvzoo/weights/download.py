"""Downloads of records' files to the cache: once for all processes, resumable, and verified."""

import functools
import logging
import os
import pathlib
from collections.abc import Callable

from cvzoo.errors.exceptions import ConfigError, CvzooError, DownloadError
from cvzoo.files.atomic_write import atomic_write, sync_folder
from cvzoo.files.file_hash import remembered_sha256, sha256_of
from cvzoo.files.file_lock import file_lock
from cvzoo.weights import unproven
from cvzoo.weights.cache import cached_path
from cvzoo.weights.check_kind import check_weights, refuse_page
from cvzoo.weights.name_digits import file_hashes, published_as
from cvzoo.weights.record import Weights, name_digits
from cvzoo.weights.transfer import transfer

_log = logging.getLogger("cvzoo.weights")
Check = Callable[[pathlib.Path], None]


def fetch_weights(
    record: Weights, *, progress: Callable[[int, int | None], object] | None = None, pin: bool = True
) -> pathlib.Path:
    """The path of the record's file in the cache, downloaded first if it is missing or incomplete.

    progress: called from time to time with (downloaded bytes, total bytes or None)
    pin: without a full published hash, read the file, and if it contains arrays, pin its hash as the expected one;
        False: the caller compares names and shapes with a model and calls `pin_weights` if they match. A file that was
        never pinned is downloaded again by the next process.
    Environment: CVZOO_HOME, the folder of the cache; CVZOO_OFFLINE=1 forbids the network.
    Raises DownloadError if the file is missing while offline (with the path where to put it), if no URL works, or for
    a wrong hash.
    """
    check = functools.partial(check_weights, name=record.file_name, read_all=pin)
    return _fetched(record, cached_path(record), progress, check, pin)


def pin_weights(path: str | os.PathLike) -> None:
    """Pin the hash of a file as the expected one, since its arrays match a model. Does nothing if the hash is known, or
    the file is not from `fetch_weights`."""
    path = pathlib.Path(path)
    if unproven.is_expected(path):
        if not _pin_path(path).exists():
            _pin(path, remembered_sha256(path))
        unproven.clear(path, remove=True)


def fetch_to(
    record: Weights, path: pathlib.Path, *, progress: Callable[[int, int | None], object] | None = None
) -> pathlib.Path:
    """As `fetch_weights`, to any path and for any kind of file.

    Without a hash, only web pages are refused.
    """
    return _fetched(record, path, progress, refuse_page, True)


def _fetched(record: Weights, path: pathlib.Path, progress: Callable | None, check: Check, pin: bool) -> pathlib.Path:
    """The path, after the right file is there.

    check: raises a CvzooError for an implausible file without a full hash
    """
    problem = _problem(path, record, check, pin)
    if problem is None:
        return path
    if _is_offline():
        raise DownloadError(
            f"weights {record.name!r}: {problem}, and CVZOO_OFFLINE forbids the download",
            expected=_wanted(record),
            hint=f"download {record.url} elsewhere and put it at {path}",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(path.with_name(f".{path.name}.lock")):
            if _problem(path, record, check, pin) is not None:  # another process may have downloaded it meanwhile
                _fetch(record, path, progress, check, pin)
    except OSError as error:
        raise DownloadError(
            f"weights {record.name!r}: cannot be stored at {path}: {error}",
            hint="set CVZOO_HOME to a writable folder with enough space",
        ) from error
    return path


def _wanted(record: Weights) -> str:
    size = "" if record.size is None else f", {record.size} bytes"
    return f"{record.file_name}{size}, sha256 {record.sha256 or 'not published'}"


def _is_offline() -> bool:
    value = os.environ.get("CVZOO_OFFLINE", "").strip().lower()
    if value not in ("", "0", "1", "false", "true", "no", "yes"):
        raise ConfigError("CVZOO_OFFLINE is neither 0 nor 1", got=value)
    return value in ("1", "true", "yes")


def _has_wrong_digits(record: Weights, path: pathlib.Path) -> bool:
    return name_digits(record.file_name) is not None and not published_as(record, file_hashes(path))


def _pin_path(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(f"{path.name}.sha256")


def _wanted_sha256(record: Weights, path: pathlib.Path) -> str | None:
    """The record's hash, or the one pinned at the first download, or None."""
    if record.sha256 is not None:
        return record.sha256
    try:
        pinned = _pin_path(path).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return pinned[0] if pinned else None


def _problem(path: pathlib.Path, record: Weights, check: Check, pin: bool) -> str | None:
    """The problem of the file in the cache, or None."""
    try:
        if not path.is_file():
            return "the file is not in the cache"
        size = path.stat().st_size
        if record.size is not None and size != record.size:
            return f"the file in the cache has {size} bytes instead of {record.size}"
        expected_sha256 = _wanted_sha256(record, path)
        if expected_sha256 is None:
            if _has_wrong_digits(record, path):
                return f"the hash of the file in the cache does not begin with {name_digits(record.file_name)}"
            if unproven.is_abandoned(path):
                return "the file in the cache was fetched, but no model ever took it"
            if not unproven.is_expected(path):
                check(path)
            _keep(path, pin)
        elif remembered_sha256(path) != expected_sha256:
            return "the file in the cache has another sha256"
    except OSError as error:
        return f"the file in the cache cannot be read ({error})"
    except CvzooError as error:
        return f"the file in the cache is another one: {_first_line(error)}"
    return None


def _keep(path: pathlib.Path, pin: bool) -> None:
    """Pin the hash of a checked file without a full published hash, or leave that to `pin_weights`."""
    if pin:
        _pin(path, remembered_sha256(path))
        unproven.clear(path, remove=True)
    else:
        unproven.expect(path)


def _first_line(error: CvzooError) -> str:
    return str(error).split("\n", 1)[0]


def _pin(path: pathlib.Path, sha256: str) -> None:
    try:
        with atomic_write(_pin_path(path)) as file:
            file.write(f"{sha256}  {path.name}\n".encode("ascii"))
    except OSError:
        return  # a read-only cache
    _log.warning("%s: its publisher states no full hash; the expected sha256 is now %s", path, sha256)


def _fetch(record: Weights, path: pathlib.Path, progress: Callable | None, check: Check, pin: bool) -> None:
    part = path.with_name(f".{path.name}.part")
    failures = []
    for url in (record.url, *record.mirrors):
        try:
            transfer(url, part, size=record.size, progress=progress)
            _verify(record, path, part, check)
        except DownloadError as error:
            failures.append(f"{url}: {error}")
            continue
        is_known = _wanted_sha256(record, path) is not None
        if not is_known and not pin:
            unproven.mark(path)  # before the rename, so that the file is not trusted if the process ends here
        os.replace(part, path)
        sync_folder(path.parent)
        if not is_known:
            _keep(path, pin)
        return
    raise DownloadError(
        f"weights {record.name!r}: no URL returned the file\n  " + "\n  ".join(failures),
        expected=_wanted(record),
        hint=f"put it at {path} manually, or try again later",
    )


def _verify(record: Weights, path: pathlib.Path, part: pathlib.Path, check: Check) -> None:
    expected_sha256 = _wanted_sha256(record, path)
    if expected_sha256 is None and _has_wrong_digits(record, part):
        part.unlink(missing_ok=True)
        raise DownloadError(
            f"{record.name}: the hash does not match the digits in the file name; the file was removed",
            expected=f"a hash that begins with {name_digits(record.file_name)}",
            hint="the publisher has replaced the file; find its new name",
        )
    if expected_sha256 is None:
        _check_file(part, check)
        return
    got_sha256 = sha256_of(part)
    if got_sha256 != expected_sha256:
        part.unlink(missing_ok=True)
        pinned = None if record.sha256 else f"if the publisher has replaced the file, remove {_pin_path(path)}"
        raise DownloadError(
            "the file has the wrong sha256 and was removed", expected=expected_sha256, got=got_sha256, hint=pinned
        )


def _check_file(part: pathlib.Path, check: Check) -> None:
    try:
        check(part)
    except CvzooError as error:
        part.unlink(missing_ok=True)
        raise DownloadError(f"the download is of another format and was removed: {error}") from error
