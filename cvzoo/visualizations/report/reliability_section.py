"""The part of a report that says whether scores are probabilities."""

import numpy as np

from cvzoo.visualizations.report.page import score, table
from cvzoo.visualizations.svg.line_plot import Line, line_plot


def reliability_section(reliability, *, counted, right):
    """A piece of HTML; nothing without guesses.

    reliability: ece and bins, as `reliability_record` gives them, or None
    counted: what is scored ("detections"); right: when one is right, in words, plain text without markup
    """
    bins = [each for each in reliability["bins"] if each["count"]] if reliability else []
    if not bins:
        return ""
    line = Line(np.array([each["confidence"] for each in bins]), np.array([each["precision"] for each in bins]))
    diagonal = Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), is_guide=True)
    plot = line_plot(
        [diagonal, line], title=f"share of right {counted} by score", x_label="score", y_label="right", size=(300, 340)
    )
    rows = [
        (f"{each['low']:.2f} – {each['high']:.2f}", each["count"], score(each["confidence"]), score(each["precision"]))
        for each in bins
    ]
    text = f"<p>Expected calibration error: {score(reliability['ece'], 4)}. On the dashed line a score is the share of "
    text += f"{counted} of this score that are {right}.</p>"
    return f'{text}<div class="grid">{plot}{table(("scores", counted, "mean score", "right"), rows)}</div>'
