"""Decoding of detector outputs: immutable descriptions, used on any device and in ONNX."""
