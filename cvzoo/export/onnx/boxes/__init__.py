"""Decoding and non-maximum suppression of detectors' raw outputs, as ONNX operators."""
