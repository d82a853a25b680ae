"""A process that gives up rights for itself and its children: Linux's Landlock, by its system calls.

Source: Linux, Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on all architectures
_VERSION = 1  # a flag of _CREATE
_BENEATH = 1  # the rule of a path
_NO_NEW_PRIVS = 38
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


def restrict(*, readable: Iterable[str] | None, writable: Iterable[str], network: bool) -> str:
    """Gives up all other rights, for ever; returns what keeps them, in words.

    readable: files and folders that may be read; None: all
    writable: files and folders that may be read and changed
    network: whether TCP may be used
    Raises OSError if the kernel has Landlock, and refuses. Paths that do not exist are left out.
    """
    version = landlock_version()
    if not version:
        return "none: the kernel has no Landlock"
    all_rights = _READING | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE
    all_rights |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    all_rights |= _IOCTL_DEV if version >= 5 else 0
    handled = all_rights & ~(_READING if readable is None else 0)
    tcp = _TCP if version >= 4 and not network else 0
    scopes = _SCOPES if version >= 6 and not network else 0
    parts = [handled, tcp, scopes][: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"={len(parts)}Q", *parts)
    ruleset = _checked(_syscall(_CREATE, attributes, len(attributes), 0))
    try:
        for path in readable or ():
            _allow(ruleset, path, _READING & handled)
        for path in writable:
            _allow(ruleset, path, handled)
        libc = ctypes.CDLL(None, use_errno=True)
        _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_syscall(_RESTRICT, ruleset, 0))
    finally:
        os.close(ruleset)
    return f"Landlock, version {version}"


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
