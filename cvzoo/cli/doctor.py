"""`cvzoo doctor`: shows the backends, libraries and devices of this installation."""

import argparse
import importlib.metadata
import math
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image, features

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import Device, get_device, gpu_count
from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.facts import backend_facts, gpu_facts
from cvzoo.backends.threads import why_too_busy
from cvzoo.cli.doctor_mpi import mpi_facts, mpi_results
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import CvzooError
from cvzoo.weights.cache import cvzoo_home

# Pillow's name of a feature -> the image format that it reads
_PHOTO_KINDS = {"jpg": "JPEG", "zlib": "PNG", "webp": "WebP", "libtiff": "TIFF", "jpg_2000": "JPEG2000", "avif": "AVIF"}
_TOLERANCE = 1e-5  # of float32 against float64


def run(args: argparse.Namespace) -> int:
    """Returns 0 if the kernels work, otherwise 1."""
    if args.json is not None:
        return _run_json(args.json, with_mpi=args.mpi)
    _print_facts("installation", installation_facts())
    _print_facts("environment", environment_facts() or {"CVZOO_*": "nothing is set"})
    try:
        _print_facts("kernels", backend_facts())
        _print_facts("graphics processors", gpu_facts())
        difference = max(probe(device) for device in _devices())
        if args.mpi:
            _print_facts("MPI", mpi_facts(mpi_results()))
    except CvzooError as error:
        print(f"\nnot well: {error}")
        return 1
    if not difference <= _TOLERANCE:
        print(f"\nnot well: a convolution is off by {difference:.1e} of its size")
        return 1
    busy = why_too_busy()
    proof = f"a convolution is right to {difference:.1e} of its size{', and an allreduce is right' * args.mpi}"
    print(f"\nall is well: {proof}" if busy is None else f"\nright, but slow at the moment: {proof}; {busy}")
    return 0


def _run_json(file: str, *, with_mpi: bool) -> int:
    """Writes the same facts as JSON, with the result of the test."""
    record: dict[str, Any] = {"installation": installation_facts(), "environment": environment_facts()}
    try:
        record |= {"kernels": backend_facts(), "graphics processors": gpu_facts()}
        difference = max(probe(device) for device in _devices())
        record |= {"is_right": difference <= _TOLERANCE, "greatest_difference": difference, "error": None}
        if with_mpi:
            record["MPI"] = mpi_results()
    except CvzooError as error:
        record |= {"is_right": False, "greatest_difference": None, "error": str(error)}
    if record["greatest_difference"] is not None and not math.isfinite(record["greatest_difference"]):
        record["greatest_difference"] = None  # JSON has no NaN or infinity
    if file == "-":
        print(as_json(record, indent=2).decode())
    else:
        write_json(record, file)
    return 0 if record["is_right"] else 1


def installation_facts() -> dict[str, str]:
    """Versions and paths, one short text for each name."""
    try:
        version = importlib.metadata.version("cvzoo")
    except importlib.metadata.PackageNotFoundError:
        version = "runs from its source, not installed"
    home = cvzoo_home()
    kinds = [name for key, name in _PHOTO_KINDS.items() if key in features.get_supported()]
    return {
        "cvzoo": version,
        "Python": f"{platform.python_version()}, {sys.executable}",
        "system": platform.platform(),
        "Pillow": f"{Image.__version__}, reads {', '.join(kinds)}",
        "cache": f"{home}{'' if home.is_dir() else ' (nothing fetched yet)'}",
    }


def environment_facts() -> dict[str, str]:
    """The environment variables that affect cvzoo."""
    names = sorted(name for name in os.environ if name.startswith(("CVZOO_", "OMP_", "GOMP_")))
    return {name: os.environ[name] for name in names}


def _devices() -> list[Device]:
    """The CPU and each usable GPU."""
    return [get_device("cpu"), *map(get_device, range(gpu_count()))]


def probe(device: Device) -> float:
    """The largest error of a small convolution on the device, relative to the largest value of NumPy's in float64.

    Raises BackendError if the chosen backend cannot run.
    """
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 16, 20, 20), dtype=np.float32)
    w = rng.standard_normal((32, 16, 3, 3), dtype=np.float32)
    window: dict[str, Any] = {"stride": (2, 2), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    with device:
        got = to_numpy(device.backend.conv_2d(device.asarray(x), device.asarray(w), None, **window))
    expected = get_backend("numpy").conv_2d(x.astype(np.float64), w.astype(np.float64), None, **window)
    return float(np.abs(got - expected).max() / np.abs(expected).max())


def _print_facts(title: str, facts: Mapping[str, str]) -> None:
    print(title)
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"  {name:<{width}}  {printable(value)}")
