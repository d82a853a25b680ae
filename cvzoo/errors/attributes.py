"""Attributes that Chainer had under another name."""

from typing import Any, NoReturn

from cvzoo.errors.exceptions import ReplacedAttributeError


class ReplacedAttribute:
    """A renamed attribute of Chainer, a descriptor: access raises ReplacedAttributeError that names the replacement.

    use: the replacement, as code
    """

    def __init__(self, use: str):
        self._use = use
        self._name = "it"

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> "ReplacedAttribute":
        if instance is None:  # access through the class, as by `inspect` or `dir`, is no use of the attribute
            return self
        self._refuse(owner)

    def __set__(self, instance: Any, value: Any) -> None:
        self._refuse(type(instance))

    def _refuse(self, owner: type) -> NoReturn:
        raise ReplacedAttributeError(f"{owner.__name__} has no {self._name}: use {self._use}")
