"""Restoring a backup into a folder that has no studio."""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import tarfile
import tempfile

from cvzoo.errors.exceptions import ConfigError, FileFormatError, UnsafeFileError
from cvzoo.files.atomic_write import sync_folder
from cvzoo.studio.backup import CONTENTS, DATABASE, Backup, read_backup
from cvzoo.studio.database.migrate import HEAD
from cvzoo.studio.place import Place

_FOLDERS = ("images", "versions", "models", "uploads", "runs")


def restore_backup(place: Place, path: pathlib.Path) -> Backup:
    """Unpacks a backup as the studio's folder, which must be empty or missing; after an error it is as before.

    Raises ConfigError if the folder is not empty, FileFormatError if the backup is damaged or of a newer version,
    UnsafeFileError if it names files outside of the folder, OSError if it cannot be read or written.
    """
    home = place.home
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise ConfigError(
            f"{home} is not empty: nothing is replaced", hint="--home DIR of another folder, or move this one away"
        )
    with open(path, "rb") as file:
        found = read_backup(file, path)
        if found.schema > HEAD:
            raise FileFormatError(
                f"{path} was made by a newer version of cvzoo",
                expected=f"schema {HEAD} or older",
                got=found.schema,
                hint="pip install --upgrade cvzoo",
            )
        home.parent.mkdir(parents=True, exist_ok=True)
        part = pathlib.Path(tempfile.mkdtemp(prefix=f".{home.name}.", suffix=".part", dir=home.parent))
        try:
            file.seek(0)
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for member in archive:
                    if member.name != CONTENTS:
                        _unpack(archive, member, part, path)
            _move(part / DATABASE, found.home, str(home))
            os.sync()
            os.rename(part, home)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    sync_folder(home.parent)
    place.make()
    return found


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: pathlib.Path, path: pathlib.Path) -> None:
    target = _target(member.name, folder, path)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if member.islnk():
        source = _target(member.linkname, folder, path)
        try:
            os.link(source, target)
        except OSError:  # a file system without hard links
            shutil.copyfile(source, target)
        return
    file = archive.extractfile(member)
    assert file is not None
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, member.mode & 0o700)
    with open(descriptor, "wb") as out:
        shutil.copyfileobj(file, out, 1 << 20)


def _target(name: str, folder: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    parts = pathlib.PurePosixPath(name).parts
    is_known = name == DATABASE or (len(parts) > 1 and parts[0] in _FOLDERS)
    if not is_known or ".." in parts or "\0" in name:
        raise UnsafeFileError(f"{path} names a file outside of the studio: {name[:80]!r}")
    return folder.joinpath(*parts)


def _move(database: pathlib.Path, old: str, new: str) -> None:
    """Versions of data sets name their folder, which another one is now."""
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        rows = connection.execute("SELECT id, data FROM version").fetchall()
        for version, data in rows:
            connection.execute(
                "UPDATE version SET data = ? WHERE id = ?", (data.replace(f":{old}/", f":{new}/"), version)
            )
