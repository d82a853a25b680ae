"""`chainercv` and all below it, as cvzoo's doors."""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types

from chainercv_suite.chainer_names import attr_names, parameterize, product, product_dict
from chainercv_suite.renamed_arguments import RENAMED

# what ChainerCV took over from chainer.testing
_TESTING = {
    "parameterize": parameterize,
    "product": product,
    "product_dict": product_dict,
    "run_module": lambda name, file: None,
}


class _Door(types.ModuleType):
    """A module of chainercv: its names are those of cvzoo's module at the same path, else of the one around it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = self.__name__.split(".")[1:]
        if path == ["utils", "testing"] and name in _TESTING:
            return _TESTING[name]
        if [*path, name] in (["utils"], ["utils", "testing"]):
            return importlib.import_module(f"{self.__name__}.{name}")
        value = getattr(_nearest(path), name)
        return RENAMED.get(name, value) if callable(value) else value


def _nearest(path):
    for n in range(len(path), -1, -1):
        try:
            return importlib.import_module(".".join(["cvzoo", *path[:n]]))
        except ModuleNotFoundError:
            continue
    raise AssertionError


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "chainercv":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return _Door(spec.name)

    def exec_module(self, module):
        if module.__name__ == "chainercv.utils.testing.attr":
            vars(module).update(attr_names())


def install():
    """Make `import chainercv` find it."""
    sys.meta_path.insert(0, _Finder())
