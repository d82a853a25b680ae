"""Where a number that is none came from."""

from cvzoo.training.non_number.first_non_number import FirstNonNumber, NonNumberFound

__all__ = ["FirstNonNumber", "NonNumberFound"]
