"""What a model found is shown on matplotlib's axes, of the caller or in a notebook's cell or a window."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from cvzoo.errors import ImageError, ValueRangeError
from cvzoo.geometry import RLEs
from cvzoo.links import Classifications, Detections, InstanceSegmentations, KeypointDetections, LabelMaps

IMG = np.full((3, 8, 10), 90, np.float32)
BBOXES, LABELS, SCORES = [np.array([[1, 2, 5, 6]], np.float32)], [np.array([1])], [np.array([0.5], np.float32)]
ABOUT = {"label_names": ["ant", "bee"], "sources": [IMG]}
MASK = np.zeros((1, 8, 10), bool)
MASK[0, :4] = True
POINTS = [np.ones((1, 2, 2), np.float32)]

RESULTS = [
    Detections(BBOXES, LABELS, SCORES, **ABOUT),
    InstanceSegmentations([RLEs.from_masks(MASK)], LABELS, SCORES, **ABOUT),
    KeypointDetections(POINTS, LABELS, SCORES, bboxes=BBOXES, point_scores=[np.zeros((1, 2))], **ABOUT),
    LabelMaps([np.ones((8, 10), np.int32)], **ABOUT),
    Classifications(np.array([[0.25, 0.75]], np.float32), **ABOUT),
]


def texts(ax):
    legend = ax.get_legend()
    found = [text.get_text() for text in ax.texts] + [ax.get_title()]
    return " ".join(found + ([] if legend is None else [text.get_text() for text in legend.get_texts()]))


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_the_results_of_every_task_show_themselves(result):
    ax = Figure().add_subplot()
    assert result.show(0, ax=ax) is ax
    np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()), IMG.transpose(1, 2, 0))
    assert "bee" in texts(ax)
    with pytest.raises(ValueRangeError, match="no such image"):
        result.show(1)
    result.sources[0] = None
    try:
        with pytest.raises(ImageError, match="img="):
            result.show()
        assert result.show(img=IMG + 1, ax=Figure().add_subplot()).images[0].get_array().max() == 91
    finally:
        result.sources[0] = IMG


def test_without_axes_pyplot_shows_a_figure_of_its_own_and_forgets_it():
    program = """if True:
        import numpy as np
        import matplotlib; matplotlib.use("agg")
        from matplotlib import pyplot
        from cvzoo.links import Classifications
        shown = []
        pyplot.show = lambda: shown.append(pyplot.get_fignums())
        img = np.zeros((3, 4, 5), np.float32)
        ax = Classifications(np.array([[1.0]]), label_names=["ant"], sources=[img]).show()
        assert ax.get_title() == "ant 1.000"
        assert shown == [[1]] and pyplot.get_fignums() == []
    """
    subprocess.run([sys.executable, "-c", program], check=True)
