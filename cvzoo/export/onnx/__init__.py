"""Models as ONNX files."""
