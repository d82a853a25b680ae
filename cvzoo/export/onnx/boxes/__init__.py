"""Boxes from what detectors' heads say, as ONNX operators."""
