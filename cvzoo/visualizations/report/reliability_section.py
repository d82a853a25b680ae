"""The section of a report with the reliability diagram."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.visualizations.report.page import score, table
from cvzoo.visualizations.svg.line_plot import Line, line_plot


def reliability_section(reliability: Mapping[str, Any] | None, *, counted: str, right: str) -> str:
    """HTML of the reliability diagram; empty without predictions.

    reliability: ece and bins, from `reliability_record`, or None
    counted: what is scored ("detections"); right: the criterion of a correct one, plain text
    """
    bins = [each for each in reliability["bins"] if each["count"]] if reliability else []
    if not reliability or not bins:
        return ""
    line = Line(np.array([each["confidence"] for each in bins]), np.array([each["precision"] for each in bins]))
    diagonal = Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), is_guide=True)
    plot = line_plot(
        [diagonal, line], title=f"accuracy of {counted} by score", x_label="score", y_label="right", size=(300, 340)
    )
    rows = [
        (f"{each['low']:.2f} – {each['high']:.2f}", each["count"], score(each["confidence"]), score(each["precision"]))
        for each in bins
    ]
    text = f"<p>Expected calibration error: {score(reliability['ece'], 4)}. On the dashed line a score is the share of "
    text += f"{counted} of this score that are {right}.</p>"
    return f'{text}<div class="grid">{plot}{table(("scores", counted, "mean score", "right"), rows)}</div>'
