"""Where the command line's token is; apart from what asks servers, as the server imports this."""

import os
import pathlib

from cvzoo.files.home import cvzoo_home

TOKEN_FILE = "CVZOO_STUDIO_TOKEN_FILE"  # environment variable


def token_file() -> pathlib.Path:
    """The file of the token, which no job may read."""
    given = os.environ.get(TOKEN_FILE)
    return pathlib.Path(given).expanduser().absolute() if given else cvzoo_home() / "studio-token"
