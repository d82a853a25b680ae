"""Which models can be built again from what a file says: the zoo's, and classes of users' own."""

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
    """All kinds of models of the zoo that files can hold."""
    return tuple(architecture for family in FAMILIES for architecture in family.architectures)


def architecture_of(model_class: type[Chain]) -> Architecture:
    """The architecture that a class of models stands for: one of the zoo, or a user's own.

    model_class: an own one says in `config_class` which frozen dataclass its models are built of, takes one as `config`
        and `label_names` beside it, and keeps both as attributes of these names
    Raises DtypeError for what is no class of models, UnsupportedError for a class that says of no config or is called
    like one of the zoo.
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
        raise UnsupportedError(f"{name} does not say what its models are built of", expected=_CONTRACT)
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
