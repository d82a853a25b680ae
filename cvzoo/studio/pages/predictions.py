"""The page of the predictions of a job on many images."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Reader
from cvzoo.studio.api.predictions import FoundPredictions
from cvzoo.studio.data.classes import colors_of
from cvzoo.studio.evaluations.predicted import read_predictions
from cvzoo.studio.pages.render import render
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_PAGE, _N_CONFUSED = 60, 30  # images; classes of the confusion matrix


@router.get("/predictions/{job}")
def predictions_page(
    request: Request,
    found: FoundPredictions,
    _: Reader,
    label: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Images with what was predicted."""
    predictions = read_predictions(studio_of(request).place.run(found.id))
    rows = predictions.of_class(label)
    names, counts = predictions.confusion
    values = {
        "job": found,
        "rows": rows[after : after + _PAGE],
        "n": len(rows),
        "n_all": len(predictions.rows),
        "classes": predictions.classes,
        "label": label,
        "accuracy": predictions.accuracy,
        "n_labelled": len(predictions.labelled),
        "confusion": (names, counts) if 0 < len(names) <= _N_CONFUSED else None,
        "colors": colors_of([name for name, _ in predictions.classes], {}),
        "next": urlencode({"label": label, "after": after + _PAGE}) if after + _PAGE < len(rows) else "",
    }
    return render(request, "predictions.html", values=values)
