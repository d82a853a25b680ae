"""MS COCO and what shares its files."""
