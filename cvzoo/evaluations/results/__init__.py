"""Readers of detection and classification results of any program, in the common file formats."""
