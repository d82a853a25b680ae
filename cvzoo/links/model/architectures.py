"""The kinds of models that can be rebuilt from a file: the zoo's, and users' own classes."""

import dataclasses
import inspect
from typing import Any

from cvzoo.errors.exceptions import DtypeError, UnsupportedError
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.families import FAMILIES

_CONTRACT = (
    "config_class = a frozen dataclass, and __init__(self, config, *, label_names=None), which keeps it as `config`"
)


def architectures() -> tuple[Architecture, ...]:
    """The architectures of the zoo."""
    return tuple(architecture for family in FAMILIES for architecture in family.architectures)


def architecture_of(model_class: type[Chain]) -> Architecture:
    """The architecture of a class of models: one of the zoo, or a user's own.

    model_class: a class of the zoo; or a user's, with a frozen dataclass as `config_class`, whose constructor takes
        such a `config` and `label_names`, and whose models have both as attributes
    Raises DtypeError unless it is a class of models, UnsupportedError for a class without config or with the name of
    one of the zoo.
    """
    if not (isinstance(model_class, type) and issubclass(model_class, Chain)):
        raise DtypeError("an architecture is a class of models, a subclass of Chain", got=repr(model_class)[:80])
    known = architectures()
    for each in known:
        if each.model_class is model_class:
            return each
    name = model_class.__name__
    config_class = getattr(model_class, "config_class", None)
    if config_class is None:
        raise UnsupportedError(f"{name} does not define what its models are built from", expected=_CONTRACT)
    if not (isinstance(config_class, type) and dataclasses.is_dataclass(config_class) and _is_frozen(config_class)):
        raise UnsupportedError(f"{name}.config_class is no frozen dataclass", expected=_CONTRACT, got=config_class)
    takes = inspect.signature(model_class.__init__).parameters  # of the class, older Pythons give that of Link.__new__
    lacking = {"config", "label_names"} - takes.keys()
    if lacking:
        raise UnsupportedError(
            f"{name} takes no {sorted(lacking)[0]}", expected=_CONTRACT, got=f"{name}.__init__({', '.join(takes)})"
        )
    if name in {each.name for each in known}:
        raise UnsupportedError(f"{name} is the name of an architecture of the zoo", hint="call your class otherwise")
    return Architecture(name, model_class, config_class)


def _is_frozen(config_class: Any) -> bool:
    return config_class.__dataclass_params__.frozen
