"""Pictures of what a model found, drawn on arrays: no window, no display."""

from cvzoo.visualizations.colors import label_color
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_mask import draw_label_map, draw_mask
from cvzoo.visualizations.html import detection_html, detection_png, detection_table

__all__ = [
    "detection_html",
    "detection_png",
    "detection_table",
    "draw_bbox",
    "draw_label_map",
    "draw_mask",
    "label_color",
]
