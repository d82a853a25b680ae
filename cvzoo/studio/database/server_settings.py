"""Settings of the server that administrators change while it runs."""

import json
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import SETTING


def read_setting(engine: Engine, name: str) -> Any:
    """The value of a setting; None if it was never set."""
    with reading(engine) as connection:
        text = connection.execute(select(SETTING.c.value).where(SETTING.c.name == name)).scalar()
    return None if text is None else json.loads(text)


def write_setting(engine: Engine, name: str, value: Any) -> None:
    """Sets it; None: it is as if it was never set."""
    with writing(engine) as connection:
        connection.execute(delete(SETTING).where(SETTING.c.name == name))
        if value is not None:
            connection.execute(insert(SETTING).values(name=name, value=json.dumps(value)))
