"""File systems of other machines, on which SQLite's locks do not work and its log is not shared."""

import os
import pathlib

from cvzoo.errors.exceptions import ConfigError

_MOUNTS = pathlib.Path("/proc/self/mountinfo")
_TYPES = {
    *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "glusterfs", "lustre", "gpfs"),
    *("beegfs", "orangefs", "pvfs2", "davfs"),
}
_FUSE = {
    *("sshfs", "glusterfs", "davfs", "davfs2", "s3fs", "rclone", "gcsfuse", "ceph-fuse", "cephfs", "moosefs", "mfs"),
    *("juicefs", "smbnetfs"),
}


def require_local_disk(home: pathlib.Path, mounts: pathlib.Path = _MOUNTS) -> None:
    """Raises ConfigError if the folder, or where it will be made, is on a file system of another machine."""
    kind = file_system_of(home, mounts)
    name = kind.removeprefix("fuse.")
    if kind in _TYPES or (kind.startswith("fuse.") and name in _FUSE):
        raise ConfigError(
            f"{home} is on a network disk ({kind}): a database there is damaged sooner or later",
            expected="a local disk",
            got=kind,
            hint="--home DIR on a local disk; data sets and runs of --watch may be on a network disk",
        )


def file_system_of(path: pathlib.Path, mounts: pathlib.Path = _MOUNTS) -> str:
    """The type of the file system that the path is on, such as "ext4"; "" if the system does not say."""
    real = os.path.realpath(path)
    found, longest = "", -1
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    for line in lines:
        before, _, after = line.partition(" - ")
        words, kinds = before.split(), after.split()
        if len(words) < 5 or not kinds:
            continue
        place = _unescaped(words[4])
        is_above = real == place or real.startswith(place.rstrip("/") + "/")
        if is_above and len(place) >= longest:  # of two mounts in one place the later one is seen
            found, longest = kinds[0], len(place)
    return found


def _unescaped(text: str) -> str:
    for code, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, letter)
    return text
