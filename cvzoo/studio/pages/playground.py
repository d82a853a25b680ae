"""The playground: a model's prediction of an image, with sliders."""

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Reader
from cvzoo.studio.models.found import ALIAS
from cvzoo.studio.pages.render import render
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()


@router.get("/try")
def try_page(request: Request, _: Reader, model: Annotated[str, Query(max_length=200)] = "") -> Response:
    """The page. model: the key of the model that is chosen at first, or "@" and an alias"""
    models = studio_of(request).models
    own = [each for each in models.own() if each.is_loadable]
    found = models.find(model) if model.startswith(ALIAS) else None
    values = {
        "own": own,
        "members": [each for each in models.zoo.members() if each["here"]],
        "chosen": model if found is None else found.key,
        "aliases": models.register.aliases(),
        "with_data": [each.key for each in own if each.run is not None and each.run.data],
    }
    return render(request, "try.html", values=values)
