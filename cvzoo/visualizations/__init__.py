"""Visualizations of predictions, on arrays or matplotlib's axes."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.visualizations.colors import label_color
    from cvzoo.visualizations.contact_sheet import contact_sheet
    from cvzoo.visualizations.draw_bbox import draw_bbox
    from cvzoo.visualizations.draw_mask import draw_label_map, draw_mask
    from cvzoo.visualizations.draw_point import draw_point
    from cvzoo.visualizations.draw_sample import describe_sample, draw_sample
    from cvzoo.visualizations.html import detection_html, detection_png, detection_table
    from cvzoo.visualizations.report.classification_report import (
        classification_report_html,
        write_classification_report,
    )
    from cvzoo.visualizations.report.detection_report import (
        ReportPicture,
        detection_report_html,
        write_detection_report,
    )
    from cvzoo.visualizations.report.segmentation_report import segmentation_report_html, write_segmentation_report
    from cvzoo.visualizations.svg.bar_plot import bar_plot
    from cvzoo.visualizations.svg.heat_map import heat_map
    from cvzoo.visualizations.svg.line_plot import Line, line_plot
    from cvzoo.visualizations.svg.photo_overlay import OverlayBox, photo_overlay
    from cvzoo.visualizations.tile_images import tile_images
    from cvzoo.visualizations.vis_bbox import vis_bbox
    from cvzoo.visualizations.vis_image import vis_image
    from cvzoo.visualizations.vis_instance_segmentation import vis_instance_segmentation
    from cvzoo.visualizations.vis_point import vis_point
    from cvzoo.visualizations.vis_semantic_segmentation import vis_semantic_segmentation
    from cvzoo.visualizations.voc_colormap import voc_colormap

__all__ = [
    "bar_plot",
    "classification_report_html",
    "contact_sheet",
    "describe_sample",
    "detection_html",
    "detection_png",
    "detection_report_html",
    "detection_table",
    "draw_bbox",
    "draw_label_map",
    "draw_mask",
    "draw_point",
    "draw_sample",
    "heat_map",
    "label_color",
    "Line",
    "line_plot",
    "OverlayBox",
    "photo_overlay",
    "ReportPicture",
    "segmentation_report_html",
    "tile_images",
    "vis_bbox",
    "vis_image",
    "vis_instance_segmentation",
    "vis_point",
    "vis_semantic_segmentation",
    "voc_colormap",
    "write_classification_report",
    "write_detection_report",
    "write_segmentation_report",
]

import_on_demand(__name__)
