"""Roles: what a user may do; each may do all that the ones before it may."""

from typing import Literal, TypeAlias, get_args

# see everything and predict; edit data sets; start jobs; administer users and name folders of this machine
Role: TypeAlias = Literal["viewer", "annotator", "trainer", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)


def includes(role: Role, needed: Role) -> bool:
    """Whether who has the role may do what `needed` may."""
    return ROLES.index(role) >= ROLES.index(needed)


def as_role(text: str) -> Role | None:
    """The role of this name, or None."""
    return next((each for each in ROLES if each == text), None)
