"""The software and hardware environment of a run."""

import importlib.metadata
import os
import pathlib
import platform

import PIL

from cvzoo.backends.facts import backend_facts, gpu_facts
from cvzoo.config.switches import switches

_LEFT_OUT = ("oneDNN library",)  # a local path, meaningless on other machines


def environment_facts() -> dict[str, str]:
    """Versions, CPU, threads and the environment variables that affect cvzoo, a short text by name."""
    try:
        version = importlib.metadata.version("cvzoo")
    except importlib.metadata.PackageNotFoundError:
        version = "runs from its source, not installed"
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith(("CVZOO_", "OMP_NUM"))}
    return {
        "cvzoo": version,
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}, {platform.libc_ver()[0]} {platform.libc_ver()[1]}",
        "processor name": _processor_name(),
        "Pillow": PIL.__version__,
        **{name: text for name, text in backend_facts().items() if name not in _LEFT_OUT},
        **({} if switches.dtype == "float32" else {"dtype": switches.dtype}),
        **({} if switches.device == "cpu" else {"device": switches.device, **gpu_facts()}),
        **{name: value for name, value in variables.items() if not _is_path(value)},
    }


def _processor_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()


def _is_path(value: str) -> bool:
    return os.sep in value
