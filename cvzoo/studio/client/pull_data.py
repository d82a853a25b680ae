"""What `cvzoo studio pull-data` does: copies a version of a data set from a running studio, and checks all hashes."""

import concurrent.futures
import fcntl
import hashlib
import os
import pathlib
import shutil
import urllib.parse
from typing import Any

from cvzoo.errors.exceptions import ConfigError, FileError
from cvzoo.files.atomic_write import atomic_write, sync_folder
from cvzoo.files.file_hash import sha256_of
from cvzoo.studio.client.server import Server

_N_CONNECTION = 8
_CHUNK = 1 << 20


def pull_data(server: Server, version: str, folder: pathlib.Path) -> str:
    """Copies a version into a new or empty folder; returns what `--data` names.

    The folder gets its name when all files are there with their hashes; until then they are beside it, in
    .NAME.part, where an interrupted copy continues. version: an identifier, or DATASET/NAME
    Raises ConfigError if the folder is not empty, another process writes it, or there is no such version; FileError for
    a file with another hash; OSError.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is no empty folder", hint="another DIR")
    found = found_version(server, version)
    listed = server.get(f"/versions/{found}/files")
    part = folder.with_name(f".{folder.name}.part")
    part.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"another process writes {folder}", hint="wait for it, or another DIR") from None
        names = {str(each["name"]) for each in listed["items"]}
        for name in names:
            check_name(name)
        _remove_others(part, names)  # of another version, of which a copy was interrupted
        with concurrent.futures.ThreadPoolExecutor(_N_CONNECTION) as pool:
            try:
                for _ in pool.map(lambda each: _pull(server, found, each, part), listed["items"]):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        if folder.exists():
            folder.rmdir()
        os.rename(part, folder)
        sync_folder(folder.parent)
    finally:
        os.close(descriptor)
    return f"{listed['kind']}:{folder}"


def found_version(server: Server, version: str) -> str:
    """The identifier of a version that is named by it, or by DATASET/NAME. Raises ConfigError."""
    if version.startswith("ve_") and "/" not in version:
        return version
    found = [
        str(each["id"])
        for dataset in server.get("/datasets")["items"]
        if version.startswith(f"{dataset['name']}/")
        for each in server.get(f"/datasets/{dataset['id']}/versions")["items"]
        if version == f"{dataset['name']}/{each['name']}" and each["state"] == "ready"
    ]
    if not found:
        raise ConfigError(f"there is no version {version}", expected="its identifier, or DATASET/NAME")
    if len(found) > 1:
        raise ConfigError(f"several versions are named {version}", expected="one of " + ", ".join(found))
    return found[0]


def check_name(name: str) -> None:
    """Raises ConfigError for a name of a file that would be outside of the folder it is copied into."""
    if name.startswith("/") or "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        plain = "".join(letter if letter.isprintable() else "?" for letter in name)
        raise ConfigError(f"the server names a file outside of the folder: {plain[:80]}")


def _pull(server: Server, version: str, each: dict[str, Any], folder: pathlib.Path) -> None:
    path = folder / each["name"]
    if path.is_file() and path.stat().st_size == each["size"] and sha256_of(path) == each["sha256"]:
        return  # of an interrupted copy
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with (
        server.opened("GET", f"/versions/{version}/files/{urllib.parse.quote(each['name'])}") as answer,
        atomic_write(path) as out,
    ):
        while block := answer.read(_CHUNK):
            digest.update(block)
            out.write(block)
        if digest.hexdigest() != each["sha256"]:
            raise FileError(
                f"{each['name']} has other bytes than the studio says",
                expected=f"SHA-256 {each['sha256']}",
                got=digest.hexdigest(),
                hint="pull it again; if it stays so, cvzoo studio verify on the server's machine",
            )


def _remove_others(folder: pathlib.Path, names: set[str]) -> None:
    for root, folders, files in os.walk(folder):
        for name in (*files, *(each for each in folders if os.path.islink(os.path.join(root, each)))):
            path = pathlib.Path(root, name)
            if path.relative_to(folder).as_posix() not in names or path.is_symlink():
                path.unlink()
    for root, folders, _ in os.walk(folder, topdown=False):
        for each in folders:
            path = pathlib.Path(root, each)
            if path.relative_to(folder).as_posix() in names:
                shutil.rmtree(path)
