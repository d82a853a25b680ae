"""Thread-local configuration: `cvzoo.config.train`, changed by `with cvzoo.using_config(...)`."""

import sys
import types

from cvzoo.config.batch_context import batch_generator, example_epoch
from cvzoo.config.randomness import (
    get_random_state,
    random_generator,
    set_random_state,
    set_seed,
    using_random_state,
)
from cvzoo.config.switches import force_backprop_mode, no_backprop_mode, switches, using_config
from cvzoo.errors.exceptions import ConfigError

__all__ = [
    "batch_generator",
    "example_epoch",
    "force_backprop_mode",
    "get_random_state",
    "no_backprop_mode",
    "random_generator",
    "set_random_state",
    "set_seed",
    "using_config",
    "using_random_state",
]


class _ConfigModule(types.ModuleType):
    """`cvzoo.config.train` reads the thread's value; assignment is refused, since nothing would restore it."""

    def __getattr__(self, name: str) -> object:
        try:
            return switches.__dict__[name]
        except KeyError:
            raise AttributeError(f"cvzoo.config has no switch {name!r}; it has {sorted(switches.__dict__)}") from None

    def __setattr__(self, name: str, value: object) -> None:
        if name in switches.__dict__:
            raise ConfigError(
                f"cvzoo.config.{name} cannot be assigned",
                hint=f"with cvzoo.using_config({name!r}, {value!r}): ...",
            )
        if not name.startswith("_") and name not in self.__dict__ and not isinstance(value, types.ModuleType):
            raise ConfigError(
                f"cvzoo.config has no switch {name!r}, and none can be added",
                expected=", ".join(sorted(switches.__dict__)),
            )
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _ConfigModule
