"""Pascal VOC and other data sets in its layout."""
