"""Functions as ONNX operators, a file a family."""
