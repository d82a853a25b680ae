"""Pascal VOC and what shares its layout."""
