"""Image preprocessing as frozen, serializable descriptions."""
