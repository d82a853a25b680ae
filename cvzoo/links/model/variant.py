"""Constructors of published variants of a network."""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Parameters = ParamSpec("Parameters")
Model = TypeVar("Model")
Model_co = TypeVar("Model_co", covariant=True)


class ClassifierConstructor(Protocol[Model_co]):
    """The type of the result of `classifier_variant`."""

    def __call__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
    ) -> Model_co:
        """The network; arguments as in its class."""
        ...


def classifier_variant(name: str, make: Callable[..., Model], doc: str) -> ClassifierConstructor[Model]:
    """A function that builds a classifier from n_class, pretrained_model and label_names.

    name: of the function, in the calling module
    make: the classifier's class, with the arguments of the variant bound by `functools.partial`
    doc: begin of the function's docstring, before the arguments
    """

    def construct(
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
    ) -> Model:
        return make(n_class, pretrained_model, label_names=label_names)

    built = getattr(make, "func", make)
    signature = inspect.signature(construct).replace(return_annotation=built)
    return _named(construct, name, doc, signature)


def variant(
    name: str, template: Callable[Concatenate[Any, Parameters], Model], first: Any, doc: str
) -> Callable[Parameters, Model]:
    """The function or class `template` with a value for its first argument.

    name: of the function, in the calling module
    doc: begin of the function's docstring, before the arguments
    """

    whole = inspect.signature(template)
    made = template if isinstance(template, type) else whole.return_annotation
    signature = whole.replace(parameters=list(whole.parameters.values())[1:], return_annotation=made)

    def construct(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Model:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:  # Python's own error names the template, which the user did not call
            raise TypeError(f"{name}() got wrong arguments: {error}") from None
        return template(first, *args, **kwargs)

    return _named(construct, name, doc, signature)


def _named(function: Any, name: str, doc: str, signature: inspect.Signature) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__module__ = sys._getframe(2).f_globals["__name__"]  # for pickle, as in collections.namedtuple
    function.__doc__ = f"{doc}; arguments as there."
    function.__signature__ = signature
    return function
