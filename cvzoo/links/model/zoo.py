"""What is in the zoo: a list of real objects, for listings and for the command line."""

from cvzoo.links.model.families import FAMILIES
from cvzoo.links.model.zoo_member import ZooMember


def zoo_members() -> tuple[ZooMember, ...]:
    """All trained models, sorted by name; nothing is fetched."""
    members = [member for family in FAMILIES for member in family.members]
    return tuple(sorted(members, key=lambda member: member.name))
