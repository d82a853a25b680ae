"""Builds the library of our own kernels: `python -m cvzoo.backends.native.build`, or setup.py, which runs this file.

It needs a C compiler (`$CC`, else `cc`) and Python's standard library. Each kernel is compiled for AVX-512, for AVX2,
and for any CPU; which one runs is decided when the library is loaded.
"""

import argparse
import hashlib
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence

FOLDER = pathlib.Path(__file__).parent
SOURCES = FOLDER / "source"
NAME = "libcvzoo_cpu.so"
_ONCE = "jobs.c"  # compiled for any CPU only
_OPTIMIZED = ("-O3", "-fno-math-errno", "-fno-trapping-math")
_FLAGS = (*_OPTIMIZED, "-std=gnu11", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-psabi")
_X86 = {"avx512": ("-march=x86-64-v4", "-mprefer-vector-width=512"), "avx2": ("-march=x86-64-v3",)}
_SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


def hash_of_sources() -> str:
    """The hash of the sources, 16 hexadecimal digits; a library built from other sources is not used."""
    text = b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in sorted(SOURCES.glob("*.[ch]")))
    return hashlib.sha256(text).hexdigest()[:16]


def why_not_built() -> str | None:
    """Why the library is not built here; None if it may be."""
    if os.environ.get("CVZOO_NATIVE") == "0":
        return "CVZOO_NATIVE is 0"
    if platform.system() != "Linux":
        return f"it is built on Linux only, this is {platform.system()}"
    return None


def _commands(compiler: Sequence[str], work: pathlib.Path, flags: Sequence[str]) -> list[list[str]]:
    builds = {"plain": (), **(_X86 if platform.machine() in ("x86_64", "AMD64") else {})}
    commands, objects = [], []
    for source in sorted(SOURCES.glob("*.c")):
        for name, machine in builds.items():
            if source.name == _ONCE:
                if name != "plain":
                    continue
                name, machine = "once", (f'-DSOURCES="{hash_of_sources()}"',)
            target = str(work / f"{source.stem}-{name}.o")
            defined = f"-DINSTRUCTIONS={name}"
            commands.append([*compiler, *_FLAGS, *flags, *machine, defined, "-c", str(source), "-o", target])
            objects.append(target)
    return [*commands, [*compiler, *flags, "-shared", *objects, "-o", str(work / NAME)]]


def build(folder: pathlib.Path = FOLDER, *, sanitized: bool = False) -> pathlib.Path:
    """The library's path, built into `folder`.

    sanitized: with AddressSanitizer and UndefinedBehaviorSanitizer
    Raises OSError if there is no compiler or it fails; the message ends with the compiler's output.
    """
    command_line = os.environ.get("CC", "").strip() or "cc"
    try:
        compiler = shlex.split(command_line)
    except ValueError as error:
        raise OSError(f"CC={command_line} is not a valid command: {error}") from error
    with tempfile.TemporaryDirectory(dir=folder) as work:  # on the result's file system, so that renaming is atomic
        for command in _commands(compiler, pathlib.Path(work), _SANITIZED if sanitized else ()):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise OSError(f"{shlex.join(command)} failed with exit status {done.returncode}\n{done.stderr.strip()}")
        return (pathlib.Path(work) / NAME).replace(folder / NAME)


def main() -> int:
    """0 if the library was built."""
    parser = argparse.ArgumentParser(
        prog="python -m cvzoo.backends.native.build", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--into", type=pathlib.Path, default=FOLDER, metavar="FOLDER", help="default: the package")
    parser.add_argument("--sanitized", action="store_true", help="with checks of every access to memory, and slow")
    args = parser.parse_args()
    reason = why_not_built()
    if reason is None:
        try:
            print(build(args.into, sanitized=args.sanitized))
            return 0
        except OSError as error:
            reason = str(error)
    print(f"not built: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
