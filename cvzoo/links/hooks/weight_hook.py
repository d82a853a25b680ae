"""Base class of hooks that replace a layer's weight while it computes."""

import abc
from typing import Any

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.links.link import Link
from cvzoo.links.link_hook import LinkCall, LinkHook


class AbstractWeightHook(LinkHook, abc.ABC):
    """Base class of hooks of one layer that replace its weight by a function of it while the layer computes.

    weight_name: the parameter's name
    name: of the hook, for `Link.delete_hook`
    Gradients flow through the function to the parameter. A layer with such a hook is not thread-safe.
    """

    is_replayed = True

    def __init__(self, weight_name: str, name: str | None):
        self.weight_name = weight_name
        if name is not None:
            self.name = name
        self._own: list[Parameter] = []  # of calls in progress

    def __enter__(self) -> Any:
        raise GraphError(f"{self.name} belongs to one layer, not to a block", hint="layer.add_hook(hook)")

    def added(self, link: Link | None) -> None:
        """Raises ValueRangeError if the layer has no such parameter."""
        if not isinstance(vars(link).get(self.weight_name), Parameter):
            raise ValueRangeError(f"{self.name}: {type(link).__name__} has no parameter {self.weight_name!r}")

    def forward_preprocess(self, args: LinkCall) -> None:
        """Replaces the parameter by the computed weight."""
        link, state = args.link, vars(args.link)
        if state.get("kernel") is not None:
            raise GraphError(
                f"{self.name}: a quantized layer computes with the weight that it was quantized with",
                hint="delete_hook before quantize",
            )
        own = state[self.weight_name]
        if not own.is_initialized:
            with using_config("train", False), no_backprop_mode():
                link.forward(*args.args, **args.kwargs)  # initializes the weight
        computed = self.weight(link, own)
        # layers read attributes of Parameter from their weights, so that the computed value has these as well
        shown = Parameter(name=own.name)
        shown._array, shown._node, shown._requires_grad = computed._array, computed._node, computed.requires_grad
        state[self.weight_name] = shown  # not by assignment, which counts as a change of the network
        self._own.append(own)

    def forward_postprocess(self, args: LinkCall) -> None:
        """Restores the parameter."""
        vars(args.link)[self.weight_name] = self._own.pop()

    @abc.abstractmethod
    def weight(self, link: Link, W: Parameter) -> Variable:
        """The weight that replaces W; composed of differentiable functions."""
