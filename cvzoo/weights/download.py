"""Fetching a record's file into the cache: once for all processes, resumed after a break, and verified."""

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
Look = Callable[[pathlib.Path], None]


def fetch_weights(
    record: Weights, *, progress: Callable[[int, int | None], object] | None = None, pin: bool = True
) -> pathlib.Path:
    """The path of the record's file in the cache, fetched first if it is not there or not whole.

    progress: called now and then with (bytes so far, bytes in all or None)
    pin: where the publisher gives no whole hash, read the file, and if it holds arrays keep its hash as the one it must
        have; False: the caller compares names and shapes with a model and says `pin_weights` when they fit. A file
        of which that was never said is fetched again by the next process.
    Environment: CVZOO_HOME, where the cache is; CVZOO_OFFLINE=1, never to use the network.
    Raises DownloadError: offline and absent (it says which file to put where), no address gave the file, wrong hash.
    """
    look = functools.partial(check_weights, name=record.file_name, whole=pin)
    return _fetched(record, cached_path(record), progress, look, pin)


def pin_weights(path: str | os.PathLike) -> None:
    """Keep the hash of the file as the one it must have, since its arrays fit a model; nothing if that is known, or the
    file is not one that `fetch_weights` gave."""
    path = pathlib.Path(path)
    if unproven.is_expected(path):
        if not _pin_path(path).exists():
            _pin(path, remembered_sha256(path))
        unproven.clear(path, remove=True)


def fetch_to(
    record: Weights, path: pathlib.Path, *, progress: Callable[[int, int | None], object] | None = None
) -> pathlib.Path:
    """As `fetch_weights`, with the file at another path; other rooms fetch their own kinds of files with it.

    Without a hash, only web pages are refused.
    """
    return _fetched(record, path, progress, refuse_page, True)


def _fetched(record: Weights, path: pathlib.Path, progress: Callable | None, look: Look, pin: bool) -> pathlib.Path:
    """The path, with the right file there.

    look: raises a CvzooError for a file without a whole hash that cannot be the right one
    """
    problem = _problem(path, record, look, pin)
    if problem is None:
        return path
    if _is_offline():
        raise DownloadError(
            f"weights {record.name!r}: {problem}, and CVZOO_OFFLINE forbids to fetch it",
            expected=_wanted(record),
            hint=f"fetch {record.url} elsewhere and put it at {path}",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(path.with_name(f".{path.name}.lock")):
            if _problem(path, record, look, pin) is not None:  # somebody else may have fetched it while we waited
                _fetch(record, path, progress, look, pin)
    except OSError as error:
        raise DownloadError(
            f"weights {record.name!r}: cannot be kept at {path}: {error}",
            hint="set CVZOO_HOME to a folder with room where you may write",
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


def _problem(path: pathlib.Path, record: Weights, look: Look, pin: bool) -> str | None:
    """Why the file in the cache will not do, or None if it will."""
    try:
        if not path.is_file():
            return "the file is not in the cache"
        size = path.stat().st_size
        if record.size is not None and size != record.size:
            return f"the file in the cache has {size} bytes instead of {record.size}"
        want = _wanted_sha256(record, path)
        if want is None:
            if _has_wrong_digits(record, path):
                return f"the hash of the file in the cache does not begin with {name_digits(record.file_name)}"
            if unproven.is_abandoned(path):
                return "the file in the cache was fetched, but no model ever took it"
            if not unproven.is_expected(path):
                look(path)
            _keep(path, pin)
        elif remembered_sha256(path) != want:
            return "the file in the cache has another sha256"
    except OSError as error:
        return f"the file in the cache cannot be read ({error})"
    except CvzooError as error:
        return f"the file in the cache is another one: {_first_line(error)}"
    return None


def _keep(path: pathlib.Path, pin: bool) -> None:
    """What becomes of a file without a whole hash, once it was looked at."""
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
        return  # a cache that others fill and we only read
    _log.warning("%s: its publisher gives no whole hash; from now on it must be sha256 %s", path, sha256)


def _fetch(record: Weights, path: pathlib.Path, progress: Callable | None, look: Look, pin: bool) -> None:
    part = path.with_name(f".{path.name}.part")
    failures = []
    for url in (record.url, *record.mirrors):
        try:
            transfer(url, part, size=record.size, progress=progress)
            _verify(record, path, part, look)
        except DownloadError as error:
            failures.append(f"{url}: {error}")
            continue
        is_known = _wanted_sha256(record, path) is not None
        if not is_known and not pin:
            unproven.mark(path)  # before it takes its place: it must not be believed if we end here
        os.replace(part, path)
        sync_folder(path.parent)
        if not is_known:
            _keep(path, pin)
        return
    raise DownloadError(
        f"weights {record.name!r}: no address gave the file\n  " + "\n  ".join(failures),
        expected=_wanted(record),
        hint=f"put it at {path} yourself, or try again later",
    )


def _verify(record: Weights, path: pathlib.Path, part: pathlib.Path, look: Look) -> None:
    want = _wanted_sha256(record, path)
    if want is None and _has_wrong_digits(record, part):
        part.unlink(missing_ok=True)
        raise DownloadError(
            f"{record.name}: the hash does not match the digits in the file name; the file was removed",
            expected=f"a hash that begins with {name_digits(record.file_name)}",
            hint="the publisher has changed it in place; look for its new name",
        )
    if want is None:
        _look_at(part, look)
        return
    have = sha256_of(part)
    if have != want:
        part.unlink(missing_ok=True)
        pinned = None if record.sha256 else f"if the publisher says that it changed, remove {_pin_path(path)}"
        raise DownloadError("the file has the wrong sha256 and was removed", expected=want, got=have, hint=pinned)


def _look_at(part: pathlib.Path, look: Look) -> None:
    try:
        look(part)
    except CvzooError as error:
        part.unlink(missing_ok=True)
        raise DownloadError(f"what came is another file, and was removed: {error}") from error
