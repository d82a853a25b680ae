"""Attributes that Chainer had under another name."""

from typing import Any, NoReturn

from cvzoo.errors.exceptions import ReplacedAttributeError


class ReplacedAttribute:
    """Stands in a class for an attribute of Chainer's: reading or assigning it raises ReplacedAttributeError, whose one
    line says what to use.

    use: what takes its place, as it is written
    """

    def __init__(self, use: str):
        self._use = use
        self._name = "it"

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> "ReplacedAttribute":
        if instance is None:  # who looks through the class does not use it
            return self
        self._refuse(owner)

    def __set__(self, instance: Any, value: Any) -> None:
        self._refuse(type(instance))

    def _refuse(self, owner: type) -> NoReturn:
        raise ReplacedAttributeError(f"{owner.__name__} has no {self._name}: use {self._use}")
