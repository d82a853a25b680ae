"""MS COCO and other data sets in its JSON format."""
