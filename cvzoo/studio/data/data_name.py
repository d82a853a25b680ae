"""The name of a training's or an evaluation's data, for people."""

import re

from sqlalchemy import Engine

from cvzoo.studio.database.names_of import names_of

_VERSION = re.compile(r"/versions/(ve_[a-z2-7]{16})(?:$|/)")


def data_name(engine: Engine, spec: str) -> str:
    """The name of the version that a specification or a path is of, and what follows it; the text itself of others."""
    found = _VERSION.search(spec)
    name = None if found is None else names_of(engine, [found[1]]).get(found[1])
    if found is None or name is None:
        return spec
    rest = spec[found.end() :]
    return f"{name}, {rest}" if rest else name
