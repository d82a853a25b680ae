"""OpenCV, imported when it is used, whichever of its packages is installed."""

from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from cvzoo.errors.exceptions import MissingExtraError

_INSTALL = "pip install opencv-python-headless"
_REINSTALL = "pip install --force-reinstall --no-deps opencv-python-headless, or the opencv-python that you had"


def import_cv2() -> ModuleType:
    """The module cv2, of opencv-python-headless, opencv-python or opencv-contrib-python.

    Raises MissingExtraError if none is installed, or if the installation is broken: these packages share their files,
    and uninstalling one of two breaks the other.
    """
    try:
        import cv2
    except ModuleNotFoundError as error:
        # pip still lists a package whose files were removed with another one
        raise MissingExtraError("OpenCV is not installed", hint=_REINSTALL if _is_listed() else _INSTALL) from error
    except ImportError as error:  # opencv-python without libGL
        raise MissingExtraError(f"OpenCV cannot be imported: {error}", hint=_REINSTALL) from error
    if cv2.__file__ is None:  # an empty folder is a package to Python
        raise MissingExtraError("OpenCV's files are gone", hint=_REINSTALL)
    return cv2


def _is_listed() -> bool:
    """Whether pip lists opencv-python-headless as installed."""
    try:
        version("opencv-python-headless")
    except PackageNotFoundError:
        return False
    return True
