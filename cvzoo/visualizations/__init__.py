"""Pictures of what a model found, drawn on arrays: no window, no display."""

from cvzoo.visualizations.colors import label_color
from cvzoo.visualizations.draw_bbox import draw_bbox

__all__ = ["draw_bbox", "label_color"]
