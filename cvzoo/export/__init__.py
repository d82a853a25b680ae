"""Models in the formats of other programs."""

from cvzoo.export.onnx.agreement import Agreement, compare_with_onnxruntime
from cvzoo.export.onnx.exported import Exported
from cvzoo.export.onnx.write import export_onnx

__all__ = ["Agreement", "compare_with_onnxruntime", "export_onnx", "Exported"]
