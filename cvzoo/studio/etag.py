"""Marks of what people wrote, by which a change that was made without having seen another one is refused."""

import hashlib
import json
from collections.abc import Mapping

from cvzoo.studio.problems import Problem


def etag_of(texts: Mapping[str, str]) -> str:
    """16 hexadecimal digits, which differ if any text does."""
    return hashlib.sha256(json.dumps(dict(texts), sort_keys=True).encode()).hexdigest()[:16]


def require_seen(seen: str, current: Mapping[str, str], given: Mapping[str, str]) -> None:
    """Raises Problem 412, whose `more` has "current", if a change was made from other texts than those that are stored.

    seen: the mark of the texts that the change was made from, perhaps in quotes; "": not looked at
    given: what is to be stored, which is no conflict if it is stored already, as after a form was sent twice
    """
    if not seen or seen.strip('"') == etag_of(current) or all(current[name] == text for name, text in given.items()):
        return
    problem = Problem(412, "another change came first", got=seen[:40], hint="join both, and save that")
    problem.more |= {"expected": etag_of(current), "current": dict(current)}
    raise problem
