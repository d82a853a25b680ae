"""Conversion of evaluators and functions to extensions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.training.evaluator_extension import EvaluatorExtension
from cvzoo.training.extension import AbstractExtension, FunctionExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

ExtensionLike: TypeAlias = AbstractExtension | AbstractEvaluator | Callable[["Trainer"], object]


def as_extension(extension: ExtensionLike) -> AbstractExtension:
    """The extension itself, or one made of an evaluator of `cvzoo.evaluations` or a function of the trainer.

    Raises ValueRangeError for any other input.
    """
    if isinstance(extension, AbstractExtension):
        return extension
    if isinstance(extension, AbstractEvaluator):
        return EvaluatorExtension(extension)
    if callable(extension):
        return FunctionExtension(extension)
    raise ValueRangeError(
        "a trainer is extended with an extension, an evaluator or a function", got=type(extension).__name__
    )
