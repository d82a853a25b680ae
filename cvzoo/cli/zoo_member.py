"""A member of the zoo by the name that a user typed."""

import difflib

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.zoo_member import ZooMember


def zoo_member(name: str) -> ZooMember:
    """The member of that name. Raises ValueRangeError, with the names that are nearest, if there is none."""
    members = {member.name: member for member in zoo_members()}
    if name not in members:
        near = difflib.get_close_matches(name, members, n=3, cutoff=0.4)
        raise ValueRangeError(
            f"the zoo has no model {name!r}",
            expected=f"one of {len(members)} names that `cvzoo models` lists, or a file",
            hint=f"{' or '.join(near)}, if that is meant" if near else None,
        )
    return members[name]
