"""The page of a form, for who asks for the address that the form was sent to."""

from urllib.parse import quote

from fastapi import Request
from starlette.routing import Match


def page_of_form(request: Request) -> str | None:
    """The address of the page that a form belongs to, as reloading and bookmarks ask for the form's own address.

    It is the longest address above the one that is asked for that is a page; None if the request is not a browser's
    navigation, or not to a page.
    """
    path = str(request.scope["path"])
    is_navigation = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if not is_navigation or path.startswith("/api/"):
        return None
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        scope = {**request.scope, "path": path}
        if any(route.matches(scope)[0] == Match.FULL for route in request.app.router.routes):
            return quote(path)
    return None
