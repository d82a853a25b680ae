"""A process that gives up rights for itself and its children: Linux's Landlock, by its system calls.

Source: Linux, Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on all architectures
_VERSION = 1  # a flag of _CREATE
_BENEATH = 1  # the rule of a path
_NO_NEW_PRIVS, _DROP = 38, 24
_CAPABILITIES = 0x20080522  # the version of their system calls
_KEPT = 0b1111  # of the superuser's capabilities those about files, which the rules limit
_O_PATH = 0o10000000

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))  # files and folders of all kinds
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract sockets and signals of other domains


def landlock_version() -> int:
    """The version of the kernel's Landlock, 0 if it has none or it is switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(_syscall(_CREATE, None, 0, _VERSION), 0)


def restrict(
    *, readable: Iterable[str] | None, writable: Iterable[str], network: bool, hidden: Iterable[str] = ()
) -> str:
    """Gives up all other rights, for ever; returns what keeps them, in words.

    readable: files and folders that may be read; None: all but `hidden`, whose names can be listed
    writable: files and folders that may be read and changed
    network: whether TCP may be used
    Processes outside can be neither signalled nor traced, nor met at abstract sockets. The superuser's capabilities are
    given up without Landlock, too, as are those of programs that would have more rights than their caller.
    Raises OSError if the kernel has Landlock, and refuses. Paths that do not exist are left out.
    """
    if sys.platform.startswith("linux"):
        _drop_capabilities()
    version = landlock_version()
    if not version:
        return "none: the kernel has no Landlock"
    all_rights = _READING | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE
    all_rights |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    all_rights |= _IOCTL_DEV if version >= 5 else 0
    secrets = [os.path.realpath(each) for each in hidden if os.path.exists(each)] if readable is None else []
    unhandled = 0 if readable is not None else _READ_DIR if secrets else _READING
    handled = all_rights & ~unhandled
    tcp = _TCP if version >= 4 and not network else 0
    parts = [handled, tcp, _SCOPES][: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"={len(parts)}Q", *parts)
    ruleset = _checked(_syscall(_CREATE, attributes, len(attributes), 0))
    try:
        for path in readable if readable is not None else _around(secrets):
            _allow(ruleset, path, _READING & handled)
        for path in writable:
            _allow(ruleset, path, handled)
        _checked(_syscall(_RESTRICT, ruleset, 0))
    finally:
        os.close(ruleset)
    return f"Landlock, version {version}"


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    for number in range(64):
        if not _KEPT >> number & 1:
            libc.prctl(_DROP, number, 0, 0, 0)  # refused to who has none, and beyond the last one
    header = struct.pack("=Ii", _CAPABILITIES, 0)
    sets = ctypes.create_string_buffer(24)  # effective, permitted, inheritable: the lower halves, then the upper ones
    _checked(libc.capget(header, sets))
    lower = (each & _KEPT for each in struct.unpack("=6I", sets.raw)[:3])
    _checked(libc.capset(header, struct.pack("=6I", *lower, 0, 0, 0)))


def _around(secrets: list[str], folder: str = "/") -> Iterator[str]:
    """Files and folders that together are all below the folder but the secrets, as rules only allow."""
    if not secrets:
        return
    try:
        with os.scandir(folder) as scan:
            # a link could lead to a secret; what it leads to is listed where it is
            entries = [(each.path, each.is_dir()) for each in scan if not each.is_symlink()]
    except OSError:  # what the user cannot list, the user's process cannot read
        return
    for path, is_folder in entries:
        if path in secrets:
            continue
        within = [each for each in secrets if each.startswith(f"{path}/")]
        if within and is_folder:
            yield from _around(within, path)
        else:
            yield path


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = struct.pack("=Qi", rights if is_folder else rights & _OF_FILES, descriptor)
        _checked(_syscall(_ADD, ruleset, _BENEATH, rule, 0))
    finally:
        os.close(descriptor)


def _syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(number), *(_argument(each) for each in arguments)))


def _argument(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
