"""Imports OpenCV where it is used, since it is an optional dependency."""

from types import ModuleType

from cvzoo.errors.exceptions import MissingExtraError


def import_cv2() -> ModuleType:
    """The module cv2. Raises MissingExtraError if it is not installed."""
    try:
        import cv2
    except ImportError as error:
        raise MissingExtraError("OpenCV is not installed", hint='pip install "cvzoo[cv2]"') from error
    return cv2
