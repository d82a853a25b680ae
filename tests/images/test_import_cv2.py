"""Whichever package OpenCV comes from is taken; an absent or broken one is told with what mends it."""

import sys
import types

import pytest

from cvzoo.errors import MissingExtraError
from cvzoo.images.import_cv2 import import_cv2


def test_the_module_is_opencv():
    assert import_cv2() is sys.modules["cv2"]


def test_absent_broken_and_gone_are_told_apart(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match="not installed") as caught:
        import_cv2()
    # pip has it on its list, as where opencv-python was uninstalled beside it and took the files along
    assert "pip install --force-reinstall --no-deps opencv-python-headless" in str(caught.value)
    monkeypatch.setattr(sys.modules["cvzoo.images.import_cv2"], "_is_listed", lambda: False)
    with pytest.raises(MissingExtraError, match="pip install opencv-python-headless"):
        import_cv2()
    monkeypatch.delitem(sys.modules, "cv2")
    (tmp_path / "cv2").mkdir()
    (tmp_path / "cv2" / "__init__.py").write_text("raise ImportError('libGL.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match=r"cannot be imported: libGL\.so\.1"):
        import_cv2()
    # what is left when one of two packages that share their files was uninstalled
    monkeypatch.setitem(sys.modules, "cv2", types.ModuleType("cv2"))
    sys.modules["cv2"].__file__ = None
    with pytest.raises(MissingExtraError, match="files are gone") as caught:
        import_cv2()
    assert "--force-reinstall" in str(caught.value)
