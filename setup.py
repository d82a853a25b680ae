"""The library of our own kernels is built where there is a C compiler; everything else stands in pyproject.toml.

CVZOO_NATIVE=0 leaves it out: the wheel is then one for any system.
"""

import importlib.util
import pathlib
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).parent
FOLDER = pathlib.Path("cvzoo", "backends", "native")
_spec = importlib.util.spec_from_file_location("native_build", ROOT / FOLDER / "build.py")
native = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(native)  # by its path: the package's own imports need what is not installed yet


class BuildWithLibrary(build_py):
    """Puts the library beside the sources: into the wheel, or into the checkout where that is what is installed."""

    def run(self) -> None:
        super().run()
        folder = ROOT / FOLDER if self.editable_mode else pathlib.Path(self.build_lib, FOLDER)
        pathlib.Path(self.build_lib, FOLDER, native.NAME).unlink(missing_ok=True)  # of an earlier build
        reason = native.why_not_built()
        if reason is None:
            try:
                print(f"built {native.build(folder)}")
                return
            except OSError as error:
                reason = str(error)
        print(f"without its own kernels, which others stand in for: {reason}", file=sys.stderr)


class WheelOfLibrary(bdist_wheel):
    """Names the system only if the library is there; no version of Python, whose interface it does not use."""

    def get_tag(self) -> tuple[str, str, str]:
        if not pathlib.Path(self.bdist_dir, FOLDER, native.NAME).is_file():
            return super().get_tag()
        self.root_is_pure = False
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfLibrary})
