"""Selectors of parameters, for example of those without weight decay."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.optimizers.gradient_hook import Selector


def is_vector(path: str, param: Parameter) -> bool:
    """Whether the parameter has at most one axis, as biases and normalizations' factors: the usual no-decay group.

    A selector for `WeightDecay(1e-4, exempt=is_vector)`, `AdamW(exempt=is_vector)` and their like.
    """
    return param.ndim <= 1


def named(*names: str) -> Selector:
    """A selector of parameters under these names: the last of the path ("b") or its beginning ("/extractor")."""

    def selector(path: str, param: Parameter) -> bool:
        return any(
            path == name or path.startswith(name.rstrip("/") + "/")
            if name.startswith("/")
            else path.endswith("/" + name)
            for name in names
        )

    return selector
