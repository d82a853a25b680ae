"""A sequential chain that can return intermediate outputs."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.typing.aliases import Array


class PickableSequentialChain(Chain):
    """Sequential chain of callables in the order of their assignment in `with self.init_scope():`, with picked outputs.

    layer_names: of the callables, in order
    pick: the name of the layer whose output is returned, or a tuple of names for a tuple of outputs; None: the last
        layer's. Layers after the last picked one are not called
    Raises ValueRangeError if `pick` names no layer; AttributeError if a picked layer is deleted.

    Source: ChainerCV's chain of this name. The zoo's classifiers do not use it, see `AbstractClassifier.pick`.
    """

    layer_names: list[str]
    _pick: str | tuple[str, ...] | None

    def __new__(cls, *args: Any, **kwargs: Any) -> "PickableSequentialChain":
        self = super().__new__(cls)
        self.__dict__["layer_names"] = []
        self.__dict__["_pick"] = None
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self.within_init_scope and callable(value) and name not in self.layer_names:
            self.layer_names.append(name)

    def __delattr__(self, name: str) -> None:
        if name in self._picked():
            raise AttributeError(f"the layer {name!r} is picked: assign pick first", name=name, obj=self)
        super().__delattr__(name)
        if name in self.layer_names:
            self.layer_names.remove(name)

    @property
    def pick(self) -> str | tuple[str, ...] | None:
        """The name or names of the layers whose outputs a call returns; None: the last layer's."""
        return self._pick

    @pick.setter
    def pick(self, pick: str | Sequence[str] | None) -> None:
        chosen = pick if pick is None or isinstance(pick, str) else tuple(pick)
        for name in (chosen,) if isinstance(chosen, str) else chosen or ():
            if name not in self.layer_names:
                raise ValueRangeError(f"Invalid layer name ({name})", expected=", ".join(self.layer_names))
        self._pick = chosen

    def remove_unused(self) -> None:
        """Delete the layers after the last picked one."""
        if self._pick is not None:
            for name in self._called()[1]:
                delattr(self, name)

    def forward(self, x: Variable | Array) -> Any:
        """The picked layer's output, or a tuple of those picked."""
        called, _ = self._called()
        outputs, h = {}, x
        for name in called:
            h = getattr(self, name)(h)
            if name in self._picked():
                outputs[name] = h
        return tuple(outputs[name] for name in self._pick) if isinstance(self._pick, tuple) else h

    def _picked(self) -> tuple[str, ...]:
        return (self._pick,) if isinstance(self._pick, str) else self._pick or ()

    def _called(self) -> tuple[list[str], list[str]]:
        """The names of the layers that are called, and of those that are not."""
        if not self.layer_names:
            raise GraphError("PickableSequentialChain has no layers", hint="assign them inside `with init_scope():`")
        picked = self._picked()
        n = max((self.layer_names.index(name) for name in picked), default=len(self.layer_names) - 1) + 1
        return self.layer_names[:n], self.layer_names[n:]

    def __copy__(self) -> "PickableSequentialChain":
        twin = super().__copy__()
        twin.__dict__["layer_names"] = list(self.layer_names)
        return twin
