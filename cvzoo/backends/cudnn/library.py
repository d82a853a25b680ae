"""Finding and loading libcudnn 9, whose graph interface is called by ctypes."""

import ctypes
import dataclasses
import functools
import os
import pathlib
import sys
import sysconfig

from cvzoo.errors.exceptions import BackendError

_FILE = "libcudnn.so.9"
_OLDEST = 90800  # the first that makes plans for a device described by its properties
# loaded by libcudnn itself, by name; 9.28 aborts the process if it does not find the first
_NEEDED = ("libcublasLt.so", "libnvrtc.so")
_FOLDERS = ("cu13/lib", "cu12/lib", "cublas/lib", "cuda_nvrtc/lib")
_HINT = "pip install nvidia-cudnn-cu13, or nvidia-cudnn-cu12 for CUDA 12"
# types of arguments: p pointer, i int, q int64, z size_t
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

    calls: ctypes.CDLL
    version: int
    path: str


class CudnnError(BackendError):
    """A call of cuDNN failed."""


def _wheel_folders() -> list[pathlib.Path]:
    """The folders of NVIDIA's wheels."""
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
    """Load the libraries that libcudnn opens by name; without a wheel, the loader may find them."""
    for folder in _wheel_folders():
        for below in _FOLDERS:
            for name in _NEEDED:
                for path in sorted((folder / below).glob(f"{name}.[0-9]*")):
                    try:
                        ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
                    except OSError:
                        continue  # of another version of CUDA; libcudnn reports missing ones


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
        raise BackendError(
            f"{path} is an unsupported version of cuDNN", expected="9.8 or later of version 9", got=version, hint=_HINT
        )
    return Library(calls, version, path)


@functools.cache
def _search() -> Library | BackendError:
    if not sys.platform.startswith("linux"):
        return BackendError(f"cuDNN is supported on Linux only, this is {sys.platform}")
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
    """Raise CudnnError with cuDNN's message if a call's status is not 0."""
    if status:
        text = ctypes.create_string_buffer(4096)
        library().calls.cudnnGetLastErrorString(ctypes.addressof(text), len(text))
        raise CudnnError(f"cuDNN status {status}: {text.value.decode(errors='replace').strip()[:600]}")
