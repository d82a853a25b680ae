"""Finding and loading libcudnn 9, whose graph interface is called by ctypes."""

import ctypes
import dataclasses
import functools
import os
import pathlib
import sys
import sysconfig
from typing import Any

from cvzoo.errors.exceptions import BackendError

_FILE = "libcudnn.so.9"
_OLDEST = 90800  # the first that plans for a device by its properties
# looked up by libcudnn itself while it loads or plans; 9.28 aborts the process if the first is not to be found
_NEEDED = ("libcublasLt.so", "libnvrtc.so")
_FOLDERS = ("cu13/lib", "cu12/lib", "cublas/lib", "cuda_nvrtc/lib")
_HINT = "pip install nvidia-cudnn-cu13, or nvidia-cudnn-cu12 for CUDA 12"
# what each function takes: p pointer, i int, q int64, z size_t
FUNCTIONS = {
    "cudnnCreate": "p",
    "cudnnDestroy": "p",
    "cudnnSetStream": "pp",
    "cudnnGetLastErrorString": "pz",
    "cudnnBackendCreateDescriptor": "ip",
    "cudnnBackendDestroyDescriptor": "p",
    "cudnnBackendFinalize": "p",
    "cudnnBackendExecute": "ppp",
    "cudnnBackendSetAttribute": "piiqp",
    "cudnnBackendGetAttribute": "piiqpp",
}
TYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int, "q": ctypes.c_int64, "z": ctypes.c_size_t}


@dataclasses.dataclass(frozen=True)
class Library:
    """The loaded library.

    calls: its functions; version: 91900 for 9.19.0; path: its file, as far as known
    """

    calls: Any
    version: int
    path: str


class CudnnError(BackendError):
    """cuDNN refused a call."""


def _wheel_folders() -> list[pathlib.Path]:
    """Folders that wheels of NVIDIA's libraries are unpacked below."""
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path]
    folders = (pathlib.Path(place or ".") / "nvidia" for place in dict.fromkeys(places))
    return [folder for folder in folders if folder.is_dir()]


def _candidates() -> list[str]:
    chosen = os.environ.get("CVZOO_CUDNN")
    if chosen:
        return [chosen]
    files = [folder / "cudnn" / "lib" / _FILE for folder in _wheel_folders()]
    return [*(str(path) for path in files if path.is_file()), _FILE]


def _load_needed() -> None:
    """Load the libraries that libcudnn opens by name alone; those without a wheel may be on the loader's path."""
    for folder in _wheel_folders():
        for below in _FOLDERS:
            for name in _NEEDED:
                for path in sorted((folder / below).glob(f"{name}.[0-9]*")):
                    try:
                        ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
                    except OSError:
                        continue  # of another version of CUDA: libcudnn reports which it misses


def _load(path: str) -> Library:
    try:
        calls = ctypes.CDLL(path)
    except OSError as error:
        raise BackendError(f"{path} cannot be loaded: {error}", hint=_HINT) from error
    try:
        calls.cudnnGetVersion.restype = ctypes.c_size_t
        version = calls.cudnnGetVersion()
        for name, letters in FUNCTIONS.items():
            getattr(calls, name).argtypes = [TYPES[letter] for letter in letters]
    except AttributeError:
        raise BackendError(f"{path} is not cuDNN 9", hint=_HINT) from None
    if version < _OLDEST or version // 10000 != 9:
        raise BackendError(f"{path} is another cuDNN", expected="9.8 or later of version 9", got=version, hint=_HINT)
    return Library(calls, version, path)


@functools.cache
def _search() -> Library | BackendError:
    if not sys.platform.startswith("linux"):
        return BackendError(f"cuDNN is looked for on Linux only, this is {sys.platform}")
    _load_needed()
    reasons = []
    for path in _candidates():
        try:
            return _load(path)
        except BackendError as error:
            reasons.append(error)
    return reasons[0]


def library() -> Library:
    """The loaded library. Raises BackendError with the reason if it cannot be loaded."""
    result = _search()
    if isinstance(result, BackendError):
        raise BackendError(str(result))
    return result


def why_no_cudnn() -> str | None:
    """Why libcudnn cannot be loaded here, or None if it is loaded."""
    result = _search()
    return str(result).replace("\n", " ") if isinstance(result, BackendError) else None


def check(status: int) -> None:
    """Raise CudnnError with cuDNN's own words if a call's status is not 0."""
    if status:
        text = ctypes.create_string_buffer(4096)
        library().calls.cudnnGetLastErrorString(ctypes.addressof(text), len(text))
        raise CudnnError(f"cuDNN status {status}: {text.value.decode(errors='replace').strip()[:600]}")
