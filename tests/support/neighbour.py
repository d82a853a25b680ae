"""Modules that `import` does not find, for tests are imported one by one, without packages."""

import importlib.util
import pathlib


def neighbour(file, name):
    """The module `name` in the folder of `file`, run anew."""
    return module_at(pathlib.Path(file).with_name(f"{name}.py"))


def module_at(path):
    """The module of a file, run anew."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
