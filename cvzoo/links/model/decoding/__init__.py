"""Decoding of detector outputs: frozen descriptions, used on any device and in ONNX."""
