"""requests, imported when something is fetched."""

from typing import Any

from cvzoo.errors.exceptions import MissingExtraError


def import_requests() -> Any:
    """The module requests. Raises MissingExtraError if it is not installed."""
    try:
        import requests
    except ImportError as error:
        raise MissingExtraError("requests is not installed", hint="pip install requests") from error
    return requests
