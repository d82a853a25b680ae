"""Downloads the archives of public data sets and unpacks them below CVZOO_HOME."""

import dataclasses
import hashlib
import pathlib

from cvzoo.datasets.extract import extract
from cvzoo.errors.exceptions import DatasetError, DownloadError
from cvzoo.files.file_lock import file_lock
from cvzoo.typing.aliases import FilePath
from cvzoo.weights.cache import cvzoo_home
from cvzoo.weights.download import fetch_to
from cvzoo.weights.record import Weights


@dataclasses.dataclass(frozen=True, kw_only=True)
class Archive:
    """One file of a published data set.

    url, mirrors: URLs of the same bytes
    sha256, md5, size: as published; None if unknown
    folder: the folder to unpack it in, relative to the data set's
    unpack: False for a file that is used as it is
    """

    url: str
    mirrors: tuple[str, ...] = ()
    sha256: str | None = None
    md5: str | None = None
    size: int | None = None
    folder: str = ""
    unpack: bool = True

    @property
    def file_name(self) -> str:
        return pathlib.PurePosixPath(self.url.split("?")[0]).name


def dataset_home(name: str) -> pathlib.Path:
    """The folder of the data set with this name: `datasets/<name>` below CVZOO_HOME. It need not exist."""
    return cvzoo_home() / "datasets" / name


def provide(
    data_dir: FilePath,
    name: str,
    *,
    needs: str,
    archives: tuple[Archive, ...],
    licence: str,
    page: str,
) -> pathlib.Path:
    """The data set's folder, which contains the path `needs`.

    data_dir: a folder of the user's, used as it is, or a folder at the beginning of `needs` in it; or "auto", the
        folder below CVZOO_HOME, to which the archives are downloaded if `needs` does not exist yet
    archives: empty if the license forbids redistribution
    page: the publisher's page for manual downloads
    Raises DatasetError if files are missing: it says where to get them and where to put them. DownloadError.
    """
    if not isinstance(data_dir, str) or data_dir != "auto":
        root = pathlib.Path(data_dir)
        for each in (root, *_above(root, needs)):
            if (each / needs).exists():
                return each
        raise DatasetError(
            f"{name}: {root / needs} does not exist",
            expected=f"the official layout below {root}",
            hint=f"files are at {page}" + ('; data_dir="auto" downloads them' if archives else ""),
        )
    root = dataset_home(name)
    if not archives:
        if (root / needs).exists():
            return root
        raise DatasetError(
            f"{name}: {root / needs} does not exist, and the license ({licence}) does not let cvzoo download it",
            hint=f"get the files at {page} and unpack them in {root}, or pass their folder as data_dir=",
        )
    try:
        root.mkdir(parents=True, exist_ok=True)
        # one download for all processes of a machine
        with file_lock(root / ".lock"):
            for archive in archives:
                if not _is_done(root, archive, needs):
                    _fetch(root, name, archive, licence, page)
    except DownloadError as error:
        raise DownloadError(
            str(error), hint=f"get the files at {page} and unpack them in {root}, or pass their folder as data_dir="
        ) from error
    if not (root / needs).exists():
        raise DatasetError(f"{name}: the archives do not contain {needs}", got=[archive.url for archive in archives])
    return root


def _above(folder: pathlib.Path, needs: str) -> list[pathlib.Path]:
    """The folders above a folder with the name of a part of the path `needs`, in which that path would begin."""
    parts, place = pathlib.PurePosixPath(needs).parts, folder.absolute()
    return [place.parents[i] for i in range(min(len(parts), len(place.parents))) if parts[i] == place.name]


def _stamp(root: pathlib.Path, archive: Archive) -> pathlib.Path:
    return root / f".{archive.file_name}.done"


def _is_done(root: pathlib.Path, archive: Archive, needs: str) -> bool:
    # files that the user put there have no stamp, and neither has an archive that is partly unpacked
    begun = root / f".{archive.file_name}.begun"
    return _stamp(root, archive).exists() or ((root / needs).exists() and not begun.exists())


def _fetch(root: pathlib.Path, name: str, archive: Archive, licence: str, page: str) -> None:
    begun = root / f".{archive.file_name}.begun"
    begun.touch()
    target = root / archive.folder
    target.mkdir(parents=True, exist_ok=True)
    record = Weights(
        name=f"data-set-{name}",
        url=archive.url,
        mirrors=archive.mirrors,
        sha256=archive.sha256,
        size=archive.size,
        licence=licence,
        data=name,
        data_licence=licence,
        source=page,
    )
    path = fetch_to(record, (root if archive.unpack else target) / archive.file_name)
    if archive.md5 is not None and (md5 := _md5_of(path)) != archive.md5:
        path.unlink()
        raise DownloadError(f"{archive.url}: the file has the wrong md5 and was removed", expected=archive.md5, got=md5)
    if archive.unpack:
        extract(path, target)
    # only now: an interrupted unpacking is repeated
    _stamp(root, archive).touch()
    begun.unlink()
    if archive.unpack:
        for left in (path, path.with_name(f".{path.name}.stamp")):
            left.unlink(missing_ok=True)


def _md5_of(path: pathlib.Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
