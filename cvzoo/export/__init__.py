"""Models in the formats of other programs."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.export.onnx.agreement import (
        Agreement,
        BoxAgreement,
        compare_boxes_with_onnxruntime,
        compare_with_onnxruntime,
        image_extent,
        photo_place,
    )
    from cvzoo.export.onnx.exported import Exported
    from cvzoo.export.onnx.write import export_onnx

__all__ = [
    "Agreement",
    "BoxAgreement",
    "compare_boxes_with_onnxruntime",
    "compare_with_onnxruntime",
    "export_onnx",
    "Exported",
    "image_extent",
    "photo_place",
]

import_on_demand(__name__)
