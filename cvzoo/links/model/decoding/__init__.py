"""What outputs of networks mean: frozen descriptions, from which boxes are decoded on any device and in ONNX."""
