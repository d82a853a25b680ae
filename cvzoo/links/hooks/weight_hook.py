"""Hooks that let a layer compute with another weight than its own."""

import abc
from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.links.link_hook import LinkCall, LinkHook


class AbstractWeightHook(LinkHook, abc.ABC):
    """A hook of one layer, whose weight is replaced while the layer computes by a function of it.

    weight_name: the parameter's name
    name: as `Link.delete_hook` knows it
    Gradients go through the function to the parameter. While it computes, the layer is not to be called by another
    thread.
    """

    is_replayed = True

    def __init__(self, weight_name: str, name: str | None):
        self.weight_name = weight_name
        if name is not None:
            self.name = name
        self._own: list[Parameter] = []  # of calls that are under way

    def __enter__(self) -> Any:
        raise GraphError(f"{self.name} belongs to one layer, not to a block", hint="layer.add_hook(hook)")

    def added(self, link: Any) -> None:
        """Raises ValueRangeError if the layer has no such parameter."""
        if not isinstance(vars(link).get(self.weight_name), Parameter):
            raise ValueRangeError(f"{self.name}: {type(link).__name__} has no parameter {self.weight_name!r}")

    def forward_preprocess(self, args: LinkCall) -> None:
        """Puts the computed weight in the parameter's place."""
        link, state = args.link, vars(args.link)
        if state.get("kernel") is not None:
            raise GraphError(
                f"{self.name}: a quantized layer computes with the weight that it was quantized with",
                hint="delete_hook before quantize",
            )
        own = state[self.weight_name]
        if not own.is_initialized:
            with using_config("train", False), no_backprop_mode():
                link.forward(*args.args, **args.kwargs)  # the layer learns its shape
        computed = self.weight(link, own)
        # layers ask their weights what Parameters know: this one has a value that was computed
        shown = Parameter(name=own.name)
        shown._array, shown._node, shown._requires_grad = computed._array, computed._node, computed.requires_grad
        state[self.weight_name] = shown  # not by assignment, which would say that the network changed
        self._own.append(own)

    def forward_postprocess(self, args: LinkCall) -> None:
        """Puts the parameter back."""
        vars(args.link)[self.weight_name] = self._own.pop()

    @abc.abstractmethod
    def weight(self, link: Any, W: Parameter) -> Variable:
        """What the layer computes with in place of W; made of differentiable functions."""
