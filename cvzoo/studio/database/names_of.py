"""The names of things by their identifiers, as pages show them; those that were deleted have theirs, too."""

from collections.abc import Collection

from sqlalchemy import Engine, case, select

from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import DATASET, JOB, MODEL, TOKEN, USER, VERSION

_DATASET_NAME = case((DATASET.c.trashed_at.is_(None), DATASET.c.name), else_=DATASET.c.trashed_name)
_QUERIES = {
    "us_": select(USER.c.id, USER.c.name),
    "tk_": select(TOKEN.c.id, TOKEN.c.name),
    "ds_": select(DATASET.c.id, _DATASET_NAME),
    "ve_": select(VERSION.c.id, _DATASET_NAME + ", " + VERSION.c.name).join(DATASET),
    "jb_": select(JOB.c.id, JOB.c.name),
    "md_": select(MODEL.c.id, MODEL.c.name),
}


def names_of(engine: Engine, ids: Collection[str]) -> dict[str, str]:
    """The names of those that are known: users, tokens, data sets, versions ("data set, version"), jobs and models."""
    found: dict[str, str] = {}
    with reading(engine) as connection:
        for prefix, query in _QUERIES.items():
            wanted = [each for each in ids if each.startswith(prefix)]
            if wanted:
                column = query.selected_columns[0]
                found |= {row[0]: row[1] for row in connection.execute(query.where(column.in_(wanted)))}
    return found
