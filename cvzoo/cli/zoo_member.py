"""Looks up a model of the zoo by name."""

import difflib

from cvzoo import links
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.zoo_member import ZooMember


def zoo_member(name: str) -> ZooMember:
    """The model of that name. Raises ValueRangeError, with similar names, if there is none."""
    members = {member.name: member for member in links.zoo_members()}
    if name not in members:
        near = difflib.get_close_matches(name, members, n=3, cutoff=0.4)
        raise ValueRangeError(
            f"the zoo has no model {name!r}",
            expected=f"one of {len(members)} names that `cvzoo models` lists, or a file",
            hint=" or ".join(near) if near else None,
        )
    return members[name]
