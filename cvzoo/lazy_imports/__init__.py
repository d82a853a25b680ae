"""Packages whose public names are imported when they are first used."""

from cvzoo.lazy_imports.on_demand import import_on_demand

__all__ = ["import_on_demand"]
